# SPDX-License-Identifier: Apache-2.0
"""What a board writes at power-on: its table, and the self-test that shows it turned by it."""

import numpy as np

from ropeway.golden.geometry import Geometry
from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.golden.self_test import expected_signature, token_beats
from ropeway.golden.table import PhaseTable
from ropeway.golden.table_files import geometry_of_image

from .core_registers import core_registers
from .host_registers import host_registers
from .registers import RegisterMap

__all__ = ["boot_writes"]

SLOT = 0


def boot_writes(p: HostedParameters) -> list[tuple[int, int]]:
    """The writes (byte address, word) that load ``p.image`` into slot 0 and test it; none without.

    Positions are on offer before the test begins. Raises InputError where the image is none that
    the core can serve.
    """
    if not p.image:
        return []
    core, host = core_registers(p.core), host_registers(p)
    held = _held(p)
    expected = expected_signature(p.core, held, p.self_test_tokens)
    window, wanted = core["LOAD_WINDOW"], host["SELF_TEST_EXPECTED"]
    return [
        _write(core, "LOAD", target=SLOT, words=len(p.image)),
        *((window.address(n % window.count), word) for n, word in enumerate(p.image)),
        *((wanted.address(lane), word) for lane, word in enumerate(expected)),
        _write(host, "SELF_TEST_TOKENS", value=p.self_test_tokens),
        _write(host, "SELF_TEST_BEATS", value=token_beats(p.core, held)),
        _write(core, "AUTO_COUNT", value=p.self_test_tokens),
        _write(core, "AUTO_CONTROL", start=1),
        _write(host, "SELF_TEST_CONTROL", start=1),
    ]


def _held(p: HostedParameters) -> Geometry | PhaseTable:
    """What the image holds, with the heads that it says."""
    words = np.array(p.image, dtype=np.uint32)
    return PhaseTable.from_image(words) if p.core.rope else geometry_of_image(words)


def _write(registers: RegisterMap, name: str, **fields: int) -> tuple[int, int]:
    return registers[name].address(), registers[name].encode(**fields)
