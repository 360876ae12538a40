# SPDX-License-Identifier: Apache-2.0
"""What no state can change: which outputs depend on which inputs within a clock."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from amaranth.lib import wiring

from ropeway.golden.core_parameters import BUSES, CoreParameters
from ropeway.hdl.adder import Adder
from ropeway.hdl.alibi_starts import AlibiStarts
from ropeway.hdl.axi_lite import AxiLite
from ropeway.hdl.beat_queue import BeatQueue
from ropeway.hdl.beat_router import BeatRouter
from ropeway.hdl.core import RopewayCore
from ropeway.hdl.direct_path import DirectPath
from ropeway.hdl.drain import Drain
from ropeway.hdl.framer import Framer
from ropeway.hdl.heads import Heads
from ropeway.hdl.image_reader import ImageReader
from ropeway.hdl.intake import Intake
from ropeway.hdl.learned_memory import LearnedMemory
from ropeway.hdl.learned_ram import LearnedRam
from ropeway.hdl.learned_table import LearnedTable
from ropeway.hdl.load_port import LoadPort
from ropeway.hdl.phase_table import PhaseTable
from ropeway.hdl.position_counter import PositionCounter
from ropeway.hdl.position_gate import PositionGate
from ropeway.hdl.position_router import PositionRouter
from ropeway.hdl.position_source import PositionSource
from ropeway.hdl.query_rows import QueryRows
from ropeway.hdl.queue import Queue
from ropeway.hdl.ready_slice import ReadySlice
from ropeway.hdl.result_merger import ResultMerger
from ropeway.hdl.row_bursts import RowBursts
from ropeway.hdl.row_generator import RowGenerator
from ropeway.hdl.row_reader import RowReader
from ropeway.hdl.skid import Skid
from ropeway.hdl.stage import Stage
from ropeway.hdl.walker import Walker

from .framing import ADDER, ROPE
from .paths import combinational_inputs
from .proof import Bug, Structure
from .routers import CORE as ROUTED
from .rows import TEMPERED
from .units import ALIBI, CORE, UNITS, channels

__all__ = ["STRUCTURES"]

DIRECT = CoreParameters(rope=ROPE, bypass=False)
SMALL = replace(DIRECT, counters=False, carried=False, keep=False, runs=False)
ADDING = CoreParameters(sinusoidal=ADDER, bypass=False, carried=False)
STREAMING: list[Callable[[], wiring.Component]] = [
    partial(ReadySlice, 4),
    partial(Skid, 4),
    partial(Stage, 4),
    partial(BeatQueue, 4, 16),
    *(
        partial(Queue, 4, 16, full_rate=full, bypass=by)
        for full in (False, True)
        for by in (False, True)
    ),
    *(
        partial(make, ROPE)
        for make in (Framer, Intake, Drain, Walker, Heads, PhaseTable, RowGenerator)
    ),
    partial(DirectPath, DIRECT),
    partial(PositionGate, 4),
    partial(ImageReader, 7, 3),
    partial(QueryRows, TEMPERED),
    partial(Adder, ADDER),
    partial(AlibiStarts, ALIBI),
    partial(LearnedTable, ADDER, 16),
    partial(RowBursts, 16, 32, 8),
    partial(RowReader, ADDER, 4, 2),
    partial(LearnedMemory, ADDER, 16, 16),
    partial(LearnedRam, ADDER, 16),
    *(
        partial(make, ROUTED)
        for make in (
            PositionCounter,
            PositionSource,
            PositionRouter,
            BeatRouter,
            ResultMerger,
            LoadPort,
        )
    ),
    *UNITS.values(),
]
SEPARATE: list[Callable[[], wiring.Component]] = [
    partial(Skid, 4),
    partial(Stage, 4),
    partial(AxiLite, 6),
    *(partial(RopewayCore, replace(CORE, bus=bus)) for bus in BUSES),
    *(partial(RopewayCore, core) for core in (DIRECT, SMALL, ADDING)),
]


def waits_for_ready() -> Iterator[str]:
    """Each channel that offers something, or something else, because it is ready to be taken."""
    for make in STREAMING:
        component = make()
        inputs = combinational_inputs(component)
        for channel in channels(component):
            given = (name for name in inputs if name.startswith(channel.prefix))
            for name in given if channel.given else ():
                if f"{channel.prefix}ready" in inputs[name]:
                    yield f"{type(component).__name__}: {name} depends on its ready"


def passes_through() -> Iterator[str]:
    """Each output of what separates its sides by registers that depends on an input."""
    for make in SEPARATE:
        component = make()
        for name, inputs in combinational_inputs(component).items():
            if inputs:
                yield f"{type(component).__name__}: {name} depends on {', '.join(sorted(inputs))}"


def waits_for_data() -> Iterator[str]:
    """Each way that a position's ready depends on a packet."""
    inputs = combinational_inputs(UNITS["RoPE engine"]())
    yield from (name for name in inputs["i_position__ready"] if name.startswith("i__"))


STRUCTURES = [
    Structure(
        "valid without ready",
        f"In {len(STREAMING)} streaming blocks and units no valid and no payload depends on its own"
        " ready within a clock.",
        waits_for_ready,
        (
            Bug(
                "hdl/query_rows.py",
                "self.o.valid.eq(self.i.valid)",
                "self.o.valid.eq(self.i.valid & self.o.ready)",
            ),
        ),
    ),
    Structure(
        "registers between",
        "No output of a skid buffer, of the AXI4-Lite port or of the whole core, whichever its bus,"
        " depends on an input within a clock.",
        passes_through,
        (
            Bug(
                "hdl/skid.py",
                "self.i.ready.eq(~spare_valid)",
                "self.i.ready.eq(~spare_valid | self.o.ready)",
            ),
            Bug("hdl/axi_lite.py", "ready.eq(~full)", "ready.eq(~full & valid)"),
        ),
    ),
    Structure(
        "positions ahead",
        "A position's ready does not depend on the data within a clock.",
        waits_for_data,
        (
            Bug(
                "hdl/engine.py",
                "intake.loaded.eq(table.loaded)",
                "intake.loaded.eq(table.loaded & self.i.valid.replicate(p.slots))",
            ),
        ),
    ),
]
