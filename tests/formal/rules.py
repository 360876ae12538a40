# SPDX-License-Identifier: Apache-2.0
"""What every harness is made of: free inputs, the rules of streams, and counts."""

from contextlib import contextmanager
from contextvars import ContextVar

from amaranth.asserts import AnyConst, AnySeq
from amaranth.hdl import Assert, Assume, Cover, Module, Signal, Value
from amaranth.lib import wiring

__all__ = [
    "any_inputs",
    "assume",
    "before",
    "claims_alone",
    "constant",
    "counter",
    "cover",
    "free",
    "invariant",
    "keeps",
    "prove",
    "sends",
    "takes",
]

_invariants = ContextVar("invariants", default=True)


@contextmanager
def claims_alone():
    """Build harnesses without invariants: a planted bug must break a claim, not our bookkeeping."""
    token = _invariants.set(False)
    try:
        yield
    finally:
        _invariants.reset(token)


def free(m: Module, shape, name: str = "free") -> Signal:
    """A signal that may be anything in every clock."""
    signal = Signal(shape, name=name)
    m.d.comb += Value.cast(signal).eq(AnySeq(Value.cast(signal).shape()))
    return signal


def any_inputs(m: Module, dut):
    """Let every input of a component be anything in every clock."""
    for path, member, value in dut.signature.flatten(dut):
        if member.flow is wiring.In:
            m.d.comb += Value.cast(value).eq(free(m, len(Value.cast(value)), str(path[-1])))


def constant(m: Module, shape, name: str = "constant") -> Signal:
    """A signal that may be anything, the same in every clock."""
    signal = Signal(shape, name=name)
    m.d.comb += Value.cast(signal).eq(AnyConst(Value.cast(signal).shape()))
    return signal


def before(m: Module, value, clocks: int = 1) -> Signal:
    """A value as it was some clocks ago, 0 before there was any; 0 clocks ago is now."""
    for _ in range(clocks):
        register = Signal.like(Value.cast(value), name="before", init=0)
        m.d.sync += register.eq(value)
        value = register
    return value


def counter(m: Module, bits: int, up, down=0, *, name: str = "count") -> Signal:
    """How often ``up`` has been, less ``down``, before this clock."""
    count = Signal(bits, name=name)
    m.d.sync += count.eq(count + up - down)
    return count


def prove(m: Module, claim, *, when=1, above: int = 0):
    """Assert ``claim`` in every clock where ``when`` holds; a trace names the caller's line."""
    with m.If(when):
        m.d.comb += Assert(claim, src_loc_at=1 + above)


def invariant(m: Module, holds, *, when=1):
    """Assert what is no claim, but what induction needs to know of the registers."""
    if _invariants.get():
        prove(m, holds, when=when, above=1)


def assume(m: Module, condition, *, when=1):
    """Let nothing happen but what makes ``condition`` hold where ``when`` does."""
    with m.If(when):
        m.d.comb += Assume(condition)


def cover(m: Module, *conditions):
    """Demand that each condition can be met."""
    for condition in conditions:
        with m.If(condition):
            m.d.comb += Cover(1)


def keeps(m: Module, port, rule=prove):
    """The rules of a stream's producer: nothing offered in the clock after reset, and then valid
    and payload hold until the item is taken.
    """
    waiting, started = before(m, port.valid & ~port.ready), before(m, 1)
    payload = before(m, port.payload)
    rule(m, ~port.valid, when=~started)
    rule(m, port.valid & (Value.cast(port.payload) == payload), when=waiting)


def sends(m: Module, port):
    """Drive a stream in any way that its rules allow."""
    m.d.comb += [
        port.valid.eq(free(m, 1, "sends")),
        Value.cast(port.payload).eq(free(m, len(Value.cast(port.payload)), "sent")),
    ]
    if not port.signature.always_ready:
        keeps(m, port, assume)


def takes(m: Module, port):
    """Take from a stream whenever the solver likes; prove its producer's rules."""
    m.d.comb += port.ready.eq(free(m, 1, "takes"))
    keeps(m, port)
    cover(m, before(m, port.valid & ~port.ready) & port.valid & port.ready)
