# SPDX-License-Identifier: Apache-2.0
"""Runs a learned adder in Amaranth's simulator, its table in external memory."""

import numpy as np

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.hdl.learned_adder import LearnedAdder
from ropeway.hdl.learned_memory import LearnedMemory

from .adder_bench import AdderBench
from .axi_memory import AxiMemory

__all__ = ["MemoryBench"]

BASE = 0x1234_5000 - 640  # so that rows cross pages


class MemoryBench(AdderBench):
    """An adder behind a bus of ``bus_bits``; ``options`` are those of its AxiMemory."""

    def __init__(self, parameters: AdderParameters, bus_bits: int, **options):
        unit = LearnedAdder(parameters, LearnedMemory(parameters, bus_bits))
        self.memory = AxiMemory(unit.m_axi, bus_bits, **options)
        self._bus_bytes = bus_bits // 8
        super().__init__(parameters, unit, beside=[self.memory.answer])

    def place(self, table: np.ndarray) -> dict[str, int]:
        """Put a table [rows, width] into the memory; the settings that a run of it needs."""
        size = {8: np.int8, 16: np.int16}[self.parameters.data_bits]
        row = table.astype(size).reshape(len(table), -1)
        stride = -(-row[0].nbytes // self._bus_bytes)
        padded = np.zeros((len(table), stride * self._bus_bytes), np.uint8)
        padded[:, : row[0].nbytes] = row.view(np.uint8)
        self.memory.content, self.memory.base = padded.tobytes(), BASE
        return {"base": BASE, "stride": stride}
