# SPDX-License-Identifier: Apache-2.0
"""An access goes to one of two by its address, and only its answer comes back."""

from amaranth.hdl import Value
from amaranth.sim import Simulator

from ropeway.hdl.bus_split import BusSplit
from ropeway.hdl.register_bus import Answer, answer_layout, request_layout

BOUNDARY = 0x2000


def test_accesses_go_where_their_address_says_and_answers_come_back():
    split = BusSplit(17, 16, BOUNDARY)

    async def testbench(ctx):
        for address in (0, 4, 0x1FFC, 0x2000, 0x3FFC, 0x4000, 0xFFFC, 0x1_0000, 0x1_1000):
            fields = {"address": address, "write": 1, "word": 0xABCD_0000 | address >> 2}
            fields["strobe"] = 0b1010
            given = request_layout(17).const(fields).as_value().value
            ctx.set(Value.cast(split.request.payload), given)
            ctx.set(split.request.valid, 1)
            await ctx.delay(1e-7)
            low = address < BOUNDARY
            asked, other = split.low_request, split.high_request
            if not low:
                asked, other = other, asked
            assert (ctx.get(asked.valid), ctx.get(other.valid)) == (1, 0)
            found = ctx.get(asked.payload)
            assert {name: found[name] for name in fields} == fields
            ctx.set(split.request.valid, 0)
            await ctx.delay(1e-7)
            assert (ctx.get(asked.valid), ctx.get(other.valid)) == (0, 0)

            assert not ctx.get(split.answer.valid)
            side, still = split.low_answer, split.high_answer
            if not low:
                side, still = still, side
            for port, word in ((side, address), (still, 0x5555)):
                answer = answer_layout().const({"word": word, "code": Answer.SLVERR})
                ctx.set(Value.cast(port.payload), answer.as_value().value)
            ctx.set(side.valid, 1)
            await ctx.delay(1e-7)
            assert ctx.get(split.answer.valid)
            assert ctx.get(split.answer.payload).word == address
            assert ctx.get(split.answer.payload).code == Answer.SLVERR
            ctx.set(side.valid, 0)
            await ctx.delay(1e-7)

    simulator = Simulator(split)
    simulator.add_testbench(testbench)
    simulator.run()
