# SPDX-License-Identifier: Apache-2.0
"""A layer's whole prefill through the engine's Verilog, compared with golden bit for bit."""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from ropeway.golden import InputError, geometry_of
from ropeway.golden.batch import RopeBatch, rope_geometry
from ropeway.golden.engines import golden
from ropeway.golden.fixed import limits

from .bench import Load
from .native_engine import NativeEngine
from .simulate import Timing, heads_of, tokens_of

__all__ = ["Prefill", "main", "prefill"]

CONFIG, TOKENS, BITS = "llama-3.1-8b", 4096, 16


@dataclass(frozen=True)
class Prefill:
    """What a prefill took and whether it came out as golden has it; times in seconds.

    ``pairs`` turned, ``elements`` that were compared, ``different`` those that were not golden's.
    """

    tokens: int
    pairs: int
    elements: int
    different: int
    timing: Timing
    law: int
    build_time: float
    hardware_time: float
    golden_time: float

    @property
    def holds(self) -> bool:
        """Whether every bit is golden's, and a token takes the clocks it is said to."""
        return not self.different and self.timing.clocks_per_token == self.law

    def __str__(self) -> str:
        hardware, software, clocks = self.hardware_time, self.golden_time, self.timing.clocks
        rows = {
            "build": f"{self.build_time:.1f} s, less where it is in the cache",
            "hardware": f"{hardware:.2f} s, packing included",
            "clocks": f"{clocks:,}, {clocks / hardware:,.0f} a second",
            "clocks a token": f"{self.timing.clocks_per_token:g}, by the law {self.law}",
            "pairs turned": f"{self.pairs:,}, {self.pairs / hardware:,.0f} a second",
            "golden model": f"{software:.2f} s, {self.pairs / software:,.0f} pairs a second",
            "compared": f"{self.elements:,} elements, {self.different or 'none'} different",
        }
        return "\n".join(f"{name:<16}{said}" for name, said in rows.items())


def batch_of(config: str | Path, tokens: int, seed: int = 0) -> RopeBatch:
    """Random words in the shape of a checkpoint's layer, from position 0, corners among them."""
    geometry, random = rope_geometry(geometry_of(config)), np.random.default_rng(seed)
    low, high = limits(BITS)
    heads = {}
    for kind, count in zip("qkv", geometry.pattern.counts, strict=True):
        heads[kind] = random.integers(
            low, high, (tokens, count, geometry.head_dim), dtype=np.int16, endpoint=True
        )
        heads[kind][: max(1, tokens // 64)] = low
    return RopeBatch(heads=heads, positions=np.arange(tokens), geometries=(geometry,))


def prefill(
    config: str | Path = CONFIG, tokens: int = TOKENS, *, cache: Path | None = None
) -> Prefill:
    """Turn the tokens in hardware and by golden, and compare. Raises what ``NativeEngine`` does."""
    batch = batch_of(config, tokens)
    parameters = batch.parameters(BITS)
    (table,) = batch.tables
    start = perf_counter()
    engine = NativeEngine(parameters, cache=cache)
    built = perf_counter()
    result = engine.run(tokens_of(batch), [Load(0, table)])
    found = heads_of(batch, result.packets)
    ran = perf_counter()
    wanted, _ = golden(parameters, batch)
    done = perf_counter()
    return Prefill(
        tokens=tokens,
        pairs=tokens * int(table.pattern.rotates.sum()) * table.pairs,
        elements=sum(array.size for array in found.values()),
        different=sum(int(np.count_nonzero(found[k] != wanted[k])) for k in found),
        timing=Timing.of(result),
        law=parameters.clocks_per_token(table),
        build_time=built - start,
        hardware_time=ran - built,
        golden_time=done - ran,
    )


def main(argv: list[str] | None = None) -> int:
    """Run a prefill and say what it took; 1 where anything is not as it should be."""
    parser = argparse.ArgumentParser(prog="ropeway.sim.prefill", description=__doc__)
    parser.add_argument("--config", default=CONFIG, metavar="CONFIG")
    parser.add_argument("--tokens", default=TOKENS, type=int, metavar="N", help="at least 2")
    args = parser.parse_args(argv)
    try:
        if args.tokens < 2:
            raise InputError("tokens", args.tokens, "must be at least 2")
        found = prefill(args.config, args.tokens)
    except InputError as error:
        print(f"ropeway: error: {error}", file=sys.stderr)
        return 2
    print(f"{args.config}, {found.tokens} tokens")
    print(found)
    return 0 if found.holds else 1


if __name__ == "__main__":
    sys.exit(main())
