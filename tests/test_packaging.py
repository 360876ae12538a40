# SPDX-License-Identifier: Apache-2.0
"""What is shipped: the wheel, the README's examples, and the habits that every file keeps."""

import ast
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("golden", "hdl", "sim", "boards", "cli")  # each may import those before it
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MODULES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
PYTHON = [*MODULES, *sorted((ROOT / "tests").rglob("*.py"))]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("ropeway", *(part for part in parts if part != "__init__")))


def imports_of(path: Path) -> list[str]:
    """What a file imports from elsewhere, in full; relative imports stay within their folder."""
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names += [node.module or ""]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 1, f"{name_of(path)} imports from above its folder"
    return names


def texts() -> list[Path]:
    """Every file that is written by hand."""
    files = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in (*FOLDERS, "tests", "docs", ".ci"):
        files += (path for path in (ROOT / folder).rglob("*") if path.is_file())
    return [path for path in files if "__pycache__" not in path.parts]


def test_packages_name_every_folder_that_has_code():
    setuptools = PROJECT["tool"]["setuptools"]
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    assert set(setuptools["packages"]) == {f"ropeway.{folder}" for folder in folders}
    assert setuptools["package-dir"] == {f"ropeway.{folder}": folder for folder in folders}
    assert folders == set(FOLDERS)
    for folder in folders:
        below = {path.parent for path in (ROOT / folder).rglob("*.py")}
        assert below == {ROOT / folder}, "a package within a package is not shipped"
        assert (ROOT / folder / "py.typed").exists()
        assert (ROOT / ".types" / "ropeway" / folder).resolve() == ROOT / folder


@pytest.mark.parametrize("path", PYTHON, ids=name_of)
def test_file_begins_with_its_licence_and_a_sentence(path):
    text = path.read_text()
    assert text.startswith("# SPDX-License-Identifier: Apache-2.0\n")
    said = ast.get_docstring(ast.parse(text))
    assert said, "the file says nothing about itself"
    assert said.splitlines()[0].endswith(".")


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_module_says_in_order_what_it_offers(path):
    if path.name == "__main__.py":
        pytest.skip("a script")
    module = import_module(module_of(path))
    offered = getattr(module, "__all__", None)
    if offered is None:
        assert path.name == "__init__.py"
        return
    rank = {name: (not name.isupper(), not name[:1].isupper(), name) for name in offered}
    assert offered == sorted(offered, key=rank.get)
    assert all(hasattr(module, name) for name in offered)


@pytest.mark.parametrize("path", PYTHON, ids=name_of)
def test_no_file_imports_a_folder_as_if_it_were_the_package(path):
    assert not {name.split(".")[0] for name in imports_of(path)} & set(FOLDERS)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_up_the_list_of_folders(path):
    folder = path.relative_to(ROOT).parts[0]
    allowed = FOLDERS[: FOLDERS.index(folder) + 1]
    for name in imports_of(path):
        package, _, rest = name.partition(".")
        if package == "ropeway":
            assert rest.split(".")[0] in allowed
        if folder == "golden":
            assert package in {*sys.stdlib_module_names, "numpy", "ropeway"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel of this tree, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = "pip wheel --quiet --no-deps --no-build-isolation --disable-pip-version-check"
    subprocess.run(
        [sys.executable, "-m", *command.split(), "--wheel-dir", folder, source],
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("ropeway-*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def test_wheel_holds_every_file(wheel):
    wanted = {
        path.relative_to(ROOT)
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".json", ".cpp", ".h", ".v") or path.name == "py.typed"
    }
    packages = wheel / "ropeway"
    assert {path.relative_to(packages) for path in packages.rglob("*") if path.is_file()} == wanted
    assert list(wheel.glob("*.dist-info/licenses/LICENSE"))


def test_wheel_imports_and_runs_without_this_tree(wheel, tmp_path):
    script = (
        f"import sys; sys.path[:0] = {[str(wheel), sysconfig.get_path('purelib')]!r}\n"
        "import ropeway.golden, ropeway.hdl, ropeway.sim.bench, ropeway.boards\n"
        f"assert ropeway.golden.__file__.startswith({str(wheel)!r})\n"
        "from ropeway.cli import main\n"
        "sys.exit(main(['inspect', 'llama-3.1-8b']))"
    )
    # Without site, the editable install of this tree is not on the path.
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "head_dim" in done.stdout


README_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SETS_UP = ("git clone", "make")


def test_readme_examples_run_in_their_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", sysconfig.get_path("scripts"), prepend=":")
    blocks, names = README_BLOCK.findall((ROOT / "README.md").read_text()), {}
    assert {language for language, _ in blocks} == {"sh", "python", "text"}
    for language, text in blocks:
        if language == "python":
            exec(text, names)
        elif language == "sh" and not text.startswith(SETS_UP):
            done = subprocess.run(
                ["bash", "-euc", text], capture_output=True, text=True, check=False
            )
            assert (done.returncode, done.stderr) == (0, ""), text


def test_readme_names_only_targets_that_make_has():
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = re.findall(r"\bmake ([a-z]+)`?$|`make ([a-z]+)`", (ROOT / "README.md").read_text())
    assert {a or b for a, b in named} <= set(targets)
    assert {"setup", "demo", "test", "lint", "types", "mutants", "report", "clean"} <= set(targets)


def test_changelog_has_a_place_for_what_is_new():
    text = (ROOT / "CHANGELOG.md").read_text()
    assert "## [Unreleased]" in text
    assert "Keep a Changelog" in text


def test_nothing_names_a_machine_or_a_package_index():
    places = ("work", "root", "home", "opt", "tmp", "srv", "mnt")
    found = re.compile(
        rf"(?<![\w.}}~/])/(?:{'|'.join(places)})/\w|py{'pi'}\.|index-{'url'}|python{'hosted'}"
    )
    for path in texts():
        if path.suffix not in (".png", ".json"):
            assert not found.search(path.read_text()), (
                f"{name_of(path)}: {found.search(path.read_text())}"
            )


FAKE_MAKE = """#!/bin/sh
printf '%s\\n' "$OUTPUT"
echo 'make: *** [Makefile:1: test] Error' >&2
exit "$STATUS"
"""


@pytest.mark.parametrize(
    ("output", "status", "exits", "last"),
    [
        ("===== 12 passed in 3.10s =====", 0, 0, "===== 12 passed in 3.10s ====="),
        (
            "===== 1 failed, 2 passed in 3.10s =====",
            2,
            2,
            "===== 1 failed, 2 passed in 3.10s =====",
        ),
        (
            "12 passed, 1 skipped in 63.10s (0:01:03)",
            0,
            0,
            "12 passed, 1 skipped in 63.10s (0:01:03)",
        ),
        ("===== no tests ran in 0.10s =====", 2, 2, "===== no tests ran in 0.10s ====="),
        ("===== no tests ran in 0.10s =====", 0, 5, "===== no tests ran in 0.10s ====="),
        ("make: Python's venv is missing", 2, 2, "ci: make test ended before pytest did"),
        ("nothing was made", 0, 1, "ci: make test ended before pytest did"),
    ],
)
def test_ci_ends_with_pytests_line_and_verdict(tmp_path, monkeypatch, output, status, exits, last):
    make = tmp_path / "make"
    make.write_text(FAKE_MAKE)
    make.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("OUTPUT", output)
    monkeypatch.setenv("STATUS", str(status))
    done = subprocess.run([ROOT / ".ci" / "run"], capture_output=True, text=True, check=False)
    assert done.returncode == exits
    assert done.stdout.splitlines()[-1] == last
