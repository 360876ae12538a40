# SPDX-License-Identifier: Apache-2.0
"""Every schedule against 50-digit mpmath from its definition, and against published numbers."""

from decimal import Decimal
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from ropeway.golden import schedules as s
from ropeway.golden import yarn as y
from ropeway.golden.schedules import TWO_PI, increment
from tests.golden.radians import RADIANS

mpmath.mp.dps = 60
D = Decimal
AGREEMENT = mpf(10) ** -50


def base(theta, dim):
    return [mpf(theta) ** (-mpf(2 * i) / dim) for i in range(dim // 2)]


def clamp(x):
    return min(max(x, mpf(0)), mpf(1))


def ramp(theta, dim, length, fast, slow, truncate=True):
    def c(r):
        return dim * mpmath.log(length / (2 * mpmath.pi * r)) / (2 * mpmath.log(theta))

    low, high = c(fast), c(slow)
    if truncate:
        low, high = mpmath.floor(low), mpmath.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    if low == high:
        high += mpf("0.001")
    return [clamp((i - low) / (high - low)) for i in range(dim // 2)]


def agree(schedule, reference, amplitude=1):
    assert len(schedule.inv_freq) == len(reference)
    for ours, theirs in zip(schedule.inv_freq, reference, strict=True):
        assert abs(mpf(str(ours)) - theirs) <= AGREEMENT * abs(theirs)
        assert float(ours) == pytest.approx(float(theirs), rel=2**-52)
    assert abs(mpf(str(schedule.attention_factor)) - amplitude) < AGREEMENT * 10


@pytest.mark.parametrize(("theta", "dim"), [(10000, 128), (500000, 64), (1000000, 24), (100, 2)])
def test_default_and_linear(theta, dim):
    agree(s.default(D(theta), dim), base(theta, dim))
    linear = s.linear(D(theta), dim, factor=D(1.708984375))
    agree(linear, [w / mpf(1.708984375) for w in base(theta, dim)])


@pytest.mark.parametrize("context", [1, 8192, 8193, 16384, 131072])
def test_dynamic_follows_the_declared_context_alone(context):
    n, trained, factor, dim = max(context, 8192), mpf(8192), 4, 128
    theta = mpf(500000) * (factor * n / trained - (factor - 1)) ** (mpf(dim) / (dim - 2))
    ours = s.dynamic(
        D(500000), dim, factor=D(factor), max_position_embeddings=8192, context=context
    )
    agree(ours, base(theta, dim))


def test_dynamic_at_the_stretched_length_is_the_engines_static_form():
    at_stretched = s.dynamic(D(10000), 128, factor=D(4), max_position_embeddings=2048, context=8192)
    agree(at_stretched, base(mpf(10000) * (4**2 - 4 + 1) ** (mpf(128) / 126), 128))


def test_alpha_1000_is_the_base_that_hunyuan_stores():
    theta = 10000 * mpf(1000) ** (mpf(128) / 126)
    assert mpmath.nint(theta) == 11_158_840
    assert float(theta) == pytest.approx(11_158_839.9, abs=0.05)
    agree(s.ntk_theta(D(10000), 128, factor=D(1000)), base(theta, 128))


@pytest.mark.parametrize(
    ("context", "alpha"),
    [(1, 1), (2048, 1), (2049, 3), (4096, 3), (4097, 7), (8192, 7), (8193, 15), (16384, 15)],
)
def test_qwen_steps(context, alpha):
    assert alpha == max(1, 2 ** mpmath.ceil(mpmath.log(mpf(context) / 2048, 2) + 1) - 1)
    ours = s.qwen_dynamic(D(10000), 128, seq_length=2048, context=context)
    assert ours == s.ntk_theta(D(10000), 128, factor=D(alpha))


def test_fixed_ntk_in_its_two_forms_and_mixed():
    theta, dim, factor = 10000, 128, 8
    fixed = s.ntk(D(theta), dim, factor=D(factor))
    agree(
        fixed,
        [w * mpf(factor) ** (-mpf(2 * (i + 1)) / dim) for i, w in enumerate(base(theta, dim))],
    )
    raised = mpf(theta) * mpf(factor) ** (mpf(dim) / (dim - 2))
    agree(s.ntk_theta(D(theta), dim, factor=D(factor)), base(raised, dim))
    assert fixed != s.ntk_theta(D(theta), dim, factor=D(factor))
    b = mpf("0.625")
    a = mpmath.log(factor) / mpf(dim / 2) ** b
    mixed = s.ntk(D(theta), dim, factor=D(factor), mixed_b=D("0.625"))
    agree(mixed, [w * mpmath.exp(-a * mpf(i + 1) ** b) for i, w in enumerate(base(theta, dim))])


def test_ntk_by_parts():
    theta, dim, factor, length = 10000, 128, 8, 2048
    to_ntk = ramp(theta, dim, length, mpf("1.25"), mpf("0.75"))
    to_base = ramp(theta, dim, length, 16, 2)
    stretched = base(mpf(theta) * mpf(factor) ** (mpf(dim) / (dim - 2)), dim)
    reference = []
    for w, v, n, b in zip(base(theta, dim), stretched, to_ntk, to_base, strict=True):
        inner = w / factor * n + v * (1 - n)
        reference.append(inner * b + w * (1 - b))
    ours = y.ntk_by_parts(D(theta), dim, factor=D(factor), original_max_position_embeddings=length)
    agree(ours, reference)


@pytest.mark.parametrize(
    ("theta", "dim", "length", "factor", "truncate"),
    [
        (1000000, 128, 32768, 4, True),
        (150000, 64, 4096, 32, False),
        (10000, 64, 4096, 40, True),
        (10000, 128, 128, 4, True),
        (10000, 64, 262144, 2, True),
        (1000000, 2, 32768, 4, True),
    ],
)
def test_yarn(theta, dim, length, factor, truncate):
    rho = ramp(theta, dim, length, 32, 1, truncate)
    blend = [w / factor * r + w * (1 - r) for w, r in zip(base(theta, dim), rho, strict=True)]
    ours = y.yarn(
        D(theta),
        dim,
        factor=D(factor),
        original_max_position_embeddings=length,
        truncate=truncate,
        attention_factor=y.yarn_gain(D(factor)),
    )
    agree(ours, blend, 1 + mpf("0.1") * mpmath.log(factor))


def test_yarn_log_blends_logarithms_and_has_no_amplitude():
    rho = ramp(10000, 128, 8192, 32, 1)
    reference = [
        mpmath.exp((1 - r) * mpmath.log(w) + r * mpmath.log(w / 16))
        for w, r in zip(base(10000, 128), rho, strict=True)
    ]
    ours = y.yarn_log(D(10000), 128, factor=D(16), original_max_position_embeddings=8192)
    agree(ours, reference)


def test_theta_scale():
    turns = 8192 / (2 * mpmath.pi)
    theta = mpf(10000) ** (mpmath.log(turns * 16) / mpmath.log(turns))
    ours = y.theta_scale(D(10000), 128, factor=D(16), original_max_position_embeddings=8192)
    agree(ours, base(theta, 128))


def test_dynamic_yarn_is_yarn_by_the_declared_ratio():
    long = y.dynamic_yarn(D(10000), 128, original_max_position_embeddings=4096, context=16384)
    same = y.yarn(
        D(10000),
        128,
        factor=D(4),
        original_max_position_embeddings=4096,
        attention_factor=y.yarn_gain(D(4)),
    )
    assert long == same
    short = y.dynamic_yarn(D(10000), 128, original_max_position_embeddings=4096, context=100)
    agree(short, base(10000, 128))


def test_llama3_interpolates_frequencies():
    factor, low, high, length = 8, 1, 4, 8192
    reference = []
    for w in base(500000, 128):
        wavelength = 2 * mpmath.pi / w
        if wavelength < mpf(length) / high:
            reference.append(w)
        elif wavelength > mpf(length) / low:
            reference.append(w / factor)
        else:
            smooth = (length / wavelength - low) / (high - low)
            reference.append(w * ((1 - smooth) / factor + smooth))
    ours = s.llama3(
        D(500000),
        128,
        factor=D(factor),
        low_freq_factor=D(low),
        high_freq_factor=D(high),
        original_max_position_embeddings=length,
    )
    agree(ours, reference)
    assert float(ours.inv_freq[31]) == pytest.approx(8.567514e-4, rel=1e-6)


def test_llama3_by_wavelength_is_another_thing():
    w = base(500000, 128)[31]
    wavelength = 2 * mpmath.pi / w
    shortest, longest = mpf(8192) / 4, mpf(8192)
    t = (wavelength - shortest) / (longest - shortest)
    of_frequency = w * ((1 - t) + t / 8)
    of_period = 2 * mpmath.pi / (wavelength * ((1 - t) + t * 8))
    assert float(str(of_frequency)) == pytest.approx(1.347572e-3, rel=1e-6)
    assert float(str(of_period)) == pytest.approx(6.222033e-4, rel=1e-6)


def test_llama3_with_equal_bands_switches_hard():
    ours = s.llama3(
        D(500000),
        128,
        factor=D(16),
        low_freq_factor=D(1),
        high_freq_factor=D(1),
        original_max_position_embeddings=8192,
    )
    unscaled = s.default(D(500000), 128).inv_freq
    assert ours.inv_freq[:35] == unscaled[:35]
    assert ours.inv_freq[35:] == s.linear(D(500000), 128, factor=D(16)).inv_freq[35:]


def test_longrope_divides_by_the_list_of_the_context():
    short, long = [D(1 + i) for i in range(4)], [D(10 + i) for i in range(4)]
    given: dict[str, Any] = {
        "short_factor": short,
        "long_factor": long,
        "factor": D(32),
        "original_max_position_embeddings": 4096,
    }
    amplitude = mpmath.sqrt(1 + mpmath.log(32) / mpmath.log(4096))
    assert float(amplitude) == pytest.approx(1.1902380714, abs=5e-11)
    for context, divisors in ((4096, range(1, 5)), (4097, range(10, 14))):
        reference = [w / f for w, f in zip(base(10000, 8), divisors, strict=True)]
        agree(s.longrope(D(10000), 8, context=context, **given), reference, amplitude)
    phimoe: dict[str, Any] = given | {"short_mscale": D("1.25"), "long_mscale": D("1.5")}
    assert s.longrope(D(10000), 8, context=4096, **phimoe).attention_factor == D("1.25")
    assert s.longrope(D(10000), 8, context=4097, **phimoe).attention_factor == D("1.5")
    given["factor"] = D(1)
    assert s.longrope(D(10000), 8, context=1, **given).attention_factor == 1


def test_proportional_pairs_stand_still_beyond_the_fraction():
    ours = s.proportional(D(1000000), 512, partial_rotary_factor=0.25)
    assert len(ours.inv_freq) == 256
    agree(s.Schedule(ours.inv_freq[:64]), base(1000000, 512)[:64])
    assert set(ours.inv_freq[64:]) == {D(0)}


@pytest.mark.parametrize(
    ("theta", "dim", "length", "low", "high"),
    [
        (1000000, 128, 32768, 23, 40),
        (10000, 64, 4096, 10, 23),
        (10000, 128, 4096, 20, 46),
        (500000, 128, 8192, 18, 35),
        (1000000, 128, 16384, 20, 37),
        (1000000, 128, 131072, 30, 47),  # what Qwen2.5 with L for L0 would wrongly give
        (10000, 64, 163840, 23, 36),  # likewise DeepSeek-V3
        (10000, 64, 262144, 24, 37),  # beyond dim/2 - 1 = 31
        (10000, 128, 1 << 20, 59, 84),
    ],
)
def test_yarn_ranges(theta, dim, length, low, high):
    found = y.yarn_range(D(theta), dim, original_max_position_embeddings=length)
    assert found == (low, high)


def test_a_small_original_context_floors_below_zero_and_is_clamped():
    raw = 128 * mpmath.log(mpf(128) / (2 * mpmath.pi * 32)) / (2 * mpmath.log(10000))
    assert float(str(raw)) == pytest.approx(-3.138, abs=5e-4)
    low, _ = y.yarn_range(D(10000), 128, original_max_position_embeddings=128)
    assert low == 0


def test_truncation_would_change_gpt_oss():
    given: dict[str, Any] = {
        "factor": D(32),
        "original_max_position_embeddings": 4096,
        "attention_factor": D(1),
    }
    truncated = y.yarn(D(150000), 64, truncate=True, **given).inv_freq
    right = y.yarn(D(150000), 64, truncate=False, **given).inv_freq
    assert float(truncated[17]) == pytest.approx(2.2795e-4, rel=5e-5)
    assert float(right[17]) == pytest.approx(1.2932e-4, rel=5e-5)
    assert max(float(t / r - 1) for t, r in zip(truncated, right, strict=True)) < 0.77


def test_yarn_range_of_gpt_oss_is_not_truncated():
    low, high = y.yarn_range(D(150000), 64, original_max_position_embeddings=4096, truncate=False)
    assert float(low) == pytest.approx(8.092779115512402, rel=1e-15)
    assert float(high) == pytest.approx(17.39802450158856, rel=1e-15)
    raw = y.yarn_range(D(10000), 64, original_max_position_embeddings=4096, truncate=False)
    assert [round(float(x), 3) for x in raw] == [10.472, 22.513]


@pytest.mark.parametrize(
    ("factor", "mscale", "gain"),
    [
        (1, "1", 1.0),
        (2, "1", 1.0693147),
        (4, "1", 1.1386294),
        (8, "1", 1.2079442),
        (16, "1", 1.2772589),
        (32, "1", 1.3465736),
        (40, "1", 1.3688879),
        (40, "0.707", 1.2608038),
    ],
)
def test_yarn_gains(factor, mscale, gain):
    assert float(y.yarn_gain(D(factor), D(mscale))) == pytest.approx(gain, abs=5e-8)


def test_increments_are_the_nearest_fraction_of_a_turn():
    for w in s.default(D(500000), 128).inv_freq:
        exact = mpf(str(w)) / (2 * mpmath.pi) * 2**48
        assert abs(increment(w) - exact) <= mpf("0.5")
    assert increment(TWO_PI / 4) == 1 << 46
    assert increment(-TWO_PI / 4) == 3 << 46
    assert increment(TWO_PI * 3) == 0
    assert abs(mpf(str(TWO_PI)) - 2 * mpmath.pi) < mpf(10) ** -58


@pytest.mark.parametrize(("position", "cosine", "sine"), RADIANS)
def test_turns_of_one_radian_a_position(position, cosine, sine):
    turns = position * increment(D(1)) % (1 << 48) / (1 << 48)
    assert np.cos(2 * np.pi * turns) == pytest.approx(cosine, abs=2e-7)
    assert np.sin(2 * np.pi * turns) == pytest.approx(sine, abs=2e-7)
    assert float(str(mpmath.cos(position))) == pytest.approx(cosine, abs=5e-11)
    assert float(str(mpmath.sin(position))) == pytest.approx(sine, abs=5e-11)


def test_a_wrongly_quoted_cosine_is_wrong():
    assert float(str(mpmath.cos(15962))) == pytest.approx(-0.908016, abs=5e-7)
    assert float(str(mpmath.cos(15936))) == pytest.approx(-0.267950, abs=5e-7)


def test_pairs_that_yarn_leaves_alone_have_identical_increments():
    plain = s.default(D(1000000), 128).inv_freq
    scaled = y.yarn(
        D(1000000),
        128,
        factor=D(4),
        original_max_position_embeddings=32768,
        attention_factor=y.yarn_gain(D(4)),
    ).inv_freq
    same = [increment(a) == increment(b) for a, b in zip(plain, scaled, strict=True)]
    assert same == [True] * 24 + [False] * 40
    for i in range(40, 64):
        angles = scaled[i] * (4 * 32768), plain[i] * 32768
        assert float(angles[0]) == pytest.approx(float(angles[1]), rel=1e-15)
