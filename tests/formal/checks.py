# SPDX-License-Identifier: Apache-2.0
"""The runs that a claim needs: of itself, of its covers, and of the tree with each bug planted."""

import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

from tests.mutants.__main__ import copied, plant, run

from .proof import Bug, Proof, Structure
from .symbiyosys import Outcome, symbiyosys

__all__ = ["Check", "checks"]

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Check:
    """One run, in a folder of its own, and the word that it must end with."""

    name: str
    judge: Callable[[Path], Outcome]
    wanted: str

    def outcome(self, folder: Path) -> Outcome:
        """The run's outcome; an ERROR where it could not be made."""
        try:
            return self.judge(folder / re.sub(r"\W+", "_", self.name))
        except (LookupError, RuntimeError) as error:
            return Outcome("ERROR", 0.0, str(error))


def checks(claim: Proof | Structure) -> Iterator[Check]:
    """All runs of a claim."""
    if isinstance(claim, Structure):
        yield Check(claim.name, partial(structure, claim, ROOT), "PASS")
        for number, bug in enumerate(claim.bugs, start=1):
            yield Check(f"{claim.name}: bug {number}", partial(broken, claim, bug), "FAIL")
        return
    mode = "bmc" if claim.bounded else "prove"
    yield Check(claim.name, partial(proof, claim, ROOT, mode), "PASS")
    yield Check(f"{claim.name}: covers", partial(proof, claim, ROOT, "cover"), "PASS")
    for number, bug in enumerate(claim.bugs, start=1):
        wanted = "FAIL" if bug.found else "UNKNOWN"
        yield Check(f"{claim.name}: bug {number}", partial(broken, claim, bug), wanted)


def proof(claim: Proof, tree: Path, mode: str, folder: Path, *options: str) -> Outcome:
    """SymbiYosys's verdict on the harness around a tree's own blocks."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "design.il"
    path.unlink(missing_ok=True)
    _python(tree, "tests.formal.emit", claim.name, str(path), *options)
    depth = claim.reach if mode == "cover" else claim.depth
    return symbiyosys(path.read_text(), mode, depth, folder)


def structure(claim: Structure, tree: Path, _folder: Path) -> Outcome:
    """Whether nothing in a tree's netlists breaks the claim."""
    begun = perf_counter()
    places = _python(tree, "tests.formal.emit", claim.name)
    return Outcome("FAIL" if places else "PASS", perf_counter() - begun, places)


def broken(claim: Proof | Structure, bug: Bug, folder: Path) -> Outcome:
    """The verdict with the bug planted; of a proof, on the claim without its invariants."""
    with tempfile.TemporaryDirectory() as name:
        tree = copied(Path(name))
        plant(tree, bug)
        if isinstance(claim, Structure):
            return structure(claim, tree, folder)
        mode = "bmc" if bug.found else "prove"
        return proof(claim, tree, mode, folder, *(["claims"] if bug.found else []))


def _python(tree: Path, *arguments: str) -> str:
    """What a module says that runs in a tree. Raises RuntimeError where it fails."""
    done = run(tree, "-m", *arguments)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return done.stdout.strip()
