# SPDX-License-Identifier: Apache-2.0
"""How much faster the compiled Verilog runs than Amaranth's simulator, measured side by side."""

import argparse
import sys
from dataclasses import dataclass
from time import process_time

import numpy as np

from ropeway.golden.parameters import RopeParameters
from ropeway.golden.table import HeadPattern, PhaseTable

from .bench import EngineBench, Load, Token
from .native_engine import NativeEngine

__all__ = ["Rates", "main", "measure"]


@dataclass(frozen=True)
class Rates:
    """Clocks in a second of processor time of each, arrays of tokens in and of packets out."""

    native: float
    simulated: float

    @property
    def ratio(self) -> float:
        """How many times faster the native model is."""
        return self.native / self.simulated

    def __str__(self) -> str:
        return (
            f"{self.native:,.0f} clocks a second for {self.simulated:,.0f}: {self.ratio:.0f} times"
        )


def measure(tokens: int = 512, simulated_tokens: int = 4) -> Rates:
    """Stream a Llama layer's tokens through both; each is built, and run once, before."""
    parameters = RopeParameters()
    table = PhaseTable(
        increments=tuple(1 << 47 - pair // 2 for pair in range(64)),
        head_dim=128,
        pattern=HeadPattern(32, 8, 8),
    )
    shape, random = (table.pattern.heads, table.head_dim), np.random.default_rng(0)

    def rate(engine: EngineBench | NativeEngine, count: int) -> float:
        data = random.integers(-(1 << 15), 1 << 15, (count, *shape), dtype=np.int16)
        given, loads = [Token(heads, at) for at, heads in enumerate(data)], [Load(0, table)]
        engine.run(given[:1], loads)
        start = process_time()
        clocks = engine.run(given, loads).clocks
        return clocks / (process_time() - start)

    return Rates(
        rate(NativeEngine(parameters), tokens), rate(EngineBench(parameters), simulated_tokens)
    )


def main(argv: list[str] | None = None) -> int:
    """Print both rates."""
    argparse.ArgumentParser(prog="ropeway.sim.native_rate", description=__doc__).parse_args(argv)
    print(measure())
    return 0


if __name__ == "__main__":
    sys.exit(main())
