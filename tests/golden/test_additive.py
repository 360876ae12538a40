# SPDX-License-Identifier: Apache-2.0
"""ALiBi slopes, learned tables and sinusoidal rows against definitions and published numbers."""

from decimal import Decimal
from math import sqrt

import numpy as np
import pytest

from ropeway.golden import (
    AlibiGeometry,
    InputError,
    LearnedGeometry,
    SinusoidalGeometry,
    geometry_of,
    model_of,
)
from ropeway.golden.additive import alibi_slopes
from ropeway.golden.config import Config


def alibi(config: Config, **options) -> AlibiGeometry:
    g = geometry_of(config, **options)
    assert isinstance(g, AlibiGeometry)
    return g


def learned(config: Config, name: str = "default") -> LearnedGeometry:
    g = geometry_of(config, name=name)
    assert isinstance(g, LearnedGeometry)
    return g


def sinusoidal(config: Config, name: str = "default") -> SinusoidalGeometry:
    g = geometry_of(config, name=name)
    assert isinstance(g, SinusoidalGeometry)
    return g


def press(n: int) -> list[float]:
    """The reference code of Press et al., ``get_slopes``."""
    if n & (n - 1) == 0:
        start = 2 ** (-(2 ** -(np.log2(n) - 3)))
        return [start * start**i for i in range(n)]
    power = 2 ** int(np.floor(np.log2(n)))
    return press(power) + press(2 * power)[0::2][: n - power]


def mpt(n: int, bias_max: float = 8) -> list[float]:
    """The foundry's ``gen_slopes``: the ladder of the next power of two, odd entries first."""
    power = 2 ** int(np.ceil(np.log2(n)))
    m = np.arange(1, power + 1) * bias_max / power
    slopes = 1.0 / 2.0**m
    return list(np.concatenate([slopes[1::2], slopes[::2]])[:n] if power != n else slopes)


def floats(slopes: tuple[Decimal, ...]) -> list[float]:
    return [float(slope) for slope in slopes]


@pytest.mark.parametrize("heads", range(1, 257))
def test_slopes_are_those_of_press_and_of_mpt(heads):
    ours = floats(alibi_slopes(heads))
    np.testing.assert_allclose(ours, press(heads), rtol=2e-14)
    np.testing.assert_allclose(ours, mpt(heads), rtol=2e-14)
    np.testing.assert_allclose(floats(alibi_slopes(heads, Decimal(16))), mpt(heads, 16), rtol=2e-14)


@pytest.mark.parametrize("heads", range(1, 257))
def test_every_rank_has_the_slopes_of_its_global_heads_and_the_same_fingerprint(heads):
    config = {"model_type": "bloom", "hidden_size": 64 * heads, "n_head": heads}
    whole = alibi(config)
    assert whole.heads == heads
    for size in (n for n in range(1, heads + 1) if heads % n == 0):
        shares = [whole.rank(rank, size) for rank in range(size)]
        assert sum((share.slopes for share in shares), ()) == whole.slopes
        if size in (2, heads):
            assert {share.fingerprint for share in shares[:2]} == {whole.fingerprint}
    with pytest.raises(InputError):
        whole.rank(0, heads + 1)


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        (8, {0: 0.5, 7: 1 / 256}),
        (12, {0: 0.5, 7: 0.00390625, 8: 0.70710678, 9: 0.35355339, 11: 0.08838835}),
        (24, {0: 0.70710678, 15: 0.00390625, 16: 0.84089642, 17: 0.59460356, 23: 0.07432545}),
        (40, {0: 0.84089642, 32: 0.91700404, 39: 0.27262693}),
        (112, {64: 0.95760328, 111: 0.01631678}),
    ],
)
def test_published_slopes(heads, expected):
    slopes = floats(alibi_slopes(heads))
    for head, slope in expected.items():
        assert slopes[head] == pytest.approx(slope, abs=1e-8)


def test_the_naive_ladder_is_wrong_where_heads_are_no_power_of_two():
    naive = 2 ** (-8 / 12)
    assert naive == pytest.approx(0.6299605, abs=5e-8)
    assert float(alibi_slopes(12)[0]) != pytest.approx(naive)


def test_storywriter_honours_its_own_bias_max():
    story = alibi("mpt-7b-storywriter")
    slopes = floats(story.slopes)
    assert (slopes[0], slopes[1]) == pytest.approx((0.70710678, 0.5), abs=5e-9)
    assert slopes[31] == pytest.approx(1.52587891e-5, rel=1e-8)
    assert story.alibi_bias_max == 16
    plain = floats(alibi("mpt-7b").slopes)
    assert (plain[0], plain[31]) == pytest.approx((0.84089642, 0.00390625), abs=5e-9)


def test_falcon_rounds_its_slopes_and_adds_them_before_scaling():
    config = {"model_type": "falcon", "alibi": True, "hidden_size": 2048, "rope_theta": 10000.0}
    g = alibi(config | {"num_attention_heads": 32, "multi_query": False})
    assert float(g.slopes[0]) == 0.83984375
    assert float(g.effective_slopes[0]) == pytest.approx(0.10498047, abs=5e-9)
    assert not g.scaled_before_bias
    assert pytest.approx(1719.16, abs=5e-3) == 0.83984375 * 2047
    assert pytest.approx(1721.315, abs=5e-4) == 2**-0.25 * 2047


def test_alibi_configs_in_their_spellings_agree():
    one = alibi({"model_type": "bloom", "hidden_size": 1024, "n_head": 16, "offset_alibi": 100})
    two = alibi({"model_type": "bloom", "n_embed": 1024, "num_attention_heads": 16})
    assert one.fingerprint == two.fingerprint
    assert one.scaled_before_bias


def test_baichuan_is_told_apart_by_its_size():
    small = {"model_type": "baichuan", "hidden_size": 4096, "num_hidden_layers": 32}
    large = {"model_type": "baichuan", "hidden_size": 5120, "num_hidden_layers": 40}
    assert geometry_of(small | {"num_attention_heads": 32}).scheme == "rope"
    assert alibi(large | {"num_attention_heads": 40}).heads == 40


def test_symmetric_alibi_has_another_fingerprint():
    jina = {"model_type": "bert", "position_embedding_type": "alibi", "num_attention_heads": 8}
    g = alibi(jina)
    assert g.form == "symmetric"
    assert g.fingerprint != alibi({"model_type": "bloom", "n_head": 8}).fingerprint


# learned


@pytest.mark.parametrize(
    ("name", "rows", "offset", "width"),
    [("gpt2", 1024, 0, 768), ("opt-125m", 2050, 2, 768), ("opt-350m", 2050, 2, 1024)],
)
def test_learned_presets(name, rows, offset, width):
    g = learned(name)
    assert (g.rows, g.offset, g.width) == (rows, offset, width)


@pytest.mark.parametrize(
    ("config", "rows", "offset"),
    [
        ({"model_type": "bert", "max_position_embeddings": 512}, 512, 0),
        ({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}, 514, 2),
        ({"model_type": "esm", "max_position_embeddings": 1026, "pad_token_id": 1}, 1026, 2),
        ({"model_type": "gpt_bigcode", "n_positions": 8192}, 8192, 0),
        ({"model_type": "bart", "max_position_embeddings": 1024}, 1026, 2),
    ],
)
def test_learned_offsets(config, rows, offset):
    g = learned(config | {"hidden_size": 768})
    assert (g.rows, g.offset) == (rows, offset)


def test_whispers_decoder_is_learned():
    g = learned("whisper-tiny", "decoder")
    assert (g.rows, g.width, g.offset) == (448, 384, 0)


# sinusoidal


def rows_of(model_type: str, width: int, positions, **keys) -> np.ndarray:
    g = sinusoidal({"model_type": model_type, "d_model": width, **keys})
    return g.rows(np.asarray(positions) - g.offset)


def test_the_papers_row():
    row = rows_of("transformer", 512, [1])[0]
    assert row[:4] == pytest.approx([0.84147098, 0.54030231, 0.82185619, 0.56969501], abs=5e-9)
    g = sinusoidal("transformer-base")
    assert float(g.inv_freq[-1]) == pytest.approx(1.03663293e-4, rel=1e-8)
    assert g.scale == sqrt(512)
    assert (g.layout, g.width) == ("interleaved", 512)


def test_tensor2tensors_row():
    row = rows_of("m2m_100", 512, [1])[0]
    expected = [0.84147098, 0.82177865, 0.54030231, 0.56980685]
    assert row[[0, 1, 256, 257]] == pytest.approx(expected, abs=5e-9)
    g = sinusoidal({"model_type": "m2m_100", "d_model": 512})
    assert float(g.inv_freq[-1]) == pytest.approx(1e-4, rel=1e-15)
    assert g.offset == 2


def test_whispers_row():
    g = sinusoidal("whisper-tiny", "encoder")
    row = g.rows(np.array([1499]))[0]
    expected = [-0.44422070, 0.83810300, 0.14933925, -0.89591739, 0.98878602]
    assert row[[0, 1, 191, 192, 383]] == pytest.approx(expected, abs=5e-9)
    assert g.scale == 1.0


def test_layouts_hold_the_same_angles():
    angles = np.arange(5)[:, None] * 10000 ** (-np.arange(8) / 8)
    interleaved = rows_of("florence2", 16, range(5))
    halves = rows_of("marian", 16, range(5))
    np.testing.assert_allclose(interleaved[:, 0::2], np.sin(angles), atol=1e-15)
    np.testing.assert_allclose(interleaved[:, 1::2], np.cos(angles), atol=1e-15)
    np.testing.assert_allclose(halves, np.hstack([np.sin(angles), np.cos(angles)]), atol=1e-15)
    closed = np.arange(5)[:, None] * np.exp(-np.arange(8) * np.log(10000) / 7)
    music = rows_of("musicgen", 16, range(5))
    np.testing.assert_allclose(music, np.hstack([np.cos(closed), np.sin(closed)]), atol=1e-14)


def test_odd_widths():
    marian = rows_of("marian", 7, [3])[0]
    table = [3 / 10000 ** (2 * (j // 2) / 7) for j in range(7)]
    assert marian[:4] == pytest.approx(np.sin(table[0::2]))
    assert marian[4:] == pytest.approx(np.cos(table[1::2]))
    fairseq = rows_of("fsmt", 7, [3])[0]
    assert fairseq[6] == 0
    assert fairseq[:3] == pytest.approx(np.sin(3 * np.exp(-np.arange(3) * np.log(10000) / 2)))


def test_scale_embedding_multiplies_by_the_root_of_the_width():
    base = {"model_type": "marian", "d_model": 512}
    assert sinusoidal(base).scale == 1.0
    assert sinusoidal(base | {"scale_embedding": True}).scale == sqrt(512)


@pytest.mark.parametrize("model_type", ["transformer", "marian", "musicgen", "m2m_100"])
def test_a_row_further_on_is_the_row_turned(model_type):
    g = sinusoidal({"model_type": model_type, "d_model": 64})
    shift, positions = 37, np.arange(100)
    here, there = g.rows(positions), g.rows(positions + shift)
    turn = shift * np.array([float(w) for w in g.inv_freq])
    if g.layout == "interleaved":
        sine, cosine = (slice(0, None, 2), slice(1, None, 2))
    else:
        first, second = slice(0, 32), slice(32, 64)
        sine, cosine = (first, second) if g.layout == "sin-cos" else (second, first)
    s, c = here[:, sine], here[:, cosine]
    np.testing.assert_allclose(there[:, sine], s * np.cos(turn) + c * np.sin(turn), atol=1e-12)
    np.testing.assert_allclose(there[:, cosine], c * np.cos(turn) - s * np.sin(turn), atol=1e-12)


def test_whisper_names_both_ends_layer_by_layer():
    model = model_of("whisper-tiny")
    assert model.layers == ("encoder",) * 4 + ("decoder",) * 4
