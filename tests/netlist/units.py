# SPDX-License-Identifier: Apache-2.0
"""The units whose netlists are simulated: what goes in, and what golden says must come out."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.additive import (
    AlibiGeometry,
    LearnedGeometry,
    SinusoidalGeometry,
    alibi_slopes,
)
from ropeway.golden.alibi import alibi
from ropeway.golden.alibi_parameters import SLOPE_BITS, AlibiParameters
from ropeway.golden.learned import add_learned
from ropeway.golden.sinusoidal import add_sinusoidal
from ropeway.hdl.alibi import AlibiUnit
from ropeway.hdl.alibi_layouts import segment_layout
from ropeway.hdl.image_reader import image_word_layout
from ropeway.hdl.learned_adder import LearnedAdder
from ropeway.hdl.learned_ram import LearnedRam
from ropeway.hdl.sinusoidal_adder import SinusoidalAdder
from ropeway.sim.native import NativeModel
from ropeway.sim.packing import pack_packet
from tests.geometries import POSITIONS, elements
from tests.netlist.builds import items_of

ADDER = AdderParameters(lanes=1, max_width=64)
ALIBI = AlibiParameters(lanes=1)
TOKENS = 120
DIGESTED = 1200  # clocks


@dataclass
class Unit:
    """A component, the items of its input streams as integers, and what it must give for them."""

    component: Any
    inputs: dict[str, list[int]]
    results: list[int]
    fingerprint: str
    saturated: bool

    def differs(self, verilog: str | None = None, *, pause: float = 0.3) -> str | None:
        """What the component, or Verilog in its place, does not do as golden; None where it does.

        Streams idle and stall with a probability of ``pause``.
        """
        model = NativeModel(self.component, verilog=verilog)
        inputs = {
            name: items_of(items, model.streams[name].parts[0].bits)
            for name, items in self.inputs.items()
        }
        pauses = dict.fromkeys(model.streams, pause)
        run = model.run(inputs, {"o": len(self.results)}, pause=pauses, seed=1)
        wanted = items_of(self.results, model.streams["o"].parts[0].bits)
        where = np.flatnonzero((run.items["o"] != wanted).any(axis=1))
        if len(where):
            return f"{len(where)} of {len(wanted)} results, the first {where[0]}"
        model.step(DIGESTED)
        if f"{model.peek('fingerprint'):016x}" != self.fingerprint:
            return "the fingerprint"
        flags = self.component.status.shape().from_bits(model.peek("status"))
        found = {name: int(flags[name]) for name, _ in flags.shape()}
        return (
            None if found == {**dict.fromkeys(found, 0), "saturated": self.saturated} else "flags"
        )


def image_items(image: np.ndarray) -> list[int]:
    """Words of an image, the last one marked."""
    shape, last = image_word_layout(), len(image) - 1
    return [
        shape.const({"word": int(word), "last": number == last}).as_value().value
        for number, word in enumerate(image)
    ]


def packets(rows: list[np.ndarray], bits: int, beat: int) -> list[int]:
    """Beats of every row, the last one of each marked."""
    return [item for row in rows for item in pack_packet(row.reshape(-1, beat), bits)]


def adder(unit: Any, geometry: Any, add: Callable, table: np.ndarray | None = None) -> Unit:
    """An adder on tokens at positions near and far."""
    random, p = np.random.default_rng(9), ADDER
    far = [int(at) for at in random.choice(POSITIONS, TOKENS)]
    at = np.array(far if table is None else random.integers(0, len(table), TOKENS).tolist())
    data = elements(random, (TOKENS, geometry.width), p.data_bits)
    sums, saturated = add(data, at)
    inputs = {
        "i": packets(list(data), p.data_bits, p.beat_elements),
        "i_position": [place & (1 << p.position_bits) - 1 for place in at.tolist()],
        "i_load": image_items(geometry.image()),
    }
    if table is not None:
        beats = table.reshape(-1, p.beat_elements)
        inputs["i_table"] = pack_packet(beats, p.data_bits)
    results = packets(list(sums), p.data_bits, p.beat_elements)
    return Unit(unit, inputs, results, geometry.fingerprint, saturated > 0)


def sinusoidal() -> Unit:
    frequencies = tuple(Decimal(10_000) ** (Decimal(-i) / 32) for i in range(32))
    geometry = SinusoidalGeometry(width=64, inv_freq=frequencies)
    return adder(
        SinusoidalAdder(ADDER),
        geometry,
        lambda data, at: add_sinusoidal(ADDER, geometry, data, at),
    )


def learned() -> Unit:
    geometry = LearnedGeometry(rows=24, width=64)
    table = elements(np.random.default_rng(8), (24, 64), ADDER.data_bits)
    return adder(
        LearnedAdder(ADDER, LearnedRam(ADDER, 1024)),
        geometry,
        lambda data, at: add_learned(ADDER, geometry, table, data, at),
        table,
    )


def biases() -> Unit:
    """ALiBi of twelve heads: rows that go on, that follow each other and that do not."""
    random, p, heads = np.random.default_rng(7), ALIBI, 12
    geometry = AlibiGeometry(model_slopes=alibi_slopes(heads), heads=heads)
    slopes = [round(slope * (1 << SLOPE_BITS)) for slope in geometry.effective_slopes]
    scores, segments, results, saturated = [], [], [], 0
    for number in range(TOKENS):
        head, length = int(random.integers(heads)), int(random.integers(1, 40))
        query = [number, int(random.integers(0, 1 << 20))][number % 2]
        key = max(0, query - int(random.integers(0, 45)))
        some = elements(random, (length,), p.data_bits)
        out, count = alibi(
            p, slopes[head : head + 1], some[None, None], np.array([query]), key + np.arange(length)
        )
        mask = {"causal": 1, "window": 0}
        fields = {"head": head, "query": query, "key": key, "final": length - 1, "mask": mask}
        segments.append(segment_layout(p).const(fields).as_value().value)
        scores.append(some)
        results.append(out.ravel())
        saturated += count
    inputs = {
        "i": packets(scores, p.data_bits, p.lanes),
        "i_segment": segments,
        "i_load": image_items(geometry.image()),
    }
    out = packets(results, p.data_bits, p.lanes)
    return Unit(AlibiUnit(p), inputs, out, geometry.fingerprint, saturated > 0)


UNITS: dict[str, Callable[[], Unit]] = {
    "sinusoidal": sinusoidal,
    "learned": learned,
    "alibi": biases,
}
