# SPDX-License-Identifier: Apache-2.0
"""The sample of registers behind AXI4-Lite."""

from amaranth.hdl import Module
from amaranth.lib import wiring

from ropeway.hdl.axi_lite import AxiLite, axi_lite_signature
from ropeway.hdl.register_file import RegisterFile
from ropeway.hdl.streams import connect
from tests.hdl.register_model import SAMPLE, looked_up


class Subordinate(wiring.Component):
    """A bus and its registers."""

    def __init__(self):
        self.bus, self.file = AxiLite(SAMPLE.address_bits), RegisterFile(SAMPLE)
        super().__init__({"s_axi": wiring.In(axi_lite_signature(SAMPLE.address_bits))})

    def elaborate(self, _platform):
        m = Module()
        m.submodules.bus, m.submodules.file = self.bus, self.file
        wiring.connect(m, wiring.flipped(self.s_axi), self.bus.s_axi)
        connect(m, self.bus.request, self.file.request)
        connect(m, self.file.answer, self.bus.answer)
        return m

    async def hardware(self, ctx):
        """What registers show of the hardware."""
        file = self.file
        ctx.set(file.shown, -5)
        numbers = file.looked_up_number, file.digest_number
        async for _, _, a, b in ctx.tick().sample(*numbers):
            ctx.set(file.looked_up, looked_up("LOOKED_UP", a))
            ctx.set(file.digest, looked_up("DIGEST", b))
