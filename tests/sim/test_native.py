# SPDX-License-Identifier: Apache-2.0
"""The native model moves what it is given, keeps the stream rules and sees who breaks them."""

from functools import lru_cache

import numpy as np
import pytest
from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ropeway.hdl.skid import Skid
from ropeway.sim.native import NativeModel, StreamRuleError

WIDTHS = (1, 8, 9, 16, 17, 32, 33, 64, 65, 1024)
AXI_STREAM = {"tdata": 72, "tkeep": 9, "tlast": 1, "tuser": 3}
FRAME = data.StructLayout({"value": 40, "last": 1})
FALLS, CHANGES = 1, 2


def axi_stream() -> wiring.Signature:
    parts = {name: Out(bits) for name, bits in AXI_STREAM.items()}
    return wiring.Signature(parts | {"tvalid": Out(1), "tready": In(1)})


class Sampler(wiring.Component):
    """Register slices of every width, an AXI-Stream one, one of packets, and a faulty source.

    ``count`` counts the clocks since reset in which ``step`` was set, in 80 bits.
    """

    def __init__(self):
        ports = {}
        for bits in WIDTHS:
            ports |= {
                f"i{bits}": In(stream.Signature(bits)),
                f"o{bits}": Out(stream.Signature(bits)),
            }
        super().__init__(
            ports
            | {"s_axis": In(axi_stream()), "m_axis": Out(axi_stream())}
            | {"i_frame": In(stream.Signature(FRAME)), "o_frame": Out(stream.Signature(FRAME))}
            | {"o_faulty": Out(stream.Signature(8)), "fault": In(2)}
            | {"step": In(4), "count": Out(80, init=7)}
        )

    def elaborate(self, _platform):
        m = Module()
        for name in (*WIDTHS, "_frame"):
            source, sink = getattr(self, f"i{name}"), getattr(self, f"o{name}")
            m.submodules[f"skid{name}"] = skid = Skid(source.payload.shape())
            wiring.connect(m, wiring.flipped(source), skid.i)
            wiring.connect(m, skid.o, wiring.flipped(sink))
        m.submodules.axis = skid = Skid(sum(AXI_STREAM.values()))
        m.d.comb += [
            skid.i.payload.eq(Cat(*(getattr(self.s_axis, name) for name in AXI_STREAM))),
            skid.i.valid.eq(self.s_axis.tvalid),
            self.s_axis.tready.eq(skid.i.ready),
            Cat(*(getattr(self.m_axis, name) for name in AXI_STREAM)).eq(skid.o.payload),
            self.m_axis.tvalid.eq(skid.o.valid),
            skid.o.ready.eq(self.m_axis.tready),
        ]
        given, toggle = Signal(8), Signal()
        m.d.sync += [self.count.eq(self.count + self.step), toggle.eq(~toggle)]
        m.d.comb += [
            self.o_faulty.valid.eq(Mux(self.fault == FALLS, toggle, 1)),
            self.o_faulty.payload.eq(given),
        ]
        with m.If((self.o_faulty.valid & self.o_faulty.ready) | (self.fault == CHANGES)):
            m.d.sync += given.eq(given + 1)
        return m


@lru_cache(maxsize=1)
def compiled() -> NativeModel:
    return NativeModel(Sampler())


@pytest.fixture
def model() -> NativeModel:
    """The sampler as after power-on."""
    compiled().restart()
    return compiled()


def items_of(bits: int, count: int, seed: int = 0) -> np.ndarray:
    """Random items, uint32 [items, words]."""
    words = np.random.default_rng(seed).integers(
        0, 1 << 32, (count, (bits + 31) // 32), dtype=np.uint32
    )
    words[:, -1] >>= np.uint32(-bits % 32)
    return words


@pytest.mark.parametrize("idle", [0.0, 0.4])
@pytest.mark.parametrize("stall", [0.0, 0.4])
def test_every_width_comes_out_as_it_went_in_under(model, idle, stall):
    inputs = {f"i{bits}": items_of(bits, 500, bits) for bits in WIDTHS}
    expect = {f"o{bits}": 500 for bits in WIDTHS}
    pause = dict.fromkeys(inputs, idle) | dict.fromkeys(expect, stall)
    run = model.run(inputs, expect, pause=pause, seed=3)
    for bits in WIDTHS:
        assert np.array_equal(run.items[f"o{bits}"], inputs[f"i{bits}"])
        delay = run.at[f"o{bits}"] - run.at[f"i{bits}"]
        assert np.all(delay >= Skid.latency)
        assert np.all(np.diff(run.at[f"o{bits}"]) > 0)
        assert stall or np.all(delay == Skid.latency)
    assert idle or stall or run.clocks == 500 + Skid.latency
    assert run.clocks == 1 + max(at[-1] for name, at in run.at.items() if name in expect)


def test_bits_above_an_item_s_width_are_dropped(model):
    ones = np.full((3, 1), 0xFFFF_FFFF, dtype=np.uint32)
    out = model.run({"i9": ones, "i1": ones}, {"o9": 3, "o1": 3}).items
    assert out["o9"].tolist() == [[0x1FF]] * 3
    assert out["o1"].tolist() == [[1]] * 3


def test_words_may_be_of_64_bits(model):
    items = np.array([[0x1_2345_6789_ABCD], [7]], dtype=np.uint64)
    out = model.run({"i64": items}, {"o64": 2}).items["o64"]
    assert np.array_equal(out.view(np.uint64), items)
    wide = np.array([[1, 1], [2, 0]], dtype=np.uint64)
    out = model.run({"i65": wide}, {"o65": 2}).items["o65"]
    assert out.tolist() == [[1, 0, 1], [2, 0, 0]]


def test_an_axi_stream_s_parts_stand_side_by_side_in_an_item(model):
    parts = [items_of(bits, 200, bits) for bits in AXI_STREAM.values()]
    items = np.concatenate(parts, axis=1)
    packets = int(parts[list(AXI_STREAM).index("tlast")].sum())
    pause = {"s_axis": 0.3, "m_axis": 0.3}
    run = model.run({"s_axis": items}, {"m_axis.last": packets}, pause=pause)
    assert np.array_equal(run.items["m_axis"], items[: len(run.items["m_axis"])])
    assert len(run.at["s_axis"]) == 200


@pytest.mark.parametrize("fault", [FALLS, CHANGES], ids=["valid falls", "payload changes"])
def test_who_breaks_the_rules_under_a_stall_is_named(model, fault):
    model.poke("fault", fault)
    with pytest.raises(StreamRuleError, match=r"o_faulty did not hold under a stall in clock \d+"):
        model.run({}, {"o_faulty": 100}, pause={"o_faulty": 0.5})


def test_who_keeps_the_rules_is_not_accused(model):
    run = model.run({}, {"o_faulty": 100}, pause={"o_faulty": 0.5})
    assert run.items["o_faulty"][:, 0].tolist() == list(range(100))
    model.poke("fault", CHANGES)
    model.run({}, {"o_faulty": 100})  # nothing is asked of an item that is taken at once


def test_items_wait_for_items_and_packets_of_other_streams(model):
    frames, slow = items_of(41, 60), items_of(8, 40)
    frames[:, 1] = 0
    frames[4::5, 1] = 1 << 8  # `last`, in packets of five
    counts = np.repeat(np.arange(10), 4)
    run = model.run(
        {"i_frame": frames, "i8": slow, "i16": items_of(16, 1)},
        {"o_frame.last": 12, "o8": 40, "o16": 1},
        after={"i8": ("o_frame.last", counts), "i16": ("i8", np.array([40]))},
        pause={"o_frame": 0.5},
    )
    ends = run.at["o_frame"][4::5]
    before = np.concatenate(([-1], ends))[counts]
    assert np.all(run.at["i8"] > before)
    first = run.at["i8"][::4]
    assert np.all(first[1:] == ends[: len(first) - 1] + 1)  # and not one clock longer
    assert run.at["i16"][0] == run.at["i8"][-1] + 1


def test_pauses_are_as_often_as_said_and_the_same_for_a_seed(model):
    items = items_of(8, 20_000)

    def run(seed: int, **pause):
        return model.run({"i8": items}, {"o8": len(items)}, pause=pause, seed=seed)

    for probability in (0.1, 0.5, 0.9):
        clocks = run(1, i8=probability).clocks
        assert len(items) / clocks == pytest.approx(1 - probability, abs=0.02)
    first = run(1, i8=0.5, o8=0.3)
    assert np.array_equal(first.at["o8"], run(1, i8=0.5, o8=0.3).at["o8"])
    assert not np.array_equal(first.at["o8"], run(2, i8=0.5, o8=0.3).at["o8"])


def test_what_does_not_come_is_said_with_how_far_it_got(model):
    items = items_of(8, 5)
    said = r"nothing moved for 50 clocks: .*i8 5 of 5.*o8 5 of 6.* in clock 56$"
    with pytest.raises(TimeoutError, match=said):
        model.run({"i8": items}, {"o8": 6}, timeout=50)
    with pytest.raises(TimeoutError, match="i8 0 of 5"):
        model.run({"i8": items}, {"o8": 5}, pause={"i8": 1.0}, timeout=50)


def test_a_run_ends_at_its_limit_and_the_next_goes_on_from_there(model):
    items = items_of(16, 100)
    first = model.run({"i16": items}, {"o16": 100}, limit=40)
    assert first.clocks == 40
    taken, out = len(first.at["i16"]), first.items["o16"]
    assert (taken, len(out)) == (40, 39)
    rest = model.run({"i16": items[taken:]}, {"o16": 100 - len(out)})
    assert np.array_equal(np.concatenate((out, rest.items["o16"])), items)


def test_ports_are_set_and_read_and_clocks_pass(model):
    assert model.peek("count") == 7
    model.poke("step", 15)
    model.step(1000)
    assert model.peek("count") == 15_007
    with pytest.raises(OverflowError, match="step has 4 bits"):
        model.poke("step", 16)


def test_reset_and_restart_forget_and_reset_leaves_inputs(model):
    model.poke("step", 1)
    model.step(5)
    model.reset(3)
    assert model.peek("count") == 7
    model.step(2)
    assert model.peek("count") == 9
    model.restart()
    model.step(2)
    assert model.peek("count") == 7


def test_two_models_share_nothing(model):
    other = NativeModel(Sampler())
    other.poke("step", 1)
    other.step(10)
    assert (other.peek("count"), model.peek("count")) == (17, 7)


@pytest.mark.parametrize(
    ("inputs", "expect", "options", "says"),
    [
        ({"absent": (8, 1)}, {}, {}, "a stream must be one of i1, .*, not absent"),
        ({}, {"absent.last": 1}, {}, "not absent.last"),
        ({}, {}, {"pause": {"absent": 0.5}}, "not absent"),
        ({}, {}, {"pause": {"i8": 1.5}}, "from 0 to 1, not 1.5"),
        ({"o8": (8, 1)}, {}, {}, "o8 comes out"),
        ({"i65": (33, 4)}, {}, {}, r"i65 must be uint32 \[items, 3\].*not uint32 \[4, 2\]"),
        ({"i8": (8, 3)}, {}, {"after": {"i8": ("o8", np.zeros(2))}}, "3 items of i8 .* 2 counts"),
        ({"i8": (8, 1)}, {}, {"after": {"i8": ("absent", np.zeros(1))}}, "not absent"),
    ],
)
def test_what_does_not_fit_is_refused(model, inputs, expect, options, says):
    blocks = {name: items_of(*size) for name, size in inputs.items()}
    with pytest.raises(ValueError, match=says):
        model.run(blocks, expect, **options)
    with pytest.raises(ValueError, match="not int64"):
        model.run({"i8": np.zeros((1, 1), dtype=np.int64)}, {})
