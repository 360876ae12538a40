# SPDX-License-Identifier: Apache-2.0
"""The float64 mathematics against 50 digits, and against each other's definitions."""

import mpmath
import numpy as np
import pytest

from ropeway.golden.exact import cos_sin, rotate_exact
from ropeway.golden.table import Pairing
from tests.golden.radians import RADIANS


@pytest.mark.parametrize(("position", "cos", "sin"), RADIANS)
def test_pair_zero_turns_by_one_radian_a_position(position, cos, sin):
    found = cos_sin(np.ones(1), np.array([position]))
    assert [part[0, 0] for part in found] == pytest.approx([cos, sin], abs=6e-11)


@pytest.mark.parametrize("factor", [1.0, 1.3465736])
def test_float64_keeps_16_million_radians_to_a_thousandth_of_a_bit_of_18(factor):
    random = np.random.default_rng(0)
    inv_freq = np.append(random.random(3), 1.0)
    positions = np.append(random.integers(-16_000_000, 16_000_000, 50), 16_000_000)
    cos, sin = cos_sin(inv_freq, positions, factor)
    with mpmath.workdps(50):
        for token, position in enumerate(positions.tolist()):
            for pair, omega in enumerate(inv_freq.tolist()):
                angle = mpmath.mpf(position) * mpmath.mpf(omega)
                assert abs(cos[token, pair] - factor * mpmath.cos(angle)) < 2.0**-27
                assert abs(sin[token, pair] - factor * mpmath.sin(angle)) < 2.0**-27


def test_pairs_follow_their_axes():
    positions = np.array([[1, 20], [3, 40]])
    cos, _ = cos_sin(np.array([0.5, 0.25, 0.125]), positions, axes=np.array([1, 0, 1]))
    angles = [[20 * 0.5, 1 * 0.25, 20 * 0.125], [40 * 0.5, 3 * 0.25, 40 * 0.125]]
    assert np.array_equal(cos, np.cos(angles))


@pytest.mark.parametrize("offset", [0, 4])
@pytest.mark.parametrize("pairing", Pairing)
def test_a_rotation_is_a_complex_product(pairing, offset):
    random = np.random.default_rng(0)
    heads = random.normal(size=(3, 2, 12))
    cos, sin = cos_sin(random.random(4), np.arange(3))
    rotary = heads[..., offset : offset + 8]
    if pairing is Pairing.ADJACENT:
        values = rotary[..., 0::2] + 1j * rotary[..., 1::2]
    else:
        values = rotary[..., :4] + 1j * rotary[..., 4:]
    for conjugate in (False, True):
        turned = values * (cos + (-1j if conjugate else 1j) * sin)[:, None]
        out = rotate_exact(heads, cos, sin, pairing, offset, conjugate=conjugate)
        part = out[..., offset : offset + 8]
        found = (
            part[..., 0::2] + 1j * part[..., 1::2]
            if pairing is Pairing.ADJACENT
            else part[..., :4] + 1j * part[..., 4:]
        )
        assert np.allclose(found, turned, rtol=0, atol=1e-14)
        assert np.array_equal(out[..., :offset], heads[..., :offset])
        assert np.array_equal(out[..., offset + 8 :], heads[..., offset + 8 :])
