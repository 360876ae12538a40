# SPDX-License-Identifier: Apache-2.0
"""Writes docs/verification.md from the claims: ``python -m tests.formal.page``."""

from pathlib import Path

from .catalogue import CLAIMS
from .proof import Bug, Proof, Structure

__all__ = ["PAGE", "page"]

PAGE = Path(__file__).parents[2] / "docs" / "verification.md"
TEXT = """\
# What is proved

Tests try inputs; what stands here holds for every input. `make prove` runs SymbiYosys on each claim
below, and on the tree with each of the planted bugs, which must be rejected. It takes ten to
twenty minutes on two cores; `make test` runs a sample. The claims are in `tests/formal/`, a
harness a block; this page is written from them by `python -m tests.formal.page`.

- **Any time**: no counterexample within so many clocks from reset, and then by induction over at
  most as many, so in every state that can be reached. **To n clocks**: searched that far, and no
  further. **Netlist**: no path through the logic, whatever the state.
- Inputs are free in every clock, and so is the reset, which may come at any time. A stream that
  comes in keeps to the rules that are proved of those that go out: nothing is offered in the clock
  after reset, and what is offered stays until it is taken. What else is assumed is said beside the
  claim; where a block is taken without some of its parts, these have claims of their own, or make
  numbers and never wait.
- Order is proved by counting: the n-th item out is the n-th item in, for any n. So nothing is lost,
  given twice or exchanged.
- Every claim has covers, situations that must be reachable, so that none holds for want of traffic.
- A bug is searched for with the claim alone, without the invariants that induction is given. Where
  it would show only after more clocks than are searched, the induction must fail.
- Blocks are proved at small sizes: one or two lanes, 8-bit elements, heads of 4 to 16 elements, two
  slots. Arithmetic is not proved here; hardware is compared with the golden model instead.

{claims} claims: {unbounded} at any time, {bounded} to a bound, {structures} of the netlist; {bugs}
planted bugs.

| block | claim | holds | given | bugs that it rejects |
|---|---|---|---|---|
{rows}
"""


def page() -> str:
    """The page's text."""
    proofs = [claim for claim in CLAIMS if isinstance(claim, Proof)]
    bounded = sum(claim.bounded for claim in proofs)
    return TEXT.format(
        claims=len(CLAIMS),
        unbounded=len(proofs) - bounded,
        bounded=bounded,
        structures=len(CLAIMS) - len(proofs),
        bugs=sum(len(claim.bugs) for claim in CLAIMS),
        rows="\n".join(_row(claim) for claim in CLAIMS),
    )


def _row(claim: Proof | Structure) -> str:
    cells = claim.name, claim.claim, _extent(claim), claim.given, _bugs(claim.bugs)
    return f"| {' | '.join(cells)} |"


def _extent(claim: Proof | Structure) -> str:
    if isinstance(claim, Structure):
        return "netlist"
    return f"to {claim.depth} clocks" if claim.bounded else "any time"


def _bugs(bugs: tuple[Bug, ...]) -> str:
    return "<br>".join(f"{_code(bug.old)} → {_code(bug.new)} in {bug.file}" for bug in bugs)


def _code(text: str) -> str:
    """Code within a table's cell, where a bar must be escaped."""
    return f"`{text}`".replace("|", "\\|") if text else "nothing"


if __name__ == "__main__":
    PAGE.write_text(page())
