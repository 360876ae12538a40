# SPDX-License-Identifier: Apache-2.0
"""The prompt through a Llama-3.1-8B layer: rotations, and tables loaded while they go on."""

from collections.abc import Iterator
from functools import cached_property
from math import sqrt
from pathlib import Path

import numpy as np

from ropeway.golden import RopeGeometry, geometry_of
from ropeway.golden.batch import RopeBatch, rope_geometry
from ropeway.golden.engines import Progress, exact, golden, silent
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.words import to_words, unsaturated_lsb

from .bench import EngineBench, Load, Result, Token, Traffic
from .demo import Claim, Demonstration, equality, in_chunks
from .prompt import CAPITAL, FAR, FRANCE, PROMPT, QUERY, Heads, norms, prompt_heads, scores
from .simulate import Timing, heads_of, tokens_of

__all__ = ["RopeDemonstration"]

CONFIG = "llama-3.1-8b"
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}
FREE_SLOT = 1
LOAD_AFTER = 2  # tokens out, before the new table is offered


class RopeDemonstration(Demonstration):
    """Everything ``ropeway demo`` shows of rotary positions.

    After ``claims``, ``prefill``, ``far`` and ``yarn`` hold heads that came out, ``stream`` and
    ``stream_segments`` the run that reloads.
    """

    scheme = "rope"
    heading = """through a Llama-3.1-8B layer:
32 + 8 + 8 heads of 128, half-split, llama3; 4 lanes of 16 bits, simulated clock by clock"""

    def __init__(self, progress: Progress = silent, config: str | Path = CONFIG):
        super().__init__(progress)
        self.geometry = rope_geometry(geometry_of(config))
        self.yarn_geometry = rope_geometry(geometry_of(config, scaling=YARN))
        self.parameters = RopeParameters(lanes=4)
        bits = self.parameters.data_bits
        growth = sqrt(2) * self.yarn_geometry.attention_factor
        prompt = prompt_heads(self.geometry)
        self.scale = {k: unsaturated_lsb(heads, bits, growth) for k, heads in prompt.items()}
        self.words: Heads = {
            kind: to_words(kind, heads, bits, self.scale[kind]) for kind, heads in prompt.items()
        }

    @cached_property
    def bench(self) -> EngineBench:
        """The engine, elaborated when it is first asked for and never again."""
        return EngineBench(self.parameters)

    def batch(self, start: int = 0, geometry: RopeGeometry | None = None) -> RopeBatch:
        """The prompt from position ``start``."""
        return RopeBatch(
            heads=self.words,
            positions=np.arange(start, start + len(PROMPT)),
            geometries=(geometry or self.geometry,),
        )

    def claims(self) -> Iterator[Claim]:
        """Simulate, and yield every claim as soon as it can be judged."""
        yield from self._prefill()
        yield from self._stream()
        yield from self._decode()

    def draw(self, path: Path):
        """Write the figure; needs matplotlib."""
        from .figure_rope import draw

        draw(self, path)

    def _run(
        self, what: str, tokens: list[Token], loads: list[Load], traffic: Traffic | None = None
    ) -> Result:
        sink = self.watched(what, len(tokens))
        return self.bench.run(tokens, loads, traffic or Traffic(sink=sink))

    def _prefill(self) -> Iterator[Claim]:
        batch = self.batch()
        table = batch.tables[0]
        result = self._run("the prompt at once", tokens_of(batch), [Load(0, table)])
        self.prefill = out = heads_of(batch, result.packets)

        yield self._equal("hardware equals the golden model, bit for bit", batch, out)
        ideal = exact(batch)
        self.errors = np.concatenate([out[k] - ideal[k] for k in batch.rotated], axis=1)
        most = float(np.abs(self.errors).max())
        yield Claim("it is within 1 LSB of exact mathematics", f"at most {most:.3f} LSB", most < 1)
        same = np.array_equal(out["v"], self.words["v"])
        yield Claim("V passes unchanged", f"{out['v'].size} elements", same)
        change = max(
            float(np.abs(norms(out[kind]) / norms(self.words[kind]) - 1).max()) for kind in "qk"
        )
        allowed = sqrt(table.head_dim) / min(float(norms(self.words[kind]).min()) for kind in "qk")
        yield Claim("norms of Q and K are kept", f"to {change:.1e}", change <= allowed)
        timing, beats = Timing.of(result), self.parameters.clocks_per_token(table)
        yield Claim(
            "one beat a clock",
            f"{timing.clocks_per_token:g} clocks a token of {beats} beats; the first beat"
            f" {timing.first_beat_latency} clocks after its position",
            timing.clocks_per_token == beats,
        )

    def _stream(self) -> Iterator[Claim]:
        far, yarn = self.batch(FAR), self.batch(0, self.yarn_geometry)
        pair = [tokens_of(self.batch())[number] for number in (FRANCE, QUERY)]
        swapped = [self._moved(pair[1], FRANCE), self._moved(pair[0], QUERY)]
        still = [self._moved(token, n, bypass=True) for n, token in enumerate(pair, FRANCE)]
        turned = [self._moved(token, n, bypass=True) for n, token in enumerate(pair[::-1], FRANCE)]
        segments = {
            f"positions {FAR} + n": tokens_of(far),
            "two swapped": swapped,
            "positions off": still + turned,
            "in the YaRN slot": tokens_of(yarn, FREE_SLOT),
        }
        tokens = [token for segment in segments.values() for token in segment]
        loads = [Load(0, far.tables[0]), Load(FREE_SLOT, yarn.tables[0], after=LOAD_AFTER)]
        self.stream = result = self._run("one stream, a table loaded meanwhile", tokens, loads)
        self.stream_segments = {name: len(segment) for name, segment in segments.items()}

        ends = np.cumsum(list(self.stream_segments.values()))
        parts = [result.packets[end - n : end] for end, n in zip(ends, self._sizes, strict=True)]
        self.far, self.yarn = heads_of(far, parts[0]), heads_of(yarn, parts[3])
        yield self._equal(f"so it does at positions {FAR} + n", far, self.far)
        yield from self._offsets()
        yield from self._order(heads_of(far, parts[1]), heads_of(far, parts[2]))
        yield self._reload(result, far.tables[0].image().size, yarn.tables[0].image().size)
        yield self._equal("the prompt in that slot gives YaRN's outputs", yarn, self.yarn)
        changed = np.mean([np.mean(self.yarn[kind] != self.prefill[kind]) for kind in "qk"])
        yield Claim(
            "keys already cached belong to the old geometry",
            f"{changed:.0%} of Q and K differ: rotate cached keys anew before mixing",
            bool(changed > 0.5),
        )

    @property
    def _sizes(self) -> list[int]:
        return list(self.stream_segments.values())

    def _offsets(self) -> Iterator[Claim]:
        """Scores at 100 000 + n against those at n, within what rounding to 1 LSB can do."""
        near = scores(self.prefill["q"], self.prefill["k"])
        apart = np.abs(scores(self.far["q"], self.far["k"]) - near)
        limit = self._score_limit()
        for key in (FRANCE, CAPITAL):
            offset = QUERY - key
            change = float((apart[:, QUERY, key] / limit[:, QUERY, key]).max())
            yield Claim(
                f'score of "?" with "{PROMPT[key]}" depends on offset {offset} only',
                f"the same at {FAR} + n, to {self._share(apart[:, QUERY, key]):.1e} of |q||k|",
                change <= 1,
            )

    def _score_limit(self) -> np.ndarray:
        """How far two scores of turned vectors can be apart if every element is within 1 LSB.

        Each is off by at most |q|₁ + |k|₁ + head_dim; [heads, q, k].
        """
        group = self.geometry.heads // self.geometry.kv_heads
        size = {kind: np.abs(self.prefill[kind]).sum(axis=-1, dtype=np.float64) for kind in "qk"}
        keys = np.repeat(size["k"], group, axis=1).T
        return 2 * (size["q"].T[:, :, None] + keys[:, None, :] + self.geometry.head_dim)

    def _share(self, change: np.ndarray) -> float:
        """The largest change of scores as a share of |q||k|."""
        q = norms(self.words["q"])[QUERY]
        k = np.repeat(norms(self.words["k"]).min(axis=0), len(q) // self.geometry.kv_heads)
        return float((change / (q * k)).max())

    def _order(self, swapped: Heads, off: Heads) -> Iterator[Claim]:
        """The later token's query with the earlier one's key; then France and ? change places."""
        near = scores(self.prefill["q"], self.prefill["k"])[:, QUERY, FRANCE]
        other = scores(swapped["q"], swapped["k"])[:, 0, 1]  # the query stands before the key now
        change = np.abs(other - near)
        limit = self._score_limit()[:, QUERY, FRANCE]
        yield Claim(
            'with "France" and "?" swapped the same two vectors score differently',
            f"in {np.count_nonzero(change > limit)} of {len(change)} heads",
            bool((change > limit).mean() > 0.9),
        )
        plain = scores(off["q"], off["k"])
        same = np.array_equal(plain[:, 1, 0], plain[:, 2, 3])
        yield Claim("with positions off they score alike", "equal" if same else "unequal", same)

    def _reload(self, result: Result, first: int, second: int) -> Claim:
        load = result.load_clocks[first : first + second]
        out = result.result_clocks
        beats = self.parameters.clocks_per_token(self.batch().tables[0])
        entered = int(out[-len(PROMPT) * beats])
        during = out[out >= load[0]]
        idle = int(during[-1] - during[0] + 1 - len(during))
        return Claim(
            "a YaRN table goes into a free slot of the running engine",
            f"{second} words in {int(load[-1] - load[0]) + 1} clocks, {idle} idle beats",
            idle == 0 and bool(out[0] < load[0] and load[-1] < entered),
        )

    def _decode(self) -> Iterator[Claim]:
        """Nothing of a token goes in before all of the one before has come out."""
        batch, what = self.batch(), "the prompt token by token"
        beats = [self.parameters.clocks_per_token(batch.tables[0])] * batch.tokens
        traffic = in_chunks([1] * batch.tokens, beats, self.watched(what, batch.tokens))
        result = self._run(what, tokens_of(batch), [Load(0, batch.tables[0])], traffic)
        out = heads_of(batch, result.packets)
        yield equality(
            "decoding one token at a time gives the values of prefill", out, self.prefill
        )

    def _equal(self, text: str, batch: RopeBatch, out: Heads) -> Claim:
        return equality(text, out, golden(self.parameters, batch)[0])

    @staticmethod
    def _moved(token: Token, position: int, *, bypass: bool = False) -> Token:
        return Token(token.data, position, token.slot, bypass=bypass)
