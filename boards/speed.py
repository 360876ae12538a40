# SPDX-License-Identifier: Apache-2.0
"""``python -m ropeway.boards.speed``: how fast simulation and golden model are, side by side.

Compares with PyTorch where it is installed, which nothing else here needs.
"""

import argparse
import json
import sys
from collections.abc import Callable
from importlib.util import find_spec
from time import process_time

import numpy as np

from ropeway.golden import geometry_of
from ropeway.golden.batch import RopeBatch, rope_geometry
from ropeway.golden.engines import golden
from ropeway.golden.errors import InputError
from ropeway.golden.fixed import limits
from ropeway.golden.parameters import RopeParameters
from ropeway.sim.native_rate import measure

from .report import REPORT, accept

__all__ = ["golden_rate", "main", "rows", "torch_rate"]

MODEL, TOKENS, REPEATS = "llama-3.1-8b", 2048, 5


def batch_of(tokens: int) -> RopeBatch:
    """Random queries and keys of a Llama layer, 16-bit words."""
    geometry, random = rope_geometry(geometry_of(MODEL)), np.random.default_rng(0)
    low, high = limits(16)
    heads = {
        kind: random.integers(
            low, high, (tokens, count, geometry.head_dim), dtype=np.int16, endpoint=True
        )
        for kind, count in zip("qk", geometry.pattern.counts[:2], strict=True)
    }
    return RopeBatch(heads=heads, positions=np.arange(tokens), geometries=(geometry,))


def golden_rate(batch: RopeBatch) -> float:
    """Pairs that the golden model turns in a second of one core, words in and words out."""
    parameters = RopeParameters()
    return _pairs(batch) / _seconds(lambda: golden(parameters, batch))


def torch_rate(batch: RopeBatch) -> float:
    """The same of PyTorch, eager, float32, one thread, as Hugging Face's Llama does it."""
    import torch  # pyright: ignore[reportMissingImports]

    torch.set_num_threads(1)
    geometry = batch.geometries[0]
    inv_freq = torch.tensor([float(f) for f in geometry.inv_freq], dtype=torch.float32)
    position = torch.tensor(batch.positions[:, 0], dtype=torch.float32)
    heads = {  # [heads, tokens, head_dim], as attention has them
        kind: torch.tensor(words, dtype=torch.float32).transpose(0, 1).contiguous()
        for kind, words in batch.heads.items()
    }

    def rotate_half(x):
        half = x.shape[-1] // 2
        return torch.cat((-x[..., half:], x[..., :half]), dim=-1)

    def turn():
        angle = position[:, None] * inv_freq
        angle = torch.cat((angle, angle), dim=-1)
        cos, sin = angle.cos(), angle.sin()
        return [x * cos + rotate_half(x) * sin for x in heads.values()]

    return _pairs(batch) / _seconds(turn)


def _pairs(batch: RopeBatch) -> int:
    return sum(array.size for array in batch.heads.values()) // 2


def _seconds(work: Callable[[], object]) -> float:
    """Processor seconds of the fastest of several runs, after one to warm up."""
    work()
    taken = []
    for _ in range(REPEATS):
        start = process_time()
        work()
        taken.append(process_time() - start)
    return min(taken)


def rows(tokens: int = TOKENS) -> list[dict[str, str]]:
    """Every comparison as a row of the report's table."""
    rates = measure()
    turned = golden_rate(batch_of(tokens))
    found = [
        {
            "what": "compiled Verilog of the 4-lane RoPE engine",
            "rate": f"{rates.native / 1e6:.2f} M clocks/s",
            "than": f"{rates.ratio:.0f} × Amaranth's simulator ({rates.simulated:,.0f} clocks/s)",
        }
    ]
    than = "PyTorch was not installed"
    if find_spec("torch"):
        torch = torch_rate(batch_of(tokens))
        than = f"{turned / torch:.2f} × PyTorch's eager float32 ({torch / 1e6:.0f} M pairs/s)"
    found.append(
        {
            "what": "bit-true golden rotation, 16-bit words",
            "rate": f"{turned / 1e6:.0f} M pairs/s",
            "than": than,
        }
    )
    return found


def main(argv: list[str] | None = None) -> int:
    """Print the rates; with ``--accept``, make them the README's."""
    parser = argparse.ArgumentParser(prog="ropeway.boards.speed", description=__doc__)
    parser.add_argument(
        "--accept", action="store_true", help="into boards/report.json and README.md"
    )
    args = parser.parse_args(argv)
    if args.accept and not find_spec("torch"):
        error = InputError(
            "torch", "not installed", "must be there to be compared: pip install torch"
        )
        print(f"ropeway: error: {error}", file=sys.stderr)
        return 2
    found = rows()
    for row in found:
        print(f"{row['what']}: {row['rate']}, {row['than']}")
    if args.accept:
        accept(json.loads(REPORT.read_text()) | {"speed": found})
    return 0


if __name__ == "__main__":
    sys.exit(main())
