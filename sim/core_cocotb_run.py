# SPDX-License-Identifier: Apache-2.0
"""A whole core's Verilog in a simulator, played to by cocotbext-axi and held to golden."""

import json
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from ropeway.golden.additive import AlibiGeometry
from ropeway.golden.core_parameters import BYPASS, CoreParameters, MemoryTable, RamTable
from ropeway.hdl.core_registers import WINDOW_WORDS, core_registers
from ropeway.hdl.core_top import CoreTop
from ropeway.hdl.registers import Access, Register

from .cocotb_run import CocotbBuild
from .core_bench import Mixture
from .core_script import CoreScript
from .core_words import table_beats, table_rows
from .score_script import ScoreScript
from .verilog import write_verilog

__all__ = ["CoreSimulation"]

MODULE = "ropeway.sim.core_cocotb"
TOP = "ropeway_core"
MEMORY_BASE = 0xFF8  # of a learned table: its rows lie across pages
SHOWN = ("LOAD", "LOAD_STATUS", "LOAD_WINDOW")
COUNTS = ("positions", "beats_in", "beats_out", "tokens")
NONE = np.zeros(0, np.int64)


class CoreSimulation:
    """The Verilog that is exported of a core, built once for a simulator, run as often as wanted.

    ``table`` [rows, width] is a learned table, in the memory that the parameters say; ``folder``
    takes what is built, ``name`` is "verilator" or "icarus", or None for the one there is.

    Raises what CocotbBuild and write_verilog do.
    """

    def __init__(
        self,
        p: CoreParameters,
        folder: Path,
        table: np.ndarray | None = None,
        *,
        name: str | None = None,
    ):
        self.parameters, self.registers = p, core_registers(p)
        self._folder = folder.resolve()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._data: dict[str, Any] = {}
        self._settings: list[tuple[int, int]] = []
        if table is not None:
            self._place(table)
        verilog = write_verilog(CoreTop(p), self._folder / f"{TOP}.v", TOP)
        self.build = CocotbBuild.of(verilog, TOP, self._folder / "build", name)

    def run(
        self,
        script: CoreScript | None = None,
        scores: ScoreScript | None = None,
        mixture: Mixture | None = None,
        *,
        alibi: AlibiGeometry | None = None,
        carried: bool = False,
        breaks: tuple[int, ...] = (),
    ) -> dict[str, int]:
        """A script of vectors and one of scores, side by side, from reset; what it counted.

        ``alibi`` is loaded for the scores; ``carried`` says that the script's positions ride on its
        packets. For each of ``breaks`` it is begun again, reset within the packet that has this
        beat or a later one, and played as a whole once more. Registers are read and written all the
        while. Counted are elements that were compared, loads, resets, clocks and accesses.

        Raises CocotbFailedError where anything is not as golden says.
        """
        mixture = mixture or Mixture()
        data, places = self._folder / "data.npz", self._folder / "counts.json"
        places.unlink(missing_ok=True)
        arrays: dict[str, Any] = self._streams(script, scores, alibi, carried=carried)
        np.savez(data, **self._data, **arrays)
        control = self.registers["CONTROL"]
        modes = control.encode(counting=1, **({"carried": 1} if carried else {}))
        plan = {
            "data": str(data),
            "counts": str(places),
            "idle": mixture.idle,
            "stall": mixture.stall,
            "bus": mixture.bus,
            "seed": mixture.seed,
            "breaks": breaks,
            "carried": carried,
            "elements": sum(some.elements for some in (script, scores) if some),
            "memory_base": MEMORY_BASE,
            "window_words": WINDOW_WORDS,
            "addresses": {shown: self.registers[shown].address() for shown in SHOWN},
            "settings": [(control.address(), modes), *self._settings],
            "finals": self._finals(script, scores, alibi),
        }
        self.build.run(MODULE, plan | self._meddled(), seed=mixture.seed + 1)
        return json.loads(places.read_text())

    def _place(self, table: np.ndarray):
        """A learned table where the core looks for it."""
        p = self.parameters
        if isinstance(p.table, MemoryTable):
            self._data["memory"], stride = table_rows(p, table, p.table.bus_bits)
            for name, value in (("TABLE_BASE_LOW", MEMORY_BASE), ("TABLE_STRIDE", stride)):
                self._settings.append((self.registers[name].address(), value))
        elif isinstance(p.table, RamTable):
            self._data["s_axis_table"] = table_beats(p, table)

    def _streams(
        self,
        script: CoreScript | None,
        scores: ScoreScript | None,
        alibi: AlibiGeometry | None,
        *,
        carried: bool,
    ) -> dict[str, np.ndarray]:
        """What every port carries, and the images."""
        loads = [(len(self.parameters.targets) - 1, 0, alibi.image())] if alibi else []
        streams, needs = {}, NONE
        if script:
            needs = script.needs + len(loads)
            loads += [
                (load.slot, wait, load.geometry.image())
                for load, wait in zip(script.loads, script.waits.tolist(), strict=True)
            ]
            streams = {"s_axis": script.beats, "m_axis": script.results}
            if not carried:
                streams["s_axis_position"] = script.positions
        if scores:
            streams |= {"s_axis_score": scores.beats, "s_axis_segment": scores.segments}
            streams["m_axis_score"] = scores.results
        targets, waits, images = zip(*loads, strict=True) if loads else ((), (), ())
        return streams | {
            "needs": needs,
            "targets": np.array(targets, np.int64),
            "waits": np.array(waits, np.int64),
            "images": np.concatenate([NONE, *images]),
            "image_ends": np.array(list(accumulate(map(len, images))), np.int64),
        }

    def _finals(
        self, script: CoreScript | None, scores: ScoreScript | None, alibi: AlibiGeometry | None
    ) -> list[tuple]:
        """Registers at the end of a run: name, address, bytes, the bits that are known, value."""
        found = []
        if script:
            ends = int(script.results[:, -2].sum())
            counts = (script.tokens, len(script.beats), len(script.results), ends)
            found += [self._count("VECTOR", *each) for each in zip(COUNTS, counts, strict=True)]
            found += self._targets(script)
        if scores:
            ends = int(scores.results[:, -2].sum())
            counts = (len(scores.segments), len(scores.beats), len(scores.results), ends)
            found += [self._count("SCORE", *each) for each in zip(COUNTS, counts, strict=True)]
        if alibi:
            found += self._target(len(self.parameters.targets) - 1, 1, alibi.fingerprint)
        return found

    def _count(self, group: str, name: str, value: int) -> tuple:
        register = self.registers[f"{group}_{name.upper()}"]
        return (register.name, register.address(), 8, (1 << 64) - 1, value)

    def _targets(self, script: CoreScript) -> list[tuple]:
        """What each slot holds, and whether there was what the core itself flags."""
        p, found = self.parameters, []
        for slot, kind in enumerate(p.slots):
            mine = [load for load in script.loads if load.slot == slot]
            if mine:
                found += self._target(slot, len(mine), mine[-1].geometry.fingerprint)
            elif kind != BYPASS:
                found += self._target(slot, 0, "0")
        size = p.beat_elements * p.element_bytes
        at = -(-size // 4)
        keep = script.beats[:, at : at + -(-size // 32)]
        slots = script.results[:, -1] & 0xFF
        flags = self.registers["CORE_FLAGS"]
        told = {
            "PARTIAL": int((keep != keep.max(axis=0)).any()),
            "UNKNOWN": int((slots == len(p.slots)).any()),
        }
        known = [field for field in flags.fields if field.name in told]  # as the core has them
        mask = sum(field.mask for field in known)
        value = sum(field.encode(told[field.name]) for field in known)
        return [*found, (flags.name, flags.address(), 4, mask, value)]

    def _target(self, number: int, epoch: int, fingerprint: str) -> list[tuple]:
        """A target with a geometry, that no token is on its way to."""
        status, digest = self.registers["TARGET_STATUS"], self.registers["FINGERPRINT"]
        known = ("LOADED", "BUSY", "EPOCH")
        mask = sum(status.field(name).mask for name in known)
        value = status.encode(loaded=int(epoch > 0), busy=0, epoch=epoch & 0xFF)
        return [
            (f"{status.name}[{number}]", status.address(number), 4, mask, value),
            (f"{digest.name}[{number}]", digest.address(number), 8, -1, int(fingerprint, 16)),
        ]

    def _meddled(self) -> dict[str, list[tuple]]:
        """Registers to access under traffic: those that never change, that keep, and that count."""

        def of(access: Access) -> list[Register]:
            alike = [r for r in self.registers if {f.access for f in r.fields} == {access}]
            return [r for r in alike if r.count == 1]

        kept = [
            (register.address(), sum(field.mask for field in register.fields))
            for register in of(Access.RW)
            if register.name.endswith("_ENABLE") or register.name in ("AUTO_BASE", "AUTO_COUNT")
        ]
        return {
            "constants": [(r.address(), 0xFFFFFFFF, r.reset) for r in of(Access.CONST)],
            "kept": kept,
            "counters": [(r.address(),) for r in of(Access.COUNTER)],
        }
