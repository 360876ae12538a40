# SPDX-License-Identifier: Apache-2.0
"""The report's page in a real browser: every figure drawn, nothing fetched, no complaint."""

import json
import os
import re

import pytest

from ropeway.boards.report import REPORT
from ropeway.boards.report_figures import critical_parts, figures
from ropeway.boards.report_page import page
from ropeway.boards.svg import Bar, Series, bar_chart, line_chart, si, wave_chart
from tests.boards.browser import Browser, find_browser

REPORTED = json.loads(REPORT.read_text())
TITLES = {
    "Area against lanes",
    "Clock rate against lanes",
    "Pairs a second for each multiplier",
    "Pairs a second for each LUT",
    "Error against position",
    "Critical path of each design",
    "Tokens a second by model",
    "Three tokens, clock by clock",
}
DRAWN = "document.querySelectorAll('figure svg')"
SIZES = f"[...{DRAWN}].map(s => {{ const b = s.getBBox(); return [b.width, b.height]; }})"
OUTSIDE = f"""[...{DRAWN}].flatMap(s => [...s.querySelectorAll('text, rect, circle')].filter(e => {{
  const a = e.getBBox(), b = s.viewBox.baseVal; if (e.hasAttribute('transform')) return false;
  return a.x < -1 || a.y < -1 || a.x + a.width > b.width + 1 || a.y + a.height > b.height + 1;
}}).map(e => e.textContent))"""


@pytest.fixture(scope="module")
def browser():
    if (command := find_browser()) is None:
        # npm is on CI's machines; a browser that is missing there is a fault.
        assert not os.environ.get("CI"), "no browser: python -m tests.boards.install_browser"
        pytest.skip("no Chromium here: `make test` installs one where there is npm")
    with Browser(command) as found:
        yield found


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "report.html"
    path.write_text(page(REPORTED))
    return path


def test_a_browser_draws_every_figure_and_has_no_complaint(browser, written):
    browser.open(written.as_uri())
    assert not browser.complaints
    titles = browser.value("[...document.querySelectorAll('figure h3')].map(h => h.textContent)")
    assert set(titles) >= TITLES
    sizes = browser.value(SIZES)
    assert len(sizes) == len(titles)
    assert all(width > 100 and height > 20 for width, height in sizes)
    assert not browser.value(OUTSIDE)
    assert browser.value("document.querySelectorAll('table').length") >= 3
    fetched = {url for url in browser.requests if not url.startswith("data:")}
    assert fetched == {written.as_uri()}


def test_a_page_with_a_fault_is_complained_of(browser, tmp_path):
    path = tmp_path / "faulty.html"
    fault = "<script>console.error('planted'); undefinedName();</script>"
    path.write_text(page(REPORTED).replace("</body>", f"{fault}</body>"))
    browser.open(path.as_uri())
    assert any("planted" in said for said in browser.complaints)
    assert any("Uncaught" in said for said in browser.complaints)
    browser.complaints.clear()


def test_a_page_has_no_script_and_no_address_of_the_network():
    text = page(REPORTED)
    assert "<script" not in text
    assert not re.search(r"(src|href)=[\"']?(?!\"?data:)", text)
    assert "url(" not in text


def test_every_design_s_critical_path_is_in_the_page():
    text = page(REPORTED)
    for name in REPORTED["designs"]:
        assert f"<summary>{name}, " in text


def test_a_report_of_little_has_few_figures():
    (one,) = figures({"designs": {}, "waveform": {"valid": "01"}})
    assert one.title == "Three tokens, clock by clock"


def test_a_critical_path_s_parts_are_summed_by_kind():
    path = [
        "0.50 ns clk-to-q a → a",
        "1.25 ns routing a → b",
        "0.30 ns chain of 5 steps",
        "0.20 ns logic b → c",
        "0.10 ns setup c → c",
    ]
    parts = critical_parts(path)
    assert parts == {"logic": 0.5, "routing": 1.25, "clock to output": 0.5, "setup": 0.1}


def test_lines_stand_where_their_numbers_are():
    series = [Series("a", [(1, 10), (10, 1000)]), Series("b", [(1, 100)], 2)]
    text = line_chart("t", "x", "y", series, x_log=True, y_log=True)
    marks = re.findall(r'cx="([0-9.]+)" cy="([0-9.]+)"', text)
    (left, low), (right, high), (same, middle) = [(float(x), float(y)) for x, y in marks]
    assert left == same < right
    assert high < middle < low
    assert middle == pytest.approx((high + low) / 2, abs=0.2)


def test_bars_are_as_long_as_their_numbers():
    bars = [Bar("a", [(1, 1, ""), (3, 2, "")], "4"), Bar("b", [(2, 1, "")], "2")]
    widths = [float(w) for w in re.findall(r'height="16" width="([0-9.]+)"', bar_chart("t", bars))]
    assert widths[1] == pytest.approx(3 * widths[0], abs=0.2)
    assert widths[2] == pytest.approx(2 * widths[0], abs=0.2)


def test_waves_rise_and_fall_with_their_bits():
    text = wave_chart("t", {"v": [0, 1, 1, 0]}, clock=10)
    heights = [int(y) for y in re.findall(r"V(\d+)", text)]
    assert heights[0] == heights[3] == heights[1] + 16 == heights[2] + 16


@pytest.mark.parametrize(
    ("value", "said"), [(1234, "1.23k"), (2e6, "2M"), (0.5, "0.5"), (0, "0"), (3.1e9, "3.1G")]
)
def test_numbers_are_short(value, said):
    assert si(value) == said
