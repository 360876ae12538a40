# SPDX-License-Identifier: Apache-2.0
"""The free-running part of an ALiBi unit: a bias for every lane, added, rounded and masked."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from ropeway.golden.alibi_parameters import SCALE_FRACTION_BITS, AlibiParameters
from ropeway.golden.fixed import limits

from .alibi_layouts import scored_beat_layout
from .fixed import overflows
from .multipliers import Multiplier
from .skewed import PIECE, pieces, skewed_add, straightened, summed
from .streams import delayed

__all__ = ["AlibiLanes"]


class AlibiLanes(wiring.Component):
    """saturate(round half up(score [· scale] + bias)), one rounding, or the most negative score.

    Biases are exact in units of 2^-48. One accumulator has the first lane's; the others are that
    and the slope, shifted and added in a tree: no multiplier. Sums are in pieces, see skewed.py.

    Latency: see ``latency``; a beat a clock, and clocks between beats do not matter.

    Ports
    -----
    valid, beat : In
    scale : In, units of 2^-17, with ``scaled``
    scores : Out, one a lane
    saturated : Out
        A score that is not masked did not fit.
    """

    def __init__(self, p: AlibiParameters):
        self._p = p
        self._multipliers = [
            Multiplier(signed(p.data_bits), SCALE_FRACTION_BITS + 1)
            for _ in range(p.lanes if p.scaled else 0)
        ]
        scores = data.ArrayLayout(signed(p.data_bits), p.lanes)
        super().__init__(
            {
                "valid": In(1),
                "beat": In(scored_beat_layout(p)),
                "scores": Out(scores),
                "saturated": Out(1),
            }
            | ({"scale": In(SCALE_FRACTION_BITS + 1)} if p.scaled else {})
        )

    @property
    def _summed(self) -> int:
        """Clocks from a beat until the lowest pieces of the lanes' biases, and the scores."""
        tree = 2 + exact_log2(self._p.lanes)
        return max([tree, *(each.latency + 1 for each in self._multipliers)])

    @property
    def latency(self) -> int:
        """Clocks from a beat to its biased scores."""
        return self._summed + len(range(0, self._total_bits, PIECE)) + 2

    @property
    def _total_bits(self) -> int:
        """Bits of the sum of a bias and a score."""
        p = self._p
        score = p.data_bits + p.dropped_bits + (2 if p.scaled else 0)
        return max(p.bias_bits, score) + 1

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p, low, high = self._p, *limits(self._p.data_bits)
        beat = Signal(self.beat.shape(), reset_less=True)
        valid = Signal()
        m.d.sync += [beat.eq(self.beat), valid.eq(self.valid)]
        biases = self._tree(m, beat.slope, self._accumulator(m, beat, valid))
        scores = self._scores(m, beat)
        later, hidden, empty = self._keys(m, beat)

        saturated = Signal(p.lanes)
        for lane, (score, bias) in enumerate(zip(scores, biases, strict=True)):
            total = self._total(m, bias, score, later[lane])
            word, over, sign = self._fits(m, total)
            out = Signal(signed(p.data_bits), name=f"out_{lane}", reset_less=True)
            m.d.sync += [
                out.eq(Mux(over, Mux(sign, low, high), word)),
                saturated[lane].eq(over & ~hidden[lane] & ~empty[lane]),
            ]
            with m.If(hidden[lane]):
                m.d.sync += out.eq(low)
            with m.If(empty[lane]):
                m.d.sync += out.eq(0)
            m.d.comb += self.scores[lane].eq(out)
        gives = delayed(m, self.valid, self.latency, reset_less=False, name="valid")
        m.d.comb += self.saturated.eq(saturated.any() & gives)
        return m

    def _accumulator(self, m, beat, valid) -> list[Value]:
        """The first lane's bias, in pieces."""
        width, carry, bias = self._p.bias_bits, C(0, 1), []
        starts = pieces(beat.start, width)
        steps = pieces(beat.slope << exact_log2(self._p.lanes), width)
        for number, (start, step) in enumerate(zip(starts, steps, strict=True)):

            def waited(value, *, clocks=number, **options):
                return delayed(m, value, clocks, name=f"waited_{clocks}", **options)

            total = Signal(len(start) + 1, reset_less=True, name=f"bias_{number}")
            enable = waited(valid, reset_less=False)
            following = summed(total[:-1], waited(step), carry)
            following = Mux(waited(beat.begins), waited(start), following)
            with m.If(enable):
                m.d.sync += total.eq(following)
            carry = total[-1]
            bias.append(total[:-1])
        return bias

    def _tree(self, m, slope, bias) -> list[list[Value]]:
        """Every lane's bias: the first one's, and those and a shifted slope, level by level."""
        biases, levels = [bias], exact_log2(self._p.lanes)
        for level in range(levels):
            slope = delayed(m, slope, 1, name="slope")
            addends = [
                delayed(m, piece, number, name="addend")
                for number, piece in enumerate(
                    pieces(slope << levels - 1 - level, self._p.bias_bits)
                )
            ]
            following = []
            for some in biases:
                following.append([delayed(m, piece, 1, name="bias") for piece in some])
                following.append(skewed_add(m, some, addends, C(0, 1)))
            biases = following
        spare = self._summed - 2 - levels
        return [[delayed(m, piece, spare) for piece in some] for some in biases]

    def _scores(self, m, beat) -> list[Value]:
        """Every lane's score in units of the bias, and the half that rounds."""
        p, scores = self._p, []
        for lane in range(p.lanes):
            if not p.scaled:
                held = delayed(m, beat.data[lane], self._summed - 1, name=f"score_{lane}")
                scores.append(Cat(C(1 << p.dropped_bits - 1, p.dropped_bits), held))
                continue
            multiplier = self._multipliers[lane]
            m.submodules[f"scaled_{lane}"] = multiplier
            m.d.comb += [multiplier.a.eq(self.beat.data[lane]), multiplier.b.eq(self.scale)]
            rounded = Signal(signed(len(multiplier.p) + 1), name=f"rounded_{lane}", reset_less=True)
            m.d.sync += rounded.eq(multiplier.p + (1 << SCALE_FRACTION_BITS - 1))
            held = delayed(m, rounded, self._summed - 1 - multiplier.latency, name="score")
            scores.append(Cat(C(0, p.dropped_bits - SCALE_FRACTION_BITS), held))
        return scores

    def _keys(self, m, beat) -> tuple[list[Value], list[Value], list[Value]]:
        """Of every lane: whether its bias is folded, its score masked, and whether it has a key."""
        p, used = self._p, self.latency - 5  # from when masks are known until the last clock
        later, hidden, empty = [], [], []
        folds = delayed(m, beat.folds, 1, name="folds")
        causal = delayed(m, beat.mask.causal, 2, name="causal")
        outside, by = self._windowed(m, beat)
        for lane in range(p.lanes):
            after, masked, absent = (
                Signal(name=f"{name}_{lane}", reset_less=True)
                for name in ("after", "masked", "absent")
            )
            held = delayed(m, after, 1, name="held")
            m.d.sync += [
                after.eq(beat.distance < lane),
                masked.eq((held & causal) | (outside & (by >= lane))),
                absent.eq(delayed(m, beat.lanes < lane, 2, name="absent")),
            ]
            later.append(delayed(m, after & folds, self._summed - 2, name=f"later_{lane}"))
            hidden.append(delayed(m, masked, used, name=f"hidden_{lane}"))
            empty.append(delayed(m, absent, used, name=f"empty_{lane}"))
        return later, hidden, empty

    def _windowed(self, m, beat) -> tuple[Value, Value]:
        """Two clocks: whether a window ends before the beat's first key, and by how many keys.

        As many as there are lanes, or more, count as one fewer than that.
        """
        lanes, window = exact_log2(self._p.lanes), beat.mask.window
        windowed, beyond = Signal(reset_less=True), Signal.like(beat.distance, reset_less=True)
        outside, by = Signal(reset_less=True), Signal(lanes, reset_less=True)
        m.d.sync += [
            windowed.eq(window.any()),
            beyond.eq(beat.distance - window),
            outside.eq(windowed & ~beyond[-1]),
            by.eq(beyond[:lanes] | beyond[lanes:-1].any().replicate(lanes)),
        ]
        return outside, by

    def _total(self, m, bias, score, folded) -> Value:
        """Bias, or its negative, and score; a clock a piece."""
        width = self._total_bits
        top = [
            delayed(m, piece, number, name="top")
            for number, piece in enumerate(
                pieces(bias[-1].as_signed(), width - PIECE * (len(bias) - 1))
            )
        ]
        scores = pieces(score.as_signed() | folded, width)
        signs = [delayed(m, folded, number, name="folded") for number in range(len(scores))]
        # The negative's one and the half that rounds never share a bit.
        left = [
            piece ^ sign.replicate(len(piece))
            for piece, sign in zip([*bias[:-1], *top], signs, strict=True)
        ]
        right = [delayed(m, piece, number) for number, piece in enumerate(scores)]
        total = straightened(m, skewed_add(m, left, right, C(0, 1), "total"))
        return total[self._p.dropped_bits :].as_signed()

    def _fits(self, m, total) -> tuple[Value, Value, Value]:
        """One clock: a word of it, whether it overflowed, and its sign."""
        word = Signal(signed(self._p.data_bits), reset_less=True)
        over, sign = Signal(reset_less=True), Signal(reset_less=True)
        m.d.sync += [
            word.eq(total),
            over.eq(overflows(total, self._p.data_bits)),
            sign.eq(total[-1]),
        ]
        return word, over, sign
