# SPDX-License-Identifier: Apache-2.0
"""Takes the image of a unit's only geometry: a barrier, a check and a digest."""

from amaranth import *
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from ropeway.golden.table import identification

from .digest import Digest
from .streams import delayed

__all__ = ["ImageReader", "image_word_layout"]

COUNTED = 4  # clocks from `closed` until what was accepted before it shows in `idle`
SETTLED = 8  # clocks from the last word until the user's verdict on its header is sampled


def image_word_layout() -> data.StructLayout:
    """A word of an image, and whether it is the last."""
    return data.StructLayout({"word": 32, "last": 1})


class ImageReader(wiring.Component):
    """Reads one scheme's image for a unit that holds one geometry at a time.

    A load is a barrier: while one is offered nothing more is accepted, its first word is taken when
    all that was accepted is finished, and what comes after it finds the new geometry. So nothing
    has to be refused. An image of another scheme, of a wrong length or not ``served`` leaves the
    unit without a geometry.

    A word a clock; the next load waits until this one is digested, eight clocks a word.

    Parameters
    ----------
    scheme : the image's number, as in golden/additive.py
    limit : words in the longest image

    Ports
    -----
    i_load : stream of words
    idle : In
        Nothing that was accepted is unfinished.
    valid, index, word : Out
        For one clock: this word of the image has arrived.
    expected, served : In
        How many words the header makes the image, and whether the unit can serve it; sampled 8
        clocks after the last word.
    closed : Out
        Nothing may be accepted.
    loaded : Out
        There is a geometry.
    malformed : Out
        For one clock: an image was none for this unit.
    fingerprint : Out
        The CRC-64 of the image, 0 until digested.
    """

    i_load: stream.Interface
    idle: Signal
    valid: Signal
    index: Signal
    word: Signal
    expected: Signal
    served: Signal
    closed: Signal
    loaded: Signal
    malformed: Signal
    fingerprint: Signal

    def __init__(self, scheme: int, limit: int):
        self._scheme, self._limit = scheme, limit
        super().__init__(
            {
                "i_load": In(stream.Signature(image_word_layout())),
                "idle": In(1),
                "valid": Out(1),
                "index": Out(bits_for(limit)),
                "word": Out(32),
                "expected": In(bits_for(limit)),
                "served": In(1),
                "closed": Out(1, init=1),
                "loaded": Out(1),
                "malformed": Out(1),
                "fingerprint": Out(64),
            }
        )

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.digest = digest = Digest(self._limit)
        admitted, begins, digesting, judged = Signal(), Signal(init=1), Signal(), Signal()
        taken, ends, last = Signal(), Signal(), Signal()

        # The barrier: closed as soon as a load is offered, and then idle for good.
        counted = Cat(
            delayed(m, self.closed, clocks, reset_less=False, name=f"closed_{clocks}")
            for clocks in range(1, COUNTED + 1)
        )
        offered = self.i_load.valid & ~digesting
        m.d.comb += [
            self.i_load.ready.eq(admitted),
            taken.eq(self.i_load.valid & admitted),
            ends.eq(taken & self.i_load.payload.last),
        ]
        m.d.sync += self.closed.eq(~self.loaded | offered)
        with m.If(ends):
            m.d.sync += [admitted.eq(0), digesting.eq(1)]
        with m.Elif(offered & ~admitted & counted.all() & self.closed & self.idle):
            m.d.sync += [admitted.eq(1), self.loaded.eq(0), self.fingerprint.eq(0)]
        with m.If(digest.done):
            m.d.sync += digesting.eq(0)

        # Words, up to as many as fit.
        number, whole = Signal.like(self.index), Signal()
        wrong, good = Signal(), Signal()
        m.d.sync += [
            self.valid.eq(taken & (number != self._limit)),
            last.eq(ends),
            self.word.eq(self.i_load.payload.word),
            self.index.eq(number),
        ]
        with m.If(taken):
            m.d.sync += number.eq(number + (number != self._limit))
            m.d.sync += wrong.eq((wrong & ~begins) | (number == self._limit))
            m.d.sync += begins.eq(0)
        with m.If(judged):
            m.d.sync += [number.eq(0), begins.eq(1), self.loaded.eq(good)]
        strange = Signal()
        with m.If(self.valid & (self.index == 0)):
            m.d.sync += strange.eq(self.word != identification(self._scheme))

        # The verdict.
        m.d.sync += [
            whole.eq(number == self.expected),
            good.eq(whole & ~wrong & ~strange & self.served),
            judged.eq(delayed(m, ends, SETTLED, reset_less=False, name="ended")),
            self.malformed.eq(judged & ~good),
        ]
        with m.If(digest.done & self.loaded):
            m.d.sync += self.fingerprint.eq(digest.fingerprint)
        m.d.comb += [
            digest.valid.eq(self.valid | last),
            digest.word.eq(self.word),
            digest.last.eq(last),
        ]
        return m
