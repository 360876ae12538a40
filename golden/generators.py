# SPDX-License-Identifier: Apache-2.0
"""The forms that a generator of rows is built in, and the clocks that each takes a pair."""

from .errors import InputError

__all__ = ["GENERATORS", "PIPELINED", "SERIAL", "SHARED", "check_generator", "generator_interval"]

PIPELINED, SHARED, SERIAL = "pipelined", "shared", "serial"
GENERATORS = (PIPELINED, SHARED, SERIAL)
SERIAL_STAGE = 14  # clocks of the stages behind the phase, where nothing multiplies but adders


def check_generator(generator: str):
    """Raise InputError where there is no such form, naming those that there are."""
    if generator not in GENERATORS:
        raise InputError("generator", generator, f"must be one of {', '.join(GENERATORS)}")


def generator_interval(generator: str, position_bits: int) -> int:
    """Clocks a pair; of "serial" one for every two bits of a position, which may be negated."""
    if generator == SERIAL:
        return max(SERIAL_STAGE, (position_bits + 3) // 2 + 1)
    return 3 if generator == SHARED else 1
