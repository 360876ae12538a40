# SPDX-License-Identifier: Apache-2.0
"""Which axis of the positions each pair follows."""

from .configs import LLAMA, YARN, rope


def mrope(sections, **keys):
    scaling = {"rope_type": "default", "mrope_section": sections, **keys}
    config = LLAMA | {"model_type": "qwen2_vl", "rope_scaling": scaling}
    return rope(config | {"head_dim": 2 * sum(sections)}).axes


def test_chunked_sections():
    assert mrope([16, 24, 24]) == (0,) * 16 + (1,) * 24 + (2,) * 24
    assert mrope([16, 24, 24], rope_type="mrope") == mrope([16, 24, 24])


def test_interleaved_sections():
    axes = rope("qwen3-vl-4b-instruct", name="default").axes
    assert axes[:3] == (0, 1, 2)
    assert axes[57:] == (0, 1, 2, 0, 0, 0, 0)
    assert axes == mrope([24, 20, 20], mrope_interleaved=True)
    narrow = mrope([11, 11, 10], mrope_interleaved=True)
    assert [narrow.count(axis) for axis in range(3)] == [11, 11, 10]


def test_ernie_orders_height_width_time():
    scaling = {"rope_type": "default", "mrope_section": [22, 22, 20]}
    config = LLAMA | {"model_type": "ernie4_5_vl_moe", "rope_scaling": scaling}
    g = rope(config)
    assert g.axes == (1, 2) * 22 + (0,) * 20
    assert g.pairing == "adjacent"
    assert g.inv_freq == rope(LLAMA).inv_freq


def test_glm_takes_turns():
    assert mrope([2, 1, 1], mrope_interleaved_glm=True) == (0, 1, 2, 0)


def test_xdrope_has_four_axes_one_angle_a_pair():
    scaling = {"type": "xdrope", "alpha": 1000.0, "xdrope_section": [16, 16, 16, 16]}
    g = rope(LLAMA | {"rope_theta": 10000.0, "rope_scaling": scaling})
    assert g.axes == tuple(i // 16 for i in range(64))
    dynamic = {"type": "dynamic", "alpha": 1000.0, "factor": 1.0}
    assert g.inv_freq == rope(LLAMA | {"rope_theta": 1e4, "rope_scaling": dynamic}).inv_freq


def test_a_scaling_given_beside_the_file_keeps_its_axes():
    g = rope("qwen3-vl-4b-instruct", name="default", scaling=YARN)
    assert g.rope_type == "yarn"
    assert g.axes == mrope([24, 20, 20], mrope_interleaved=True)
