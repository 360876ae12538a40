# SPDX-License-Identifier: Apache-2.0
"""A short prefill through the compiled Verilog is golden's, at the clocks the law states."""

import numpy as np

from ropeway.golden.parameters import RopeParameters
from ropeway.sim import prefill as module
from ropeway.sim.prefill import main, prefill


def test_a_short_prefill_is_golden_s_at_the_law_s_rate(capsys):
    assert main(["--tokens", "64"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("llama-3.1-8b, 64 tokens\n")
    assert "clocks a token  768, by the law 768\n" in out
    assert "pairs turned    163,840, " in out  # 64 · 40 heads · 64
    assert out.endswith("compared        393,216 elements, none different\n")  # 64 · 48 · 128


def test_one_different_bit_fails(monkeypatch):
    golden = module.golden

    def wrong(parameters, batch):
        out, saturated = golden(parameters, batch)
        out["v"][-1, -1, -1] ^= 1
        return out, saturated

    monkeypatch.setattr(module, "golden", wrong)
    found = prefill(tokens=4)
    assert (found.different, found.holds) == (1, False)
    assert "196,608" not in str(found)
    assert "1 different" in str(found)


def test_a_slower_token_fails(monkeypatch):
    law = RopeParameters.clocks_per_token
    monkeypatch.setattr(RopeParameters, "clocks_per_token", lambda *a: law(*a) - 1)
    assert main(["--tokens", "4"]) == 1


def test_what_is_fed_has_corners_and_every_kind_of_head():
    batch = module.batch_of("llama-3.1-8b", 64)
    assert {kind: heads.shape for kind, heads in batch.heads.items()} == {
        "q": (64, 32, 128),
        "k": (64, 8, 128),
        "v": (64, 8, 128),
    }
    assert np.all(batch.heads["q"][0] == -(1 << 15))
    assert batch.heads["q"][1].std() > 1 << 14


def test_wrong_arguments_are_refused_in_a_line(capsys):
    assert main(["--tokens", "1"]) == 2
    assert capsys.readouterr().err == "ropeway: error: tokens = 1: must be at least 2\n"
    assert main(["--config", "absent"]) == 2
    assert capsys.readouterr().err.startswith("ropeway: error: config = absent")
