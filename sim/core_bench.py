# SPDX-License-Identifier: Apache-2.0
"""Runs a whole core as a native model of its Verilog, and holds it against the golden model."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ropeway.golden.additive import AlibiGeometry
from ropeway.golden.core_parameters import CoreParameters, MemoryTable, RamTable
from ropeway.hdl.axi_rom import AxiRom
from ropeway.hdl.core import RopewayCore
from ropeway.hdl.core_registers import core_registers
from ropeway.hdl.core_with_rom import CoreWithRom
from ropeway.hdl.register_bus import Answer
from ropeway.hdl.registers import RegisterMap

from .core_script import CoreScript
from .core_words import table_beats, table_rows
from .native import NativeModel, NativeRun
from .score_script import ScoreScript

__all__ = ["CoreBench", "MismatchError", "Mixture", "Write", "load_writes"]

ALL_BYTES = 0xF
WAITING = 2  # writes that take longer than an idle unit takes to accept a load


class MismatchError(AssertionError):
    """The core gave something else than the golden model; the text says where first."""


@dataclass(frozen=True)
class Write:
    """A word for a register, not before so many results came out."""

    address: int
    word: int
    after: int = 0


@dataclass(frozen=True)
class Mixture:
    """How often each side pauses: inputs idle, outputs stall, the bus does either."""

    idle: float = 0.0
    stall: float = 0.0
    bus: float = 0.0
    seed: int = 0


def load_writes(
    registers: RegisterMap,
    target: int,
    image: np.ndarray,
    after: int = 0,
    meanwhile: Sequence[Write] = (),
) -> list[Write]:
    """The writes that load an image into a target.

    Until its first word is taken, no other is. That takes some clocks, in which something is
    written that changes nothing; ``meanwhile`` come besides, where the image before it is still to
    be digested.
    """
    begin, window, abort = (registers[n] for n in ("LOAD", "LOAD_WINDOW", "LOAD_ABORT"))
    head = Write(begin.address(), begin.encode(target=target, words=len(image)), after)
    words = [Write(window.address(n % window.count), word) for n, word in enumerate(image.tolist())]
    waiting = [Write(abort.address(), 0)] * WAITING
    return [head, words[0], *waiting, *meanwhile, *words[1:]]


class CoreBench:
    """A core compiled once, run from reset as often as wanted.

    ``table`` [rows, width] is a learned table, in the memory that the parameters say. Raises what
    NativeModel does.
    """

    def __init__(
        self, p: CoreParameters, table: np.ndarray | None = None, *, cache: Path | None = None
    ):
        self.parameters, self.registers = p, core_registers(p)
        self._table, self._settings = np.zeros((0, 0), "<u4"), []
        core = RopewayCore(p)
        rom = None
        if table is not None and isinstance(p.table, MemoryTable):
            rows, stride = table_rows(p, table, p.table.bus_bits)
            units = rows.reshape(-1, p.table.bus_bits // 8)
            words = [int.from_bytes(unit.tobytes(), "little") for unit in units]
            rom = AxiRom(p.table.address_bits, p.table.bus_bits, words)
            self._settings = [Write(self.registers["TABLE_STRIDE"].address(), stride)]
        elif table is not None and isinstance(p.table, RamTable):
            self._table = table_beats(p, table)
        self.model = NativeModel(CoreWithRom(core, rom) if rom else core, cache=cache)

    def run(
        self,
        script: CoreScript | None = None,
        scores: ScoreScript | None = None,
        mixture: Mixture | None = None,
        *,
        alibi: AlibiGeometry | None = None,
        writes: Sequence[Write] = (),
        carried: bool = False,
        limit: int | None = None,
    ) -> NativeRun:
        """A script of vectors and one of scores, side by side, from reset.

        ``writes`` come first; ``alibi`` is loaded for the scores; ``carried`` says that the
        script's positions ride on its packets. Raises MismatchError where something else comes out
        than the scripts say; with a ``limit`` of clocks only what came by then is compared.
        """
        self.model.reset()
        idle = self._modes(carried=carried)
        plan = [idle, *self._settings, *writes]
        if alibi:
            plan += load_writes(self.registers, len(self.parameters.targets) - 1, alibi.image())
        streams = _Streams()
        if script:
            self._offer(streams, script, plan, idle, carried=carried)
        if scores:
            streams.inputs |= {"s_axis_score": scores.beats, "s_axis_segment": scores.segments}
            streams.expect["m_axis_score"] = len(scores.results)
        streams.inputs["s_axi__aw"] = np.array([[w.address, 0] for w in plan], "<u4")
        streams.inputs["s_axi__w"] = np.array([[w.word, ALL_BYTES] for w in plan], "<u4")
        streams.expect["s_axi__b"] = len(plan)
        if script:
            streams.after["s_axi__aw"] = ("m_axis.last", np.array([w.after for w in plan]))

        run = self.model.run(
            streams.inputs,
            streams.expect,
            pause=self._pauses(mixture or Mixture()),
            after=streams.after,
            seed=mixture.seed if mixture else 0,
            limit=limit,
            timeout=20_000,
        )
        _compare(run, "s_axi__b", np.full((len(plan), 1), Answer.OKAY, "<u4"))
        if script:
            _compare(run, "m_axis", script.results)
        if scores:
            _compare(run, "m_axis_score", scores.results)
        return run

    def _modes(self, *, carried: bool) -> Write:
        """The write that sets modes, as far as the core has any."""
        if "CONTROL" not in self.registers:
            return Write(self.registers["CORE_ENABLE"].address(), 0)
        modes = {"counting": int(self.parameters.counters), "carried": int(carried)}
        register = self.registers["CONTROL"]
        return Write(register.address(), register.encode(**{n: v for n, v in modes.items() if v}))

    def read(self, name: str, number: int = 0) -> dict[str, int]:
        """A register's fields, read over the bus."""
        register = self.registers[name]
        words = [register.address(number) + 4 * half for half in range(register.width // 32)]
        items = np.array([[address, 0] for address in words], "<u4")
        answers = self.model.run({"s_axi__ar": items}, {"s_axi__r": len(words)}).items["s_axi__r"]
        if answers[:, 1].any():
            raise MismatchError(f"{name} answered {answers[:, 1].tolist()}")
        return register.decode(sum(int(w) << 32 * n for n, w in enumerate(answers[:, 0])))

    def _offer(
        self,
        streams: "_Streams",
        script: CoreScript,
        plan: list[Write],
        idle: Write,
        *,
        carried: bool,
    ):
        """Add the script's streams, and its loads to the plan; positions wait for these.

        ``idle`` changes nothing; one for each word of an image takes longer than its digest.
        """
        done, words = [len(plan)], 0
        for load, wait in zip(script.loads, script.waits.tolist(), strict=True):
            image = load.geometry.image()
            plan += load_writes(self.registers, load.slot, image, wait, [idle] * words)
            words = len(image)
            done.append(len(plan))
        needed = np.array(done)[script.needs]
        streams.inputs["s_axis"] = script.beats
        if carried:
            streams.after["s_axis"] = ("s_axi__b", needed[script.owners])
        else:
            streams.inputs["s_axis_position"] = script.positions
            streams.after["s_axis_position"] = ("s_axi__b", needed)
        if len(self._table):
            streams.inputs["s_axis_table"] = self._table
        streams.expect["m_axis"] = len(script.results)

    def _pauses(self, mixture: Mixture) -> dict[str, float]:
        pauses = {}
        for name, stream in self.model.streams.items():
            if name.startswith("s_axi__"):
                pauses[name] = mixture.bus
            else:
                pauses[name] = mixture.idle if stream.into else mixture.stall
        return pauses


@dataclass
class _Streams:
    """What a model's run takes."""

    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    expect: dict[str, int] = field(default_factory=dict)
    after: dict[str, tuple[str, np.ndarray]] = field(default_factory=dict)


def _compare(run: NativeRun, name: str, expected: np.ndarray):
    """Raise MismatchError where what came is not how ``expected`` begins."""
    found = run.items[name]
    wrong = (found != expected[: len(found)]).any(axis=1)
    if wrong.any():
        at = int(wrong.argmax())
        shown = (
            " ".join(f"{word:08x}" for word in found[at]),
            " ".join(f"{word:08x}" for word in expected[at]),
        )
        raise MismatchError(f"{name}: item {at} is {shown[0]}, not {shown[1]}")
