# SPDX-License-Identifier: Apache-2.0
"""The sample of registers and a whole core's, side by side so that they build once."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.core_parameters import CoreParameters
from ropeway.hdl.axi_lite import axi_lite_signature
from ropeway.hdl.core_control import CoreControl
from tests.hdl.register_model import SAMPLE
from tests.hdl.subordinate import Subordinate

CORE = CoreParameters(alibi=AlibiParameters())


class RegisterUnits(wiring.Component):
    """Both buses, and the stream that the core's images go to."""

    def __init__(self):
        self._sample, self._core = Subordinate(), CoreControl(CORE)
        super().__init__(
            {
                "sample": In(axi_lite_signature(SAMPLE.address_bits)),
                "core": In(axi_lite_signature(self._core.map.address_bits)),
                "load": Out(self._core.signature.members["load_alibi"].signature),
                "irq": Out(1),
                "loaded": In(1),
            }
        )

    def elaborate(self, _platform):
        m = Module()
        m.submodules.sample_unit, m.submodules.core_unit = self._sample, self._core
        wiring.connect(m, wiring.flipped(self.sample), self._sample.s_axi)
        wiring.connect(m, wiring.flipped(self.core), self._core.s_axi)
        wiring.connect(m, self._core.load_alibi, wiring.flipped(self.load))
        m.d.comb += [self.irq.eq(self._core.irq), self._core.loaded_alibi.eq(self.loaded)]
        return m
