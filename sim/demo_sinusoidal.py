# SPDX-License-Identifier: Apache-2.0
"""The prompt through the first Transformer's embeddings: rows of sines, made on the fly."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from ropeway.golden import InputError, geometry_of
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import SinusoidalGeometry
from ropeway.golden.embedding_batch import EmbeddingBatch
from ropeway.golden.engines import Progress, silent
from ropeway.hdl.sinusoidal_adder import SinusoidalAdder

from .adder_bench import AdderBench, AdderResult, Embedding
from .bench import Traffic
from .demo import Claim, Demonstration, equality, in_chunks
from .prompt import CAPITAL, FAR, FRANCE, PROMPT, QUERY
from .unit_bench import Image

__all__ = ["SinusoidalDemonstration"]

CONFIG = "transformer-base"
FARTHEST = 16_000_000
LAST_CHUNK = 3


class SinusoidalDemonstration(Demonstration):
    """Everything ``ropeway demo`` shows of sinusoidal positions; words are in units of ``lsb``.

    After ``claims``, ``rows`` and ``far_rows`` hold what was added to embeddings of zero, in
    float64, and ``errors`` the prompt's distance from exact mathematics, in LSB.
    """

    scheme = "sinusoidal"
    heading = """through Transformer-base's embeddings:
512 wide, scaled by √512, no table; 4 lanes of 16 bits, simulated clock by clock"""

    def __init__(self, progress: Progress = silent, config: str | Path = CONFIG):
        super().__init__(progress)
        geometry = geometry_of(config)
        if not isinstance(geometry, SinusoidalGeometry):
            raise InputError("scheme", geometry.scheme, "must be sinusoidal here")
        self.geometry = geometry
        self.parameters = AdderParameters(max_width=geometry.width, scaled=True)
        self.lsb = 2.0**-self.parameters.fraction_bits
        self.frequencies = np.array(geometry.inv_freq, float)
        random = np.random.default_rng(2017)
        made_up = random.normal(0, geometry.width**-0.5, (len(PROMPT), geometry.width))
        self.words = np.round(made_up / self.lsb).astype(np.int16)

    @cached_property
    def bench(self) -> AdderBench:
        """The adder, elaborated when it is first asked for and never again."""
        return AdderBench(self.parameters, SinusoidalAdder(self.parameters))

    def draw(self, path: Path):
        """Write the figure; needs matplotlib."""
        from .figure_sinusoidal import draw

        draw(self, path)

    def batch(self, positions: Sequence[int], words: np.ndarray) -> EmbeddingBatch:
        """Embeddings ``words`` at ``positions``."""
        return EmbeddingBatch(x=words, positions=np.array(positions), geometry=self.geometry)

    def claims(self) -> Iterator[Claim]:
        """Simulate, and yield every claim as soon as it can be judged."""
        yield from self._prefill()
        yield from self._stream()
        yield from self._chunks()

    def _prompt(self, start: int = 0) -> list[Embedding]:
        return [Embedding(data, start + n) for n, data in enumerate(self.words)]

    def _zeros(self, start: int) -> list[Embedding]:
        still = np.zeros(self.geometry.width, int)
        return [Embedding(still, start + n) for n in range(len(PROMPT))]

    def _run(
        self,
        what: str,
        tokens: list[Embedding],
        traffic: Traffic | None = None,
        later: Sequence[Image] = (),
    ) -> AdderResult:
        sink = self.watched(what, len(tokens))
        images = [Image(self.geometry.image()), *later]
        return self.bench.run(tokens, images, traffic or Traffic(sink=sink))

    def _prefill(self) -> Iterator[Claim]:
        batch = self.batch(range(len(PROMPT)), self.words)
        result = self._run("the prompt at once", self._prompt())
        self.prefill = np.stack(result.tokens)
        yield self._equal("hardware equals the golden model, bit for bit", batch, self.prefill)
        self.errors = self.prefill - batch.exact(self.lsb)
        most = float(np.abs(self.errors).max())
        holds = most < 1 and not result.run.status["saturated"]
        yield Claim("it is within 1 LSB of exact mathematics", f"at most {most:.3f} LSB", holds)
        clocks, beats = result.run.result_clocks, self.geometry.width // 8
        idle = int(clocks[-1] - clocks[0] + 1 - len(clocks))
        yield Claim(
            "one beat a clock",
            f"{beats} clocks a token, {idle} idle beats; the first beat"
            f" {clocks[0] - result.run.position_clocks[0]} clocks after its position",
            idle == 0,
        )
        stored, found = self.geometry.image().size, result.run.fingerprint
        yield Claim(
            "frequencies are all that is stored",
            f"{stored} words, whose fingerprint the hardware makes {found}",
            found == self.geometry.fingerprint,
        )

    def _stream(self) -> Iterator[Claim]:
        halves = replace(self.geometry, layout="sin-cos")
        pair = [self.words[n] for n in (QUERY, FRANCE)]
        segments = {
            "far": self._prompt(FAR),
            "farthest": self._prompt(FARTHEST),
            "rows": self._zeros(0),
            "far rows": self._zeros(FAR),
            "swapped": [Embedding(data, n) for n, data in enumerate(pair, FRANCE)],
            "halves": self._zeros(0),
        }
        tokens = [token for segment in segments.values() for token in segment]
        later = [Image(halves.image(), len(tokens) - len(PROMPT))]
        result = self._run("one stream, another layout loaded at its end", tokens, later=later)
        ends = np.cumsum([len(segment) for segment in segments.values()])
        parts = np.split(np.stack(result.tokens), ends[:-1])
        found = dict(zip(segments, parts, strict=True))
        self.rows, self.far_rows = (found[name] * self.lsb for name in ("rows", "far rows"))
        for start, name in ((FAR, "far"), (FARTHEST, "farthest")):
            batch = self.batch(range(start, start + len(PROMPT)), self.words)
            yield self._equal(f"so it does at positions {start} + n", batch, found[name])
        yield from self._formula()
        yield from self._offsets()
        yield self._swapped(found["swapped"])
        yield self._halves(found["rows"], found["halves"])

    def _swapped(self, found: np.ndarray) -> Claim:
        """The embeddings of the two tokens, each at the other's position."""
        wanted = self.prefill[[QUERY, FRANCE]]
        least = float(np.mean(found != wanted, axis=1).min())
        return Claim(
            'with "France" and "?" swapped their embeddings get other rows',
            f"{least:.0%} of their elements and more differ",
            least > 0.5,
        )

    def _halves(self, interleaved: np.ndarray, split: np.ndarray) -> Claim:
        sines, cosines = np.split(split, 2, axis=1)
        same = np.array_equal(sines, interleaved[:, ::2])
        same &= np.array_equal(cosines, interleaved[:, 1::2])
        moved = float(np.mean(split != interleaved))
        return Claim(
            "loaded as Whisper's layout, sines and cosines are in halves",
            f"the same words, {moved:.0%} of them in another place",
            same and moved > 0.5,
        )

    def _formula(self) -> Iterator[Claim]:
        first = self.rows[0].reshape(-1, 2)
        yield Claim(
            "position 0 adds 0, 1, 0, 1, …",
            f"sines {first[:, 0].min():g} … {first[:, 0].max():g}, cosines"
            f" {first[:, 1].min():g} … {first[:, 1].max():g}",
            bool((first == (0, 1)).all()),
        )
        near, apart = (
            float(np.linalg.norm(self.rows[QUERY] - self.rows[key])) for key in (FRANCE, CAPITAL)
        )
        yield Claim(
            '"France" is nearer to "?" than "capital" is',
            f"rows {near:.2f} and {apart:.2f} apart",
            near < apart,
        )

    def _offsets(self) -> Iterator[Claim]:
        """Dot products of rows, and rows turned into others, near and far."""
        limit = 2 * self.geometry.width * self.lsb  # if every element is within an LSB
        for key in (FRANCE, CAPITAL):
            offset = QUERY - key
            wanted = float(np.cos(self.frequencies * offset).sum())
            apart = [abs(float(rows[QUERY] @ rows[key]) - wanted) for rows in self._both]
            yield Claim(
                f'"?" · "{PROMPT[key]}" of the rows depends on offset {offset} only',
                f"{wanted:.3f}, to {max(apart):.1e}, and so at {FAR} + n",
                max(apart) <= limit,
            )
        turn = np.exp(-1j * self.frequencies * (QUERY - CAPITAL))  # cos − i·sin is turned so
        apart = [
            float(np.abs(_phasors(rows[CAPITAL]) * turn - _phasors(rows[QUERY])).max())
            for rows in self._both
        ]
        yield Claim(
            f'one turn by {QUERY - CAPITAL} carries the row of "capital" into that of "?"',
            f"to {max(apart):.1e}, and the same one at {FAR} + n",
            max(apart) <= 2 * self.lsb * 2**0.5,
        )

    @property
    def _both(self) -> tuple[np.ndarray, np.ndarray]:
        return self.rows, self.far_rows

    def _chunks(self) -> Iterator[Claim]:
        """The prompt in two chunks, and then token by token."""
        tokens, what = [*self._prompt(), *self._prompt()], "the prompt in chunks, and in tokens"
        sizes = [len(PROMPT) - LAST_CHUNK, LAST_CHUNK, *[1] * len(PROMPT)]
        beats = [self.geometry.width // self.parameters.beat_elements] * len(tokens)
        traffic = in_chunks(sizes, beats, self.watched(what, len(tokens)))
        chunks, decoded = np.split(np.stack(self._run(what, tokens, traffic).tokens), 2)
        for text, found in (("in two chunks it gives", chunks), ("decoding gives", decoded)):
            yield equality(f"{text} the values of prefill", {"": found}, {"": self.prefill})

    def _equal(self, text: str, batch: EmbeddingBatch, out: np.ndarray) -> Claim:
        return equality(text, {"": out}, {"": batch.golden(self.parameters)[0]})


def _phasors(row: np.ndarray) -> np.ndarray:
    """Pairs of sine and cosine as complex numbers cos − i·sin."""
    sine, cosine = row.reshape(-1, 2).T
    return cosine - 1j * sine
