# SPDX-License-Identifier: Apache-2.0
"""The prompt through BLOOM's attention scores: a bias by distance, made by additions alone."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from ropeway.golden import InputError, geometry_of
from ropeway.golden.additive import AlibiGeometry
from ropeway.golden.alibi import Form
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.engines import Progress, silent
from ropeway.golden.fixed import limits
from ropeway.golden.score_batch import ScoreBatch

from .alibi_bench import AlibiBench, AlibiResult, Segment
from .bench import Traffic
from .demo import Claim, Demonstration, equality, in_chunks
from .prompt import CAPITAL, FAR, FRANCE, PROMPT, QUERY
from .unit_bench import Image

__all__ = ["AlibiDemonstration"]

CONFIG = "bloom"
EVERYTHING = range(len(PROMPT))
PAGE = 4  # keys
LONG_ROW = 512
LONG_HEADS = 8


class AlibiDemonstration(Demonstration):
    """Everything ``ropeway demo`` shows of ALiBi; words are scores in units of ``lsb``.

    After ``claims``, ``prefill`` has the biased scores, [queries, heads, keys], and ``errors`` the
    unmasked ones' distance from exact mathematics, in LSB.
    """

    scheme = "alibi"
    heading = """through a BLOOM layer's scores:
112 heads, no bias matrix; 4 lanes of 16 bits, simulated clock by clock"""

    def __init__(self, progress: Progress = silent, config: str | Path = CONFIG):
        super().__init__(progress)
        geometry = geometry_of(config)
        if not isinstance(geometry, AlibiGeometry):
            raise InputError("scheme", geometry.scheme, "must be alibi here")
        self.geometry = geometry
        self.parameters = AlibiParameters(fraction_bits=12)
        self.lsb = 2.0**-self.parameters.fraction_bits
        shape = (len(PROMPT), geometry.heads, len(PROMPT))
        scores = np.random.default_rng(2017).normal(0, 0.5, shape).clip(-2, 2)
        self.words = np.round(scores / self.lsb).astype(np.int16)
        self.slopes = np.array(geometry.effective_slopes, float) / self.lsb

    @cached_property
    def bench(self) -> AlibiBench:
        """The unit, elaborated when it is first asked for and never again."""
        return AlibiBench(self.parameters)

    def draw(self, path: Path):
        """Write the figure; needs matplotlib."""
        from .figure_alibi import draw

        draw(self, path)

    def batch(self, start: int = 0) -> ScoreBatch:
        """The prompt's scores from position ``start``."""
        at = np.arange(start, start + len(PROMPT))
        return ScoreBatch(scores=self.words, queries=at, keys=at, geometry=self.geometry)

    def claims(self) -> Iterator[Claim]:
        """Simulate, and yield every claim as soon as it can be judged."""
        yield from self._prefill()
        yield from self._stream()
        yield from self._decode()

    def _rows(
        self,
        queries: Sequence[int] = EVERYTHING,
        keys: Sequence[int] = EVERYTHING,
        *,
        start: int = 0,
        key_start: int | None = None,
        counted_from: int = 0,
        heads: slice = slice(None),
        form: Form = Form.DISTANCE,
    ) -> list[Segment]:
        """Segments of the prompt's scores, query by query and head by head.

        Positions are from ``start``, or those of keys from ``key_start``; the first of ``heads`` is
        told as number ``counted_from``.
        """
        first = (start if key_start is None else key_start) + keys[0]
        return [
            Segment(row, counted_from + number, start + query, first, form)
            for query in queries
            for number, row in enumerate(self.words[query, heads][:, list(keys)])
        ]

    def _run(
        self, what: str, segments: list[Segment], traffic: Traffic | None = None
    ) -> AlibiResult:
        sink = self.watched(what, len(segments))
        images = [Image(self.geometry.image())]
        return self.bench.run(segments, images, traffic or Traffic(sink=sink))

    def _table(self, segments: list[np.ndarray]) -> np.ndarray:
        """Rows of the same heads and keys as scores, [queries, heads, keys]."""
        return np.stack(segments).reshape(-1, self.geometry.heads, len(segments[0]))

    def _prefill(self) -> Iterator[Claim]:
        batch, heads = self.batch(), self.geometry.heads
        result = self._run("the prompt at once", self._rows())
        self.prefill = out = self._table(result.segments)
        yield self._equal("hardware equals the golden model, bit for bit", batch, out)
        shown = np.broadcast_to(~batch.masked[:, None], out.shape)
        self.errors = (out - batch.exact(self.lsb))[shown]
        most = float(np.abs(self.errors).max())
        holds = most <= 0.51 and not result.run.status["saturated"]
        yield Claim("it is within ½ LSB of exact mathematics", f"at most {most:.3f} LSB", holds)
        bias = out - self.words
        for key in (FRANCE, CAPITAL):
            offset = QUERY - key
            apart = float(np.abs(bias[QUERY, :, key] + offset * self.slopes).max())
            yield Claim(
                f'score of "?" with "{PROMPT[key]}" falls by {offset} slope{"s" * (offset > 1)}',
                f"in each of {heads} heads, to {apart:.2f} LSB",
                apart <= 0.51,
            )
        lowest = limits(self.parameters.data_bits)[0]
        masks = bool((out[~shown] == lowest).all() and (out[shown] > lowest).all())
        seen = f"{np.count_nonzero(out == lowest)} of {out.size} scores are {lowest}"
        yield Claim("keys after the query are masked, and no others", seen, masks)
        image, found = self.geometry.image(), result.run.fingerprint
        yield Claim(
            "slopes are all that is stored",
            f"{image.size} words, whose fingerprint the hardware makes {found}",
            found == self.geometry.fingerprint,
        )

    def _stream(self) -> Iterator[Claim]:
        last, half = [QUERY], self.geometry.heads // 2
        worker = slice(half, None)
        segments = {
            "far": self._rows(start=FAR),
            "first chunk": self._rows(range(PAGE), range(PAGE)),
            "one page": self._rows(range(PAGE, len(PROMPT)), range(PAGE)),
            "the next": self._rows(range(PAGE, len(PROMPT)), range(PAGE, len(PROMPT))),
            "key form": self._rows(last, form=Form.KEY),
            "worker": self._rows(last, heads=worker, counted_from=half),
            "from 0": self._rows(last, heads=worker),
            "long": [
                Segment(np.zeros(LONG_ROW, int), head, LONG_ROW - 1, 0) for head in self._gentle
            ],
            "back": self._rows(last, start=FAR, key_start=0),
        }
        result = self._run("one stream", [row for rows in segments.values() for row in rows])
        found, at = dict[str, list[np.ndarray]](), 0
        for name, rows in segments.items():
            found[name] = result.segments[at : at + len(rows)]
            at += len(rows)
        far, near = self._table(found["far"]), self.prefill
        yield equality(f"it is the same at positions {FAR} + n", {"": far}, {"": near})
        yield from self._chunks(found)
        yield self._forms(self._table(found["key form"])[0])
        yield from self._workers(np.stack(found["worker"]), np.stack(found["from 0"]))
        yield self._rate(result, len(segments["long"]), len(segments["back"]))
        lowest = limits(self.parameters.data_bits)[0]
        held = bool((np.stack(found["back"]) == lowest).all())
        yield Claim(
            f"{FAR} tokens back a score is saturated and flagged, and never wraps",
            f"saturated = {result.run.status['saturated']}",
            held and result.run.status["saturated"] == 1,
        )

    @property
    def _gentle(self) -> list[int]:
        """Heads whose slopes do not saturate a long row."""
        most = limits(self.parameters.data_bits)[1]
        return np.flatnonzero(self.slopes * LONG_ROW < most)[:LONG_HEADS].tolist()

    def _chunks(self, found: dict[str, list[np.ndarray]]) -> Iterator[Claim]:
        """A second chunk of queries, its keys page by page."""
        pages = [self._table(found[name]) for name in ("one page", "the next")]
        out = {"first": self._table(found["first chunk"]), "rest": np.concatenate(pages, axis=2)}
        wanted = {"first": self.prefill[:PAGE, :, :PAGE], "rest": self.prefill[PAGE:]}
        yield equality("in two chunks, keys in pages, it gives the values of prefill", out, wanted)

    def _forms(self, out: np.ndarray) -> Claim:
        """BLOOM adds slope · key: more by slope · query, the same for all keys."""
        apart = out - self.prefill[QUERY] - QUERY * self.slopes[:, None]
        most = float(np.abs(apart).max())
        return Claim(
            "BLOOM's own slope · key differs by a constant a row: one softmax",
            f"slope · {QUERY} at every key, to {most:.2f} LSB",
            most <= 1.01,
        )

    def _workers(self, own: np.ndarray, from_zero: np.ndarray) -> Iterator[Claim]:
        """The second half of the heads, on a worker that has no others."""
        half, wanted = len(own), self.prefill[QUERY, -len(own) :]
        yield equality(
            f"worker 2 of 2 gives heads {half} … {2 * half - 1} the whole model's slopes",
            {"": own},
            {"": wanted},
        )
        wrong = int(np.count_nonzero((from_zero != wanted).any(axis=1)))
        yield Claim(
            "counting its heads from 0 it would not", f"{wrong} of {half} differ", wrong == half
        )

    def _rate(self, result: AlibiResult, rows: int, after: int) -> Claim:
        beats = LONG_ROW // self.parameters.lanes
        clocks = result.run.result_clocks[: -after * -(-len(PROMPT) // self.parameters.lanes)]
        taken = clocks[-rows * beats :]
        idle = int(taken[-1] - taken[0] + 1 - len(taken))
        return Claim(
            f"rows of {LONG_ROW} keys take {self.parameters.lanes} keys a clock",
            f"{rows} heads one after the other, {idle} idle beats",
            idle == 0,
        )

    def _decode(self) -> Iterator[Claim]:
        """One query at a time, with the keys that there are by then."""
        heads, what = self.geometry.heads, "the prompt token by token"
        rows = [row for query in EVERYTHING for row in self._rows([query], range(query + 1))]
        beats = [-(-len(row.scores) // self.parameters.lanes) for row in rows]
        sink = self.watched(what, len(rows))
        result = self._run(what, rows, in_chunks([heads] * len(PROMPT), beats, sink))
        out = {str(n): np.stack(result.segments[n * heads : (n + 1) * heads]) for n in EVERYTHING}
        wanted = {str(n): self.prefill[n, :, : n + 1] for n in EVERYTHING}
        yield equality("decoding one token at a time gives the values of prefill", out, wanted)

    def _equal(self, text: str, batch: ScoreBatch, out: np.ndarray) -> Claim:
        return equality(text, {"": out}, {"": batch.golden(self.parameters, self.lsb)[0]})
