# SPDX-License-Identifier: Apache-2.0
"""Whole units: what each of their outputs offers stays until it is taken, whatever comes in."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import wiring

from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.core_parameters import CoreParameters
from ropeway.hdl.alibi import AlibiUnit
from ropeway.hdl.alibi_starts import AlibiStarts
from ropeway.hdl.core import RopewayCore
from ropeway.hdl.engine import RopeEngine
from ropeway.hdl.learned_adder import LearnedAdder
from ropeway.hdl.learned_memory import LearnedMemory
from ropeway.hdl.learned_ram import LearnedRam
from ropeway.hdl.row_bursts import Step
from ropeway.hdl.sinusoidal_adder import SinusoidalAdder

from .framing import ADDER, ROPE
from .opened import Opened
from .proof import Bug, Proof
from .rules import any_inputs, assume, before, cover, invariant, prove

__all__ = ["CORE", "PROOFS", "UNITS", "channels"]

ALIBI = AlibiParameters(lanes=1, data_bits=8, max_heads=4, position_bits=8)
CORE = CoreParameters(rope=ROPE, alibi=ALIBI)


@dataclass(frozen=True)
class Channel:
    """A stream, or a channel of AXI: ``valid``, ``ready`` and all that goes with them."""

    prefix: str
    given: bool
    valid: Value
    ready: Value
    payload: Value


def channels(component: wiring.Component) -> Iterator[Channel]:
    """Every channel of a component, by its ports' names: …valid, …ready and what begins alike."""
    ports = {
        "__".join(map(str, path)): (member.flow, Value.cast(value))
        for path, member, value in component.signature.flatten(component)
    }
    for name, (flow, valid) in ports.items():
        prefix = name.removesuffix("valid")
        if prefix == name or f"{prefix}ready" not in ports:
            continue
        rest = Cat(
            value
            for other, (way, value) in ports.items()
            if other.startswith(prefix) and way is flow and other != name
        )
        yield Channel(prefix, flow is wiring.Out, valid, ports[f"{prefix}ready"][1], rest)


def keeping(m: Module, dut, *, besides: str = "none"):
    """Let what comes in be free, but for its channels' rules; prove these of what goes out.

    Channels whose names begin with ``besides`` are left out.
    """
    any_inputs(m, dut)
    for channel in channels(dut):
        if channel.given and channel.prefix.startswith(besides):
            continue
        rule = prove if channel.given else assume
        waiting, started = before(m, channel.valid & ~channel.ready), before(m, 1)
        rule(m, ~channel.valid, when=~started)
        rule(m, channel.valid & (channel.payload == before(m, channel.payload)), when=waiting)
        if not channel.given:
            cover(m, channel.valid)


def unit(make: Callable[[], wiring.Component], **options) -> Module:
    m = Module()
    m.submodules.dut = dut = make()
    keeping(m, dut, **options)
    return m


def alibi_starts() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(AlibiStarts(ALIBI))
    keeping(m, dut)
    phase = dut["phase"]
    invariant(m, sum(phase[number] for number in range(len(phase))) == 1)
    cover(m, before(m, dut.o.valid & ~dut.o.ready) & dut.o.ready)
    return m


def learned_memory() -> Module:
    m = Module()
    m.submodules.dut = dut = Opened(LearnedMemory(ADDER, 16, 16))
    keeping(m, dut)
    bursts, axi = dut.open("bursts"), dut.m_axi
    step = bursts["step"]
    invariant(m, sum(step[number] for number in range(len(step))) == 1)
    invariant(m, bursts.o.valid == step[Step.ANSWER])
    prove(m, (axi.arsize == 1) & (axi.arburst == 1), when=axi.arvalid)
    cover(m, before(m, axi.arvalid & ~axi.arready) & axi.arready)
    return m


UNITS = {
    "RoPE engine": partial(RopeEngine, ROPE),
    "ALiBi unit": partial(AlibiUnit, ALIBI),
    "sinusoidal adder": partial(SinusoidalAdder, ADDER),
    "learned adder, block RAM": lambda: LearnedAdder(ADDER, LearnedRam(ADDER, 16)),
}
RULE = (
    "Whatever comes in, what an output stream or an AXI channel offers stays, unchanged, until it"
    " is taken, and nothing is offered in the clock after reset."
)
DROPPED = Bug(
    "hdl/queue.py",
    "comes | through | (self.o.valid & ~self.o.ready)",
    "comes | through",
    found=False,
)
READ_ON = Bug(
    "hdl/drain.py",
    "self.read_enable.eq(out.ready | ~out.valid)",
    "self.read_enable.eq(1)",
    found=False,
)
PROOFS = [
    *(
        Proof(f"channels, {name}", RULE, partial(unit, make), (bug,), depth=2, reach=3)
        for (name, make), bug in zip(UNITS.items(), (READ_ON, *[DROPPED] * 3), strict=True)
    ),
    Proof(
        "channels, core",
        RULE,
        partial(unit, partial(RopewayCore, CORE), besides="s_axi"),
        (DROPPED,),
        depth=2,
        reach=3,
        given="But for the responses of AXI4-Lite, which have a proof of their own.",
    ),
    Proof(
        "channels, ALiBi starts",
        RULE,
        alibi_starts,
        (Bug("hdl/alibi_starts.py", "| (ends & ~self.o.ready)", ""),),
        depth=12,
    ),
    Proof(
        "channels, learned memory",
        RULE,
        learned_memory,
        (
            Bug(
                "hdl/row_bursts.py",
                "step[Step.BURST] | (self.o.valid & ~self.o.ready)",
                "step[Step.BURST]",
            ),
            Bug("hdl/learned_memory.py", "axi.arburst.eq(1)", "axi.arburst.eq(0)"),
        ),
        depth=12,
    ),
]
