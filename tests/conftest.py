# SPDX-License-Identifier: Apache-2.0
"""What tests of more than one folder share."""

import gc
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from ropeway.cli import main

# The suite tries the same examples each time; `make search` looks for others, and for longer.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.register_profile("search", derandomize=False, deadline=None, max_examples=2000)
settings.load_profile("suite")

TINY_LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "max_position_embeddings": 128,
    "rope_theta": 10000.0,
}


@pytest.fixture(autouse=True)
def native_cache(monkeypatch) -> Path:
    """Where compiled models are kept between the suite's runs; `make clean` removes it."""
    folder = Path(__file__).parents[1] / "build" / "native"
    monkeypatch.setattr("ropeway.sim.native_build.cache_folder", lambda: folder)
    return folder


@pytest.fixture(scope="module", autouse=True)
def garbage() -> Iterator[None]:
    """What a module leaves warns in the module's own name, not in whose test it is collected."""
    yield
    gc.collect()


@dataclass(frozen=True)
class Called:
    """What a command did."""

    status: int
    out: str
    err: str


@pytest.fixture
def ropeway(capsys):
    """Calls the command in this process."""

    def call(*words: object) -> Called:
        status = main([str(word) for word in words])
        return Called(status, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> Path:
    """The config.json of a small Llama: 4 heads and 2 key heads of 16."""
    path = tmp_path_factory.mktemp("tiny") / "config.json"
    path.write_text(json.dumps(TINY_LLAMA))
    return path


@pytest.fixture
def run(ropeway, tmp_path):
    """Runs arrays through the command; returns what it did, the arrays out and the report."""

    def call(config, arrays, *options):
        np.savez(tmp_path / "in.npz", **arrays)
        output = tmp_path / "out.npz"
        called = ropeway("run", config, tmp_path / "in.npz", "-o", output, *options)
        if called.status == 2:
            assert not output.exists()
            return called, {}, {}
        with np.load(output) as archive:
            out = dict(archive)
        return called, out, json.loads(str(out.pop("report")))

    return call
