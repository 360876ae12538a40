# SPDX-License-Identifier: Apache-2.0
"""Plants every mutant in a copy of the tree and sees its test red: ``python -m tests.mutants``.

Arguments choose the mutants whose names contain one of them. Exits 1 naming every survivor.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .planted import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
PACKAGES = ("golden", "hdl", "sim", "boards", "cli")
GREEN, RED = 0, 1  # pytest's exit codes for passed and failed tests
TIMEOUT = 300  # seconds a mutant's test may take; one that hangs is found


def copied(target: Path) -> Path:
    """A copy of the tree whose packages import, ahead of the installed ones, from ``target``."""
    for name in PACKAGES:
        skip = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, target / "ropeway" / name, ignore=skip)
    shutil.copytree(ROOT / "tests", target / "tests", ignore=skip)
    shutil.copy(ROOT / "pyproject.toml", target)
    return target


def run(tree: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Python in a copied tree, importing that tree's packages."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=tree,
        env=environment,
        timeout=TIMEOUT,
        check=False,
        capture_output=True,
        text=True,
    )


def pytest(tree: Path, *tests: str) -> subprocess.CompletedProcess:
    """The named tests, in a copied tree."""
    return run(tree, "-m", "pytest", "-q", "-x", "--tb=line", "-p", "no:cacheprovider", *tests)


def plant(tree: Path, mutant: Mutant):
    """Make the mutant's replacement; LookupError where its snippet is not there just once."""
    path = tree / "ropeway" / mutant.file
    text = path.read_text()
    if text.count(mutant.old) != 1:
        raise LookupError(f"its snippet is {text.count(mutant.old)} times in {mutant.file}")
    path.write_text(text.replace(mutant.old, mutant.new))


def verdict(mutant: Mutant) -> str:
    """How a mutant fared: empty where its test turned red, else what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        try:
            plant(tree, mutant)
            code = pytest(tree, mutant.test).returncode
        except LookupError as error:
            return str(error)
        except subprocess.TimeoutExpired:
            return ""
    if code == GREEN:
        return f"survives {mutant.test}"
    return "" if code == RED else f"{mutant.test} did not run, exit code {code}"


def check_unmutated(mutants: list[Mutant]):
    """Exit where a copied tree does not import its own packages, or a named test is red in it."""
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        for package in PACKAGES:
            place = f"import ropeway.{package} as p; print(p.__file__)"
            if not run(tree, "-c", place).stdout.startswith(str(tree)):
                sys.exit(f"mutants: ropeway.{package} is not imported from the copied tree")
        tests = sorted({mutant.test for mutant in mutants})
        result = pytest(tree, *tests)
        if result.returncode != GREEN:
            sys.exit(f"{result.stdout}\nmutants: a named test is red without any mutant")


def main() -> int:
    """Run the chosen mutants; returns the exit code."""
    words = sys.argv[1:]
    chosen = [m for m in MUTANTS if not words or any(word in m.name for word in words)]
    check_unmutated(chosen)
    failures = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, wrong in zip(chosen, pool.map(verdict, chosen), strict=True):
            failures += bool(wrong)
            print(f"{'FAILED' if wrong else 'killed'}  {mutant.name}  {wrong}".rstrip(), flush=True)
    print(f"mutants: {len(chosen) - failures} of {len(chosen)} killed")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
