# SPDX-License-Identifier: Apache-2.0
"""Equal computation has one fingerprint however it is spelled; any difference has another."""

import json
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ropeway.golden import (
    HeadPattern,
    InputError,
    Pairing,
    RopeGeometry,
    geometry_of,
    model_of,
    preset_names,
)
from ropeway.golden.fingerprint import crc64, fingerprint
from ropeway.golden.table import PhaseTable
from ropeway.golden.table_files import geometry_of_image, image_of, read_table, render_table

LLAMA = {"model_type": "llama", "hidden_size": 1024, "num_attention_heads": 16}
LLAMA |= {"num_key_value_heads": 8, "max_position_embeddings": 4096, "rope_theta": 10000.0}
SETTINGS = settings(max_examples=settings.default.max_examples // 2)


def print_of(config, **options) -> str:
    return geometry_of(config, **options).fingerprint


def bitwise(data: bytes) -> int:
    """CRC-64 with ECMA-182's polynomial, reflected, bit by bit from its definition."""
    crc = (1 << 64) - 1
    for byte in data:
        for bit in range(8):
            crc, out = crc >> 1, (crc ^ byte >> bit) & 1
            crc ^= int(f"{0x42F0E1EBA9EA3693:064b}"[::-1], 2) * out
    return crc ^ (1 << 64) - 1


def test_the_check_value_of_crc_64_xz():
    assert crc64(b"123456789") == 0x995DC9BBDF1939FA
    assert crc64(b"") == 0


@SETTINGS
@given(st.binary(max_size=64))
def test_the_table_driven_crc_is_the_bitwise_one(data):
    assert crc64(data) == bitwise(data)


def test_words_are_digested_lowest_byte_first():
    assert (
        fingerprint(np.array([0x04030201], dtype=np.uint32)) == f"{crc64(bytes([1, 2, 3, 4])):016x}"
    )


SCALING = {"factor": 4.0, "original_max_position_embeddings": 2048}


@pytest.mark.parametrize(
    "config",
    [
        LLAMA | {"rope_scaling": {"type": "yarn", **SCALING}},
        LLAMA | {"rope_scaling": {"rope_type": "yarn", "type": "linear", **SCALING}},
        LLAMA | {"rope_parameters": {"rope_type": "yarn", "rope_theta": 10000.0, **SCALING}},
        LLAMA | {"rope_scaling": {"type": "yarn", "beta_fast": 32, "beta_slow": 0, **SCALING}},
        LLAMA | {"rope_scaling": {"type": "yarn", "truncate": True, "finetuned": True, **SCALING}},
        LLAMA | {"head_dim": 64, "rope_theta": 10000, "rope_scaling": {"type": "yarn", **SCALING}},
        LLAMA | {"model_type": "qwen2", "rope_scaling": {"type": "yarn", **SCALING}},
        LLAMA
        | {"num_attention_heads": 32, "head_dim": 64, "rope_scaling": {"type": "yarn", **SCALING}},
        LLAMA
        | {"use_mrope": False, "torch_dtype": "x", "rope_scaling": {"type": "yarn", **SCALING}},
        LLAMA | {"max_position_embeddings": 9, "rope_scaling": {"type": "yarn", **SCALING}},
        {
            "model_type": "llava",
            "text_config": LLAMA | {"rope_scaling": {"type": "yarn", **SCALING}},
        },
        LLAMA | {"rope_scaling": {"type": "dynamic_yarn", **SCALING}},
    ],
)
def test_spellings_of_one_computation_agree(config):
    reference = print_of(LLAMA | {"rope_scaling": {"rope_type": "yarn", **SCALING}})
    assert print_of(config, context=8192) == reference


@SETTINGS
@given(theta=st.floats(1.001, 1e9), other=st.floats(1.001, 1e9))
def test_different_bases_differ(theta, other):
    a, b = (geometry_of(LLAMA | {"rope_theta": t}) for t in (theta, other))
    assert isinstance(a, RopeGeometry)
    assert isinstance(b, RopeGeometry)
    assert (a.fingerprint == b.fingerprint) == (a.increments == b.increments)


@st.composite
def tables(draw) -> PhaseTable:
    pairs = draw(st.integers(1, 6))
    words = st.lists(st.integers(0, (1 << 48) - 1), min_size=pairs, max_size=pairs)
    axes = st.lists(st.integers(0, 3), min_size=pairs, max_size=pairs)
    offset = draw(st.integers(0, 4))
    return PhaseTable(
        increments=tuple(draw(words)),
        head_dim=2 * pairs + offset + draw(st.integers(0, 4)),
        pattern=HeadPattern(draw(st.integers(1, 8)), draw(st.integers(1, 8)), 1),
        pairing=draw(st.sampled_from(list(Pairing))),
        rotary_offset=offset,
        amplitude=draw(st.integers(-1000, 1000)),
        scale=draw(st.integers(0, 1)),
        axes=tuple(draw(axes)),
        context=draw(st.integers(0, 1 << 20)),
    )


@SETTINGS
@given(tables(), st.data())
def test_any_small_difference_in_what_is_computed_shows(table, data):
    change = data.draw(
        st.sampled_from(["increments", "axes", "pairing", "amplitude", "scale", "head_dim"])
    )
    at, bit = data.draw(st.integers(0, table.pairs - 1)), data.draw(st.integers(0, 47))
    if change == "increments":
        changed = [w ^ (1 << bit) * (i == at) for i, w in enumerate(table.increments)]
        other = replace(table, increments=tuple(changed))
    elif change == "axes":
        changed = [a ^ (i == at) for i, a in enumerate(table.axes)]
        other = replace(table, axes=tuple(changed))
    else:
        flipped = {
            "pairing": next(p for p in Pairing if p is not table.pairing),
            "amplitude": table.amplitude + 1,
            "scale": 1 - table.scale,
            "head_dim": table.head_dim + 1,
        }
        other = replace(table, **{change: flipped[change]})
    assert other.fingerprint != table.fingerprint


@SETTINGS
@given(tables(), st.integers(1, 9), st.integers(1, 9))
def test_head_counts_and_context_stay_out(table, heads, context):
    pattern = HeadPattern(heads, heads, 1)
    assert replace(table, pattern=pattern, context=context).fingerprint == table.fingerprint


@SETTINGS
@given(tables())
def test_an_image_reads_back_to_its_table(table):
    assert PhaseTable.from_image(table.image()) == table


@SETTINGS
@given(tables(), st.data())
def test_a_flipped_bit_in_an_image_is_refused_or_another_table(table, data):
    words = table.image()
    at = data.draw(st.integers(0, len(words) - 1))
    words[at] ^= np.uint32(1 << data.draw(st.integers(0, 31)))
    with suppress(InputError):
        assert PhaseTable.from_image(words) != table


def test_every_rank_has_the_fingerprint_of_the_whole():
    for name, size in (("llama-3.1-8b", 32), ("qwen2.5-7b", 28), ("deepseek-v3", 64)):
        whole = print_of(name)
        assert {print_of(name, tp=(rank, size)) for rank in range(size)} == {whole}


@pytest.mark.parametrize("suffix", [".json", ".h", ".hex"])
def test_every_preset_reads_back_from_a_written_table(suffix, tmp_path):
    path = tmp_path / f"table{suffix}"
    for name in preset_names():
        for geometry in model_of(name, context=5000).geometries.values():
            path.write_text(render_table(geometry, name, suffix))
            again = geometry_of(path)
            assert again.fingerprint == geometry.fingerprint
            np.testing.assert_array_equal(image_of(again), image_of(geometry))


def test_a_json_table_keeps_the_description_and_fifty_digits():
    geometry = geometry_of("qwen2.5-7b", scaling={"type": "yarn", **SCALING})
    text = render_table(geometry, "qwen2", ".json")
    again = read_table(json.loads(text), ".json").geometry()
    assert isinstance(again, RopeGeometry)
    assert isinstance(geometry, RopeGeometry)
    assert again.as_dict() == geometry.as_dict()
    for a, b in zip(again.inv_freq, geometry.inv_freq, strict=True):
        assert abs(a - b) <= abs(b).scaleb(-48)


def test_words_that_are_no_image_are_refused():
    for words in ([], [0], [0x52570001], [0x52570001, 1, 0, 0, 2, 0, 0, 1, 5, 0xFFFF_FFFF]):
        with pytest.raises(InputError):
            geometry_of_image(np.array(words, dtype=np.uint32))
