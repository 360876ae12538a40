# SPDX-License-Identifier: Apache-2.0
"""The planted mistakes still fit the source; ``make mutants`` sees each of them found."""

from pathlib import Path

import pytest

from tests.mutants.planted import MUTANTS

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_a_mutant_has_one_place_to_be_planted_and_a_test_to_find_it(mutant):
    assert (ROOT / mutant.file).read_text().count(mutant.old) == 1
    file, _, name = mutant.test.partition("::")
    assert f"def {name.partition('[')[0]}(" in (ROOT / file).read_text()


def test_every_mutant_has_a_name_of_its_own():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
