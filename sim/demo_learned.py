# SPDX-License-Identifier: Apache-2.0
"""The prompt through GPT-2's embeddings: rows of a table, read from external memory."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from ropeway.golden import Geometry, InputError, geometry_of
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import LearnedGeometry
from ropeway.golden.embedding_batch import EmbeddingBatch
from ropeway.golden.engines import Progress, silent

from .adder_bench import AdderResult, Embedding
from .bench import Traffic
from .demo import Claim, Demonstration, equality, in_chunks
from .memory_bench import MemoryBench
from .prompt import CAPITAL, FRANCE, PROMPT, QUERY
from .unit_bench import Image

__all__ = ["LearnedDemonstration"]

CONFIG, OTHER = "gpt2", "opt-125m"  # of one width; OPT's rows begin two further on
BUS_BITS, LATENCY = 256, 40
LAST_CHUNK = 3


class LearnedDemonstration(Demonstration):
    """Everything ``ropeway demo`` shows of learned positions; one trained table is made up.

    After ``claims``, ``prefill`` has the prompt's sums, ``edges`` by position what tokens at the
    table's ends gained, and ``clocks`` by name when each beat of a way of going in came out.
    """

    scheme = "learned"
    heading = """through GPT-2's embeddings:
768 wide, 1024 rows in memory on a bus of 256 bits; 4 lanes of 16 bits, simulated clock by clock"""

    def __init__(
        self, progress: Progress = silent, config: str | Path = CONFIG, other: str | Path = OTHER
    ):
        super().__init__(progress)
        self.geometry, self.other = (_learned(geometry_of(name)) for name in (config, other))
        self.parameters = AdderParameters(max_width=self.geometry.width)
        random = np.random.default_rng(2017)
        # neighbours are alike, as in a trained table; rows go on behind the last that GPT-2 has
        drift = random.normal(0, 8, (self.other.rows, self.geometry.width)).cumsum(axis=0)
        self.table = np.round(drift).astype(np.int16)
        self.words = random.integers(-4000, 4001, (len(PROMPT), self.geometry.width), np.int16)

    @cached_property
    def bench(self) -> MemoryBench:
        """The adder and its memory, elaborated when first asked for and never again."""
        return MemoryBench(self.parameters, BUS_BITS, latency=LATENCY)

    def draw(self, path: Path):
        """Write the figure; needs matplotlib."""
        from .figure_learned import draw

        draw(self, path)

    def batch(self, positions: Sequence[int], words: np.ndarray) -> EmbeddingBatch:
        """Embeddings ``words`` at ``positions``."""
        return EmbeddingBatch(
            x=words,
            positions=np.array(positions),
            geometry=self.geometry,
            table=self.table[: self.geometry.rows],
        )

    def claims(self) -> Iterator[Claim]:
        """Simulate, and yield every claim as soon as it can be judged."""
        yield from self._prefill()
        yield from self._stream()
        yield from self._chunks()

    def _prompt(self, start: int = 0) -> list[Embedding]:
        return [Embedding(data, start + n) for n, data in enumerate(self.words)]

    def _run(
        self,
        what: str,
        tokens: list[Embedding],
        traffic: Traffic | None = None,
        later: Sequence[Image] = (),
    ) -> AdderResult:
        self.bench.memory.bursts.clear()
        return self.bench.run(
            tokens,
            [Image(self.geometry.image()), *later],
            traffic or Traffic(sink=self.watched(what, len(tokens))),
            settings=self.bench.place(self.table),
        )

    def _prefill(self) -> Iterator[Claim]:
        batch = self.batch(range(len(PROMPT)), self.words)
        result = self._run("the prompt at once", self._prompt())
        self.prefill = np.stack(result.tokens)
        self.clocks = {"at once": result.run.result_clocks}
        out, wanted = self.prefill, batch.golden(self.parameters)[0]
        yield equality("hardware equals the golden model, bit for bit", {"": out}, {"": wanted})
        most = float(np.abs(out - batch.exact(1.0)).max())
        holds = most == 0 and not result.run.status["saturated"]
        yield Claim("it is the sum of mathematics", f"error {most:g}", holds)
        gained = out - self.words
        for token in (QUERY, FRANCE, CAPITAL):
            same = np.array_equal(gained[token], self.table[token])
            rows = np.flatnonzero((self.table == gained[token]).all(axis=1)).tolist()
            yield Claim(f'"{PROMPT[token]}" takes row {token} of the table', f"row {rows}", same)
        clocks = result.run.result_clocks
        idle = int(clocks[-1] - clocks[0] + 1 - len(clocks))
        yield Claim(
            "one beat a clock, rows being read ahead",
            f"{len(clocks) // len(PROMPT)} clocks a token, {idle} idle beats, memory answering"
            f" after {LATENCY} clocks",
            idle == 0,
        )
        yield Claim(
            "the hardware's fingerprint is that of the config",
            result.run.fingerprint,
            result.run.fingerprint == self.geometry.fingerprint,
        )

    def _stream(self) -> Iterator[Claim]:
        rows, swapped = self.geometry.rows, [self.words[n] for n in (QUERY, FRANCE)]
        edges = [rows - 1, rows, -1, rows - 1]
        tokens = [Embedding(self.words[n], at) for n, at in enumerate(edges)]
        tokens += [Embedding(data, n) for n, data in enumerate(swapped, FRANCE)]
        later = [Image(self.other.image(), len(tokens))]
        result = self._run("one stream", [*tokens, *self._prompt()], later=later)
        found = np.stack(result.tokens)
        yield from self._edges(found[:4], result)
        least = float(np.mean(found[4:6] != self.prefill[[QUERY, FRANCE]], axis=1).min())
        yield Claim(
            'with "France" and "?" swapped their embeddings get other rows',
            f"{least:.0%} of their elements and more differ",
            least > 0.5,
        )
        first = self.other.offset
        yield equality(
            f"with OPT's geometry loaded, position n takes row n + {first}",
            {"": found[6:] - self.words},
            {"": self.table[first : first + len(PROMPT)]},
        )

    def _edges(self, found: np.ndarray, result: AdderResult) -> Iterator[Claim]:
        """The last row, the position behind it, one before the first, and the last row again."""
        rows, words = self.geometry.rows, self.words[:4]
        self.edges = dict(zip((rows - 1, rows, -1), found - words, strict=False))
        served = np.array_equal((found - words)[[0, 3]], self.table[[rows - 1] * 2])
        yield Claim(
            f"position {rows - 1} has the last row, and again after such without",
            f"errors {[any(result.errors[n]) for n in (0, 3)]}",
            served and not any(map(any, (result.errors[0], result.errors[3]))),
        )
        status = result.run.status
        for token, position in ((1, rows), (2, -1)):
            marks = result.errors[token]
            yield Claim(
                f"position {position} has none: its token passes, and is marked",
                f"on {sum(marks)} of {len(marks)} beats; the first of such is"
                f" {status['first_out_of_table']}",
                np.array_equal(found[token], words[token])
                and all(marks)
                and bool(status["out_of_table"])
                and status["first_out_of_table"] == rows,
            )
        row_bytes = self.table[0].nbytes
        memory = self.bench.memory
        read = sorted({(address - memory.base) // row_bytes for address, _ in memory.bursts})
        yield Claim(
            "nothing is read for them, though the memory goes on",
            f"rows {read}",
            rows not in read and min(read) >= 0 and rows - 1 in read,
        )

    def _chunks(self) -> Iterator[Claim]:
        """The prompt in two chunks, and then token by token."""
        tokens, what = [*self._prompt(), *self._prompt()], "the prompt in chunks, and in tokens"
        sizes = [len(PROMPT) - LAST_CHUNK, LAST_CHUNK, *[1] * len(PROMPT)]
        beats = [self.geometry.width // self.parameters.beat_elements] * len(tokens)
        traffic = in_chunks(sizes, beats, self.watched(what, len(tokens)))
        result = self._run(what, tokens, traffic)
        chunked, alone = np.split(result.run.result_clocks, 2)
        self.clocks |= {"in chunks of 4 and 3": chunked, "token by token": alone}
        chunks, decoded = np.split(np.stack(result.tokens), 2)
        for text, found in (("in two chunks it gives", chunks), ("decoding gives", decoded)):
            yield equality(f"{text} the values of prefill", {"": found}, {"": self.prefill})


def _learned(geometry: Geometry) -> LearnedGeometry:
    if not isinstance(geometry, LearnedGeometry):
        raise InputError("scheme", geometry.scheme, "must be learned here")
    return geometry
