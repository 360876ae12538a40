# SPDX-License-Identifier: Apache-2.0
"""The choices' document is made of their measurements, and what they compare computes the same."""

import json

import pytest

from ropeway.boards.choices import DEVICE, components, rom_errors
from ropeway.boards.choices_document import CHOICES, DOCUMENT, document
from ropeway.boards.place import netlist
from ropeway.boards.report import configuration_hash

MEASURED = json.loads(CHOICES.read_text())
ALTERNATIVES = [(question, name) for question, found in components().items() for name in found]


def test_the_document_is_made_of_the_measurements():
    assert DOCUMENT.read_text() == document(MEASURED)


def test_every_alternative_is_measured():
    asked = {question: list(found) for question, found in components().items()}
    assert {question: list(MEASURED[question]) for question in asked} == asked


@pytest.mark.parametrize(("question", "name"), ALTERNATIVES)
def test_the_measurements_are_of_these_alternatives(question, name):
    """Stale figures: run `make choices`."""
    found = configuration_hash(netlist(components()[question][name](), DEVICE))
    assert MEASURED[question][name]["configuration"] == found


def test_a_rom_s_errors_are_those_reported_and_fall_with_size_and_terms():
    found = rom_errors()
    assert [row["error"] for row in found] == pytest.approx(
        [row["error"] for row in MEASURED["rom"]], rel=0.02
    )
    by_size = {(row["entries"], row["terms"]): row["error"] for row in found if "built" not in row}
    assert by_size[256, 1] > 8 * by_size[256, 2] > 8 * by_size[1024, 2]
    assert by_size[1024, 1] == pytest.approx(by_size[256, 1] / 4, rel=0.02)
