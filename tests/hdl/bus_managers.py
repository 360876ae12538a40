# SPDX-License-Identifier: Apache-2.0
"""One access over any bus that a core's registers can stand behind."""

from amaranth.hdl import Value

from ropeway.hdl.register_bus import Answer
from tests.hdl import axi_manager

__all__ = ["access", "port_of"]

TIMEOUT = 40  # clocks


def port_of(component, bus: str):
    """A component's port of a bus; the component itself where its requests are bare."""
    return {
        "axi4-lite": lambda: component.s_axi,
        "wishbone": lambda: component.s_wb,
        "registers": lambda: component,
    }[bus]()


async def access(ctx, bus: str, port, address: int, write: int, word: int = 0, strobe: int = 0xF):
    """An access's answer and the word that was read, 0 of a write.

    Wishbone tells no error from another: all are SLVERR.
    """
    match bus:
        case "axi4-lite" if write:
            return await axi_manager.write(ctx, port, address, word, strobe), 0
        case "axi4-lite":
            return await axi_manager.read(ctx, port, address)
        case "wishbone":
            return await _cycle(ctx, port, address, write, word, strobe)
    return await _request(ctx, port, address, write, word, strobe)


async def _cycle(ctx, port, address: int, write: int, word: int, strobe: int):
    values = {"adr": address >> 2, "we": write, "dat_w": word, "sel": strobe, "cyc": 1, "stb": 1}
    for name, value in values.items():
        ctx.set(getattr(port, name), value)
    for _ in range(TIMEOUT):
        _, _, ack, err, read = await ctx.tick().sample(port.ack, port.err, port.dat_r)
        if ack or err:
            ctx.set(port.stb, 0)
            await ctx.tick()
            return (Answer.OKAY, read) if ack else (Answer.SLVERR, 0)
    raise TimeoutError(f"a cycle at {address:#x} is not ended")


async def _request(ctx, port, address: int, write: int, word: int, strobe: int):
    fields = {"address": address, "write": write, "word": word, "strobe": strobe}
    request, answer = port.request, port.answer
    ctx.set(Value.cast(request.payload), request.payload.shape().const(fields).as_value().value)
    ctx.set(request.valid, 1)
    await ctx.tick()
    ctx.set(request.valid, 0)
    for _ in range(TIMEOUT):
        _, _, valid, code, read = await ctx.tick().sample(
            answer.valid, answer.payload.code, answer.payload.word
        )
        if valid:
            return Answer(code), read
    raise TimeoutError(f"a request at {address:#x} is not answered")
