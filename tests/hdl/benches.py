# SPDX-License-Identifier: Apache-2.0
"""Benches for one component: ports driven and sampled clock by clock, and streams under traffic."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from amaranth.hdl import C, Cat, Module, Signal, Value
from amaranth.lib import stream
from amaranth.sim import Simulator

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import PhaseTable
from ropeway.hdl.beat_queue import BeatQueue
from ropeway.hdl.heads import Heads
from ropeway.hdl.layouts import head_layout, token_layout
from ropeway.hdl.phase_table import PhaseTable as HardwareTable
from ropeway.hdl.sequencer import take_of
from ropeway.hdl.skid import Skid
from ropeway.hdl.streams import connect
from ropeway.hdl.walker import Walker, buffer_depth

VERDICT = 24  # clocks after an image's last word by which it is judged


def port(component, path: str):
    """The port or field that a dotted path names; numbers are indices."""
    for name in path.split("."):
        component = component[int(name)] if name.isdigit() else getattr(component, name)
    return component


def simulate(component, *testbenches, background=()):
    """Run testbenches on a component until they end; those in the ``background`` never need to."""
    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    for testbench in testbenches:
        simulator.add_testbench(testbench)
    for testbench in background:
        simulator.add_testbench(testbench, background=True)
    simulator.run()


def clock_through(
    component, inputs: Mapping[str, Sequence[int]], outputs: Sequence[str], *, extra: int = 0
) -> dict[str, np.ndarray]:
    """Set every input to its next value each clock, and sample the outputs at each clock's end.

    What a component of latency n makes of the inputs of clock i stands at n + i; ``extra`` clocks
    with the last inputs follow.
    """
    driven = [(Value.cast(port(component, path)), values) for path, values in inputs.items()]
    read = [Value.cast(port(component, path)) for path in outputs]
    clocks = len(next(iter(inputs.values())))
    samples = []

    async def testbench(ctx):
        for clock in range(clocks + extra):
            if clock < clocks:
                for value, values in driven:
                    ctx.set(value, int(values[clock]))
            _, _, *sample = await ctx.tick().sample(*read)
            samples.append(sample)

    simulate(component, testbench)
    columns = zip(*samples, strict=True)
    return {path: np.array(column) for path, column in zip(outputs, columns, strict=True)}


@dataclass(frozen=True)
class StreamResult:
    """Items out of a stream, and the clocks at which items went in and came out."""

    items: list[int]
    clocks_in: np.ndarray
    clocks_out: np.ndarray


def stream_through(
    component,
    items: Sequence[int],
    *,
    i: stream.Interface | None = None,
    o: stream.Interface | None = None,
    count: int | None = None,
    idle: float = 0.0,
    stall: float = 0.0,
    seed: int = 0,
    timeout: int = 200,
    room: Value | None = None,
    before: Callable[..., Awaitable[object]] | None = None,
    each_clock: Callable[..., None] = lambda _ctx, _random: None,
    background: Sequence[Callable[..., Awaitable[object]]] = (),
) -> StreamResult:
    """Send items in at ``i`` and take ``count`` out of ``o``, idle and stalled at random.

    With ``room`` an item goes only in the clock after one that had room. ``before(ctx)`` comes
    first, ``each_clock(ctx, random)`` in every clock, testbenches in the ``background`` all along.
    A valid item must hold, unchanged, until it is taken. Raises TimeoutError when nothing moves.
    """
    i, o = i or component.i, o or component.o
    random = np.random.default_rng(seed)
    payload_in, payload_out = Value.cast(i.payload), Value.cast(o.payload)
    taken: list[int] = []
    clocks: tuple[list[int], list[int]] = ([], [])
    count = len(items) if count is None else count
    waits = not o.signature.always_ready

    async def testbench(ctx):
        offered, sent, pending, quiet, clock = False, 0, None, 0, 0
        roomy, ready_in = room is None, C(1) if i.signature.always_ready else i.ready
        if before is not None:
            await before(ctx)
        while len(taken) < count or sent < len(items):
            if not offered and roomy and sent < len(items) and random.random() >= idle:
                offered = True
                ctx.set(payload_in, int(items[sent]))
            ready = random.random() >= stall if waits else True
            ctx.set(i.valid, offered)
            if waits:
                ctx.set(o.ready, ready)
            each_clock(ctx, random)
            _, _, accepted, valid, payload, roomy = await ctx.tick().sample(
                ready_in, o.valid, payload_out, C(1) if room is None else room
            )
            if pending is not None:
                assert valid, f"valid fell before the item was taken, clock {clock}"
                assert payload == pending, f"an item changed before it was taken, clock {clock}"
            pending = payload if valid and not ready else None
            quiet += 1
            if offered and accepted:
                offered, quiet = False, 0
                sent += 1
                clocks[0].append(clock)
            if valid and ready:
                quiet = 0
                taken.append(payload)
                clocks[1].append(clock)
            clock += 1
            if quiet > timeout:
                raise TimeoutError(f"nothing moved for {quiet} clocks, {len(taken)} items out")

    simulate(component, testbench, background=background)
    return StreamResult(taken, *(np.array(column) for column in clocks))


@dataclass
class Verdict:
    """What a load came to: clocks from first word to last, flags raised, slots loaded after it."""

    clocks: int
    refused: int
    malformed: int
    loaded: int


async def load(ctx, table: HardwareTable, words: Sequence[int] | PhaseTable, slot: int) -> Verdict:
    """Stream an image into a phase table, and wait for its verdict."""
    words = words.image() if isinstance(words, PhaseTable) else words
    flags, clocks, sent, left = np.zeros(2, dtype=int), 0, 0, VERDICT
    payload = table.i_load.payload
    while left:
        offered = sent < len(words)
        ctx.set(table.i_load.valid, offered)
        if offered:
            ctx.set(payload.word, int(words[sent]))
            ctx.set(payload.slot, slot)
            ctx.set(payload.last, sent == len(words) - 1)
        _, _, ready, *raised = await ctx.tick().sample(
            table.i_load.ready, table.refused, table.malformed
        )
        flags += raised
        sent += bool(offered and ready)
        clocks += bool(offered and sent)
        left -= not offered
    return Verdict(clocks, *flags.tolist(), ctx.get(table.loaded))


def assembled(**submodules) -> Module:
    """A module of named submodules, for their harness to connect."""
    m = Module()
    for name, component in submodules.items():
        m.submodules[name] = component
    return m


def fed_with_heads(p: RopeParameters, stage, walker) -> tuple[Module, HardwareTable, Heads]:
    """A stage whose walker takes heads, behind what names them: phase table and heads."""
    table, heads, skid = HardwareTable(p), Heads(p), Skid(head_layout(p))
    m = assembled(table=table, heads=heads, skid=skid, stage=stage)
    m.d.comb += [
        table.token_slot.eq(heads.slot),
        heads.pattern.eq(table.pattern),
        table.head_slot.eq(walker.slot),
        walker.shape.eq(table.shape),
    ]
    connect(m, heads.o, skid.i)
    connect(m, skid.o, walker.i)
    return m, table, heads


def fed_with_beats(
    p: RopeParameters, stage, note: str, *, idles: bool = False
) -> tuple[Module, HardwareTable, Heads]:
    """A stage that takes what the walker says of every beat, its ``step`` or ``exit``; tokens of
    odd slots are badly framed. With ``idles`` a beat may be there and not be offered yet.
    """
    walker, depth, held = Walker(p), buffer_depth(p), Signal(16)
    said = getattr(walker, note)
    queue = BeatQueue(said.shape(), depth)
    m, table, heads = fed_with_heads(p, stage, walker)
    m.submodules.walker, m.submodules.queue = walker, queue
    m.d.comb += [
        walker.advance.eq(held < depth - 1),
        queue.i.valid.eq(walker.valid & walker.advance),
        queue.i.payload.eq(said),
    ]
    if note == "exit":
        m.d.comb += queue.i.payload.bad.eq(said.last & said.slot[0])
    elif p.relayed:
        m.d.comb += queue.i.payload.take.eq(take_of(said))
    m.d.sync += held.eq(held + queue.i.valid - (queue.o.valid & queue.o.ready))
    noise, offered = Signal(7, init=1), Signal()
    offers = queue.o.valid & (offered | noise[0] if idles else 1)
    m.d.comb += [
        stage.i.valid.eq(offers),
        stage.i.payload.eq(queue.o.payload),
        queue.o.ready.eq(stage.i.ready & offers),
    ]
    m.d.sync += [
        noise.eq(Cat(noise[6] ^ noise[5], noise)),  # x^7 + x^6 + 1
        offered.eq(offers & ~stage.i.ready),
    ]
    return m, table, heads


def token_word(p: RopeParameters, slot: int, rotates: int = 1, new_row: int = 1) -> int:
    """An accepted token, as the heads' stream takes it."""
    fields = {"slot": slot, "rotates": rotates, "new_row": new_row}
    return token_layout(p).const(fields).as_value().value


async def send(ctx, port: stream.Interface, items: Sequence[int]):
    """Offer items one after the other, each until it is taken."""
    for item in items:
        ctx.set(Value.cast(port.payload), item)
        ctx.set(port.valid, 1)
        await ctx.tick().until(port.ready)
    ctx.set(port.valid, 0)
