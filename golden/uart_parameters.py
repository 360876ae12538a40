# SPDX-License-Identifier: Apache-2.0
"""The parameters of a serial port: how bits are timed, whatever the clock divides into."""

from dataclasses import dataclass

from .errors import InputError, check_types

__all__ = ["UartParameters"]

CLOCKS_PER_BIT = 4  # at least, so that a bit's middle is met within a quarter of it
PRECISION = 512  # a rate is met to one part in so many
PHASE_BITS = 32  # at most


@dataclass(frozen=True, kw_only=True)
class UartParameters:
    """A port of 8 data bits, no parity and 1 stop bit at ``baud`` bits a second.

    A phase grows by ``step`` each clock, and a bit is over whenever its ``phase_bits`` wrap: so the
    clock need be no multiple of the rate.

    Raises InputError, naming the parameter, where the clock is too slow or either is not positive.
    """

    clock_hz: int
    baud: int

    def __post_init__(self):
        check_types(self)
        if self.clock_hz < 1:
            raise InputError("clock_hz", self.clock_hz, "must be at least 1")
        least, most = self.clock_hz >> PHASE_BITS - 10, self.clock_hz // CLOCKS_PER_BIT
        if not max(1, least) <= self.baud <= most:
            raise InputError(
                "baud", self.baud, f"must be from {max(1, least)} to {most}, for this clock"
            )

    @property
    def phase_bits(self) -> int:
        """The fewest bits of phase that meet the rate closely enough."""
        return next(bits for bits in range(2, PHASE_BITS + 1) if self._close(bits))

    @property
    def step(self) -> int:
        """What the phase grows by each clock."""
        return self._step(self.phase_bits)

    @property
    def clocks_per_bit(self) -> float:
        """Clocks that a bit lasts."""
        return (1 << self.phase_bits) / self.step

    def _step(self, bits: int) -> int:
        return round((self.baud << bits) / self.clock_hz)

    def _close(self, bits: int) -> bool:
        wanted, met = self.baud << bits, self._step(bits) * self.clock_hz
        return abs(met - wanted) * PRECISION <= wanted
