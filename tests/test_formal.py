# SPDX-License-Identifier: Apache-2.0
"""A sample of the formal proofs, and what all of them must have; ``make prove`` runs the rest."""

import pytest

from tests.formal.catalogue import CLAIMS
from tests.formal.checks import ROOT, checks
from tests.formal.page import PAGE, page
from tests.formal.symbiyosys import warm_up

BUILD = ROOT / "build" / "formal-sample"  # the tools see no temporary folder
SAMPLE = [
    check
    for claim in CLAIMS
    if claim.name in ("skid", "unit ledger", "positions ahead")
    for check in checks(claim)
]
BUGS = [(claim, number) for claim in CLAIMS for number in range(len(claim.bugs))]


@pytest.fixture(scope="module")
def tools():
    warm_up(BUILD / "bin")


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("check", SAMPLE, ids=[check.name for check in SAMPLE])
def test_a_claim_is_proved_its_covers_are_reached_and_its_bugs_are_rejected(check):
    outcome = check.outcome(BUILD)
    assert outcome.word == check.wanted, outcome.log


@pytest.mark.parametrize(("claim", "number"), BUGS, ids=[f"{c.name}, bug {n + 1}" for c, n in BUGS])
def test_a_planted_bug_has_one_place(claim, number):
    bug = claim.bugs[number]
    assert (ROOT / bug.file).read_text().count(bug.old) == 1


def test_every_claim_has_a_name_of_its_own_and_a_bug_that_it_rejects():
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
    assert all(claim.bugs for claim in CLAIMS)


def test_the_page_of_claims_is_what_they_say():
    assert PAGE.read_text() == page()
