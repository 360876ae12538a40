# SPDX-License-Identifier: Apache-2.0
"""The figure of the scalings is drawn, from the scalings that the golden model knows."""

from ropeway.golden.rope_types import ROPE_TYPES
from ropeway.sim import scalings


def test_the_figure_is_written_where_the_argument_says(tmp_path, capsys):
    path = tmp_path / "new" / "scalings.png"
    assert scalings.main(["-o", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}\n"
    image = path.read_bytes()
    assert image.startswith(b"\x89PNG")
    assert len(image) > 50_000


def test_each_scaling_has_a_line_of_its_own():
    assert {*scalings.SCALINGS, scalings.LONGROPE} == set(scalings.LINES)
    assert set(scalings.COMPARED) <= set(scalings.SCALINGS)
    types = {scaling.get("rope_type", "default") for scaling in scalings.SCALINGS.values()}
    assert types <= set(ROPE_TYPES)
    colours = [line["color"] for line in scalings.LINES.values()]
    assert len(set(colours)) == len(colours)
