# SPDX-License-Identifier: Apache-2.0
"""Configs come from files, folders and presets, quickly and with NumPy alone."""

import json
import os
import subprocess
import sys

import pytest

from ropeway.golden import InputError, geometry_of, preset_names
from ropeway.golden.sources import preset

from .configs import LLAMA


def test_a_folder_and_a_file_read_as_their_object(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    for path in (tmp_path, tmp_path / "config.json", str(tmp_path / "config.json")):
        assert geometry_of(path) == geometry_of(LLAMA)


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe\x00", b"{", b"[]", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"[" * 100000, b""],
)
def test_files_that_are_no_object_are_refused(tmp_path, content):
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(InputError):
        geometry_of(path)


def test_the_python_interface_starts_in_half_a_second():
    code = "from ropeway import golden; golden.geometry_of('llama-3.1-8b').table().image()"
    taken = []
    for _ in range(3):
        before = os.times()
        subprocess.run([sys.executable, "-c", code], check=True)
        after = os.times()
        user = after.children_user - before.children_user
        taken.append(user + after.children_system - before.children_system)
    assert min(taken) < 0.5  # processor time, which a busy machine does not stretch


def test_nothing_but_numpy_is_imported():
    code = "import sys, ropeway.golden; print(sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert "'amaranth'" not in loaded.stdout
    assert "'hypothesis'" not in loaded.stdout


def test_presets_are_at_hand_and_never_shared():
    names = preset_names()
    assert len(names) >= 45
    assert {"llama-3.1-8b", "qwen2.5-7b", "gpt-neox-20b", "phi-2", "gpt-j-6b"} <= set(names)
    preset("phi-2")["hidden_size"] = 0
    assert preset("phi-2")["hidden_size"] == 2560
