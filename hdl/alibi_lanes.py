# SPDX-License-Identifier: Apache-2.0
"""The free-running part of an ALiBi unit: a bias for every lane, added, rounded and masked."""

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from ropeway.golden.alibi_parameters import SCALE_FRACTION_BITS, SLOPE_BITS, AlibiParameters
from ropeway.golden.fixed import limits

from .alibi_layouts import distance_shape, mask_layout
from .alibi_starts import SPLIT
from .fixed import add_with_carry, overflows
from .primitives import Multiplier
from .streams import delayed

__all__ = ["AlibiLanes", "scored_beat_layout"]


def scored_beat_layout(p: AlibiParameters) -> data.StructLayout:
    """A beat of scores and all that its bias needs.

    ``begins``: the bias is ``start``, else the last beat's and ``lanes`` slopes more; ``distance``
    is query − key of its first key; lanes beyond ``lanes`` hold no key.
    """
    return data.StructLayout(
        {
            "data": data.ArrayLayout(signed(p.data_bits), p.lanes),
            "begins": 1,
            "start": signed(p.bias_bits),
            "slope": SLOPE_BITS,
            "distance": distance_shape(p),
            "folds": 1,  # later keys count as earlier ones
            "mask": mask_layout(p),
            "lanes": range(p.lanes),
        }
    )


class AlibiLanes(wiring.Component):
    """saturate(round half up(score [· scale] + bias)), one rounding, or the most negative score.

    Biases are exact in units of 2^-48. One accumulator has the first lane's; the others are that
    and the slope, shifted and added in a tree: no multiplier. Carry chains are split in two, the
    upper half a clock behind the lower.

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
        """Clocks from a beat until the lower halves of the lanes' biases, and the scores."""
        tree = 2 + exact_log2(self._p.lanes)
        return max([tree, *(each.latency + 1 for each in self._multipliers)])

    @property
    def latency(self) -> int:
        """Clocks from a beat to its biased scores."""
        return self._summed + 4

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        p, low, high = self._p, *limits(self._p.data_bits)
        beat = Signal(self.beat.shape(), reset_less=True)
        valid = Signal()
        m.d.sync += [beat.eq(self.beat), valid.eq(self.valid)]
        biases = self._tree(m, beat.slope, *self._accumulator(m, beat, valid))
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

    def _accumulator(self, m, beat, valid) -> tuple[Value, Value]:
        """The first lane's bias; its upper half a clock later."""
        low, high = Signal(SPLIT, reset_less=True), Signal(signed(self._p.bias_bits - SPLIT))
        carry = Signal(reset_less=True)
        step = beat.slope << exact_log2(self._p.lanes)
        with m.If(valid):
            with m.If(beat.begins):
                m.d.sync += Cat(low, carry).eq(beat.start[:SPLIT])
            with m.Else():
                m.d.sync += Cat(low, carry).eq(low + step[:SPLIT])

        def waited(value, **options):
            return delayed(m, value, 1, name="upper", **options)

        begins, start = waited(beat.begins), waited(beat.start[SPLIT:].as_signed())
        step = waited(step[SPLIT:])
        with m.If(waited(valid, reset_less=False)):
            m.d.sync += high.eq(Mux(begins, start, add_with_carry(high, step, carry, len(high))))
        return low, high

    def _tree(self, m, slope, low, high) -> list[tuple[Value, Value]]:
        """Every lane's bias: halves, and their halves, by a shifted slope each."""
        biases, levels = [(low, high)], exact_log2(self._p.lanes)
        for level in range(levels):
            slope = delayed(m, slope, 1, name="slope")
            addend = slope << levels - 1 - level
            above = delayed(m, addend[SPLIT:], 1, name="addend")
            following = []
            for low, high in biases:
                total = Signal(SPLIT + 1, reset_less=True)
                upper = Signal.like(high, reset_less=True)
                m.d.sync += [
                    total.eq(low + addend[:SPLIT]),
                    upper.eq(add_with_carry(high, above, total[-1], len(high))),
                ]
                following.append(tuple(delayed(m, half, 1, name="bias") for half in (low, high)))
                following.append((total[:SPLIT], upper))
            biases = following
        spare = self._summed - 2 - levels
        return [tuple(delayed(m, half, spare) for half in bias) for bias in biases]

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
        later, hidden, empty = [], [], []
        window, causal = beat.mask.window, delayed(m, beat.mask.causal, 1, name="causal")
        windowed, beyond = Signal(reset_less=True), Signal.like(beat.distance, reset_less=True)
        m.d.sync += [windowed.eq(window.any()), beyond.eq(beat.distance - window)]
        folds = delayed(m, beat.folds, 1, name="folds")
        used = self.latency - 4  # from when masks are known until the last clock
        for lane in range(self._p.lanes):
            after, masked, absent = (
                Signal(name=f"{name}_{lane}", reset_less=True)
                for name in ("after", "masked", "absent")
            )
            m.d.sync += [
                after.eq(beat.distance < lane),
                masked.eq((after & causal) | (windowed & (beyond >= lane))),
                absent.eq(delayed(m, beat.lanes < lane, 1, name="absent")),
            ]
            later.append(delayed(m, after & folds, self._summed - 2, name=f"later_{lane}"))
            hidden.append(delayed(m, masked, used, name=f"hidden_{lane}"))
            empty.append(delayed(m, absent, used, name=f"empty_{lane}"))
        return later, hidden, empty

    def _total(self, m, bias, score, folded) -> Value:
        """Two clocks: bias, or its negative, and score."""
        low, high = bias
        width = max(self._p.bias_bits, len(score)) + 1 - SPLIT
        score = score.as_signed()
        total = Signal(SPLIT + 1, reset_less=True)
        upper = Signal(signed(width), reset_less=True)
        mask = folded.replicate(SPLIT)
        # The negative's one and the half that rounds never share a bit.
        m.d.sync += total.eq((low ^ mask) + (score[:SPLIT] | folded))
        mask = delayed(m, folded, 1, name="folded").replicate(width).as_signed()
        above = delayed(m, (score >> SPLIT).as_signed(), 1, name="above")
        m.d.sync += upper.eq(add_with_carry(high ^ mask, above, total[-1], width))
        below = delayed(m, total[:SPLIT], 1, name="below")
        return Cat(below, upper)[self._p.dropped_bits :].as_signed()

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
