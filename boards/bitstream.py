# SPDX-License-Identifier: Apache-2.0
"""A board's configuration made into files: its bitstream, and the record of how it was made."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ropeway.hdl.hosted_core import HostedCore

from .build import SUFFIXES, Progress, build
from .catalogue import BOARDS
from .clocks import core_clock
from .configuration import Configuration
from .top import BoardTop

__all__ = ["BUILDS", "RECORD", "SEEDS", "Bitstream", "bitstream", "blocks", "check_blocks"]

BUILDS = Path(__file__).resolve().parent / "builds.json"
"""The committed builds: what each board's bitstream took and reached."""

RECORD = "build.json"
SEEDS = (1, 2, 3)
"""Tried one after the other, until one meets the clock."""
BLOCKS = ("DP16KD", "MULT", "ICESTORM_RAM", "ICESTORM_DSP", "BSRAM")  # as nextpnr's cells begin


@dataclass(frozen=True)
class Bitstream:
    """A board's bitstream, and the record of all that decided it."""

    content: bytes
    record: Mapping[str, Any]

    def files(self) -> dict[str, bytes]:
        """Both, by the names of their files."""
        text = json.dumps(self.record, indent=1) + "\n"
        return {self.record["bitstream"]: self.content, RECORD: text.encode()}


def bitstream(
    name: str,
    configuration: Configuration,
    folder: Path,
    *,
    seeds: Sequence[int],
    progress: Progress = lambda *_: None,
) -> Bitstream:
    """The bitstream of the board of that name.

    ``folder``, which is made, has the scratch files meanwhile, and an older bitstream no longer.
    Raises as ``build`` and ``check_blocks`` do.
    """
    board = BOARDS[name]
    platform = board.load()
    clock_hz = configuration.hosted.clock_hz
    clock = core_clock(platform, clock_hz)
    top = BoardTop(HostedCore(configuration.hosted), clock, board.leds)
    folder.mkdir(parents=True, exist_ok=True)
    for old in (RECORD, *(f"{name}{suffix}" for suffix in SUFFIXES)):
        (folder / old).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".build-") as scratch:
        built = build(platform, top, clock_hz, Path(scratch), seeds=seeds, progress=progress)
    record = {
        "board": name,
        "device": platform.device,
        "bitstream": f"{name}{built.suffix}",
        **configuration.as_dict(),
        **built.record,
    }
    check_blocks(record, json.loads(BUILDS.read_text()).get(name, {}))
    return Bitstream(built.content, record)


def blocks(record: Mapping[str, Any]) -> dict[str, int]:
    """The multipliers and block RAMs of a build."""
    used = record["utilisation"]
    return {name: used[name]["used"] for name in used if name.startswith(BLOCKS)}


def check_blocks(record: Mapping[str, Any], recorded: Mapping[str, Any]):
    """Raise RuntimeError where the very same design took other blocks when it was ``recorded``.

    So a tool that makes something else of a memory or a multiplier is noticed.
    """
    if recorded.get("design_sha256") == record["design_sha256"]:
        found, expected = blocks(record), recorded["blocks"]
        if found != expected:
            raise RuntimeError(f"synthesis made blocks {found}, not {expected} as recorded")
