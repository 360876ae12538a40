# SPDX-License-Identifier: Apache-2.0
"""What a model type implies where its config.json is silent: the class defaults, as data.

``families.json`` has a line a model type, recorded from the config and attention classes of
transformers 5.24 and from the remote code of those it does not carry:

``theta``, ``partial``
    the base, and the fraction of a head that turns (default 1)
``pairing``
    of the checkpoint's own weights; with the trait ``interleave-key`` the file may say otherwise
``sizes``
    class defaults of sizes that published files leave out
``local_global``
    the fields of a ``LocalGlobal``
``traits``
    ``interleave-key``: ``rope_interleave`` decides the pairing. ``no-rope-list``: some layers do
    not turn, by a list or an interval. ``sliding-only``: nor do the layers without a window.
    ``states-kv-heads``: the class gives a number of key heads of its own, so silence is no
    statement. ``trailing-slice``: the head's last elements turn, and K and V are one tensor.
    ``turns-backwards``: the sine has the other sign. ``unscaled-scores``: scores are not divided by
    √head_dim. ``ernie-sections``: M-RoPE sections are in the order h, w, t. ``split-head``: they
    split the whole head, which one angle a pair cannot express.

A model type without a line has no defaults.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from .table import Pairing

__all__ = ["FULL", "SLIDING", "Family", "LocalGlobal", "family_of"]

FULL, SLIDING = "full_attention", "sliding_attention"
DATA = Path(__file__).with_name("families.json")


@dataclass(frozen=True)
class LocalGlobal:
    """Two bases in one model, the global first: their keys, defaults and layers.

    Layer i is global where (i + ``phase``) mod ``period`` is 0; ``period_key`` may say another
    period. A flat scaling, the old spelling, applies to the labels in ``scaled``. ``defaults`` are
    entries that a label's parameters have unless the file says otherwise.
    """

    theta: tuple[float, float]
    theta_keys: tuple[str, str] = ("rope_theta", "rope_local_base_freq")
    labels: tuple[str, str] = (FULL, SLIDING)
    period_key: str = "sliding_window_pattern"
    period: int = 6
    phase: int = 1
    scaled: tuple[str, ...] = (FULL,)
    defaults: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True)
class Family:
    """The defaults of one model type; ``theta`` is None where the file has to say it."""

    name: str
    known: bool = False
    theta: float | None = None
    partial: float = 1.0
    pairing: Pairing = Pairing.HALF_SPLIT
    sizes: Mapping[str, int] = field(default_factory=dict)
    local_global: LocalGlobal | None = None
    traits: frozenset[str] = frozenset()


def family_of(model_type: str) -> Family:
    """The defaults of ``model_type``; a part's ``…_text`` is the family of the whole."""
    name = model_type.removesuffix("_text")
    row = dict(_rows().get(name, {}))
    if not row:
        return Family(name)
    bases = row.pop("local_global", None)
    return Family(
        name=name,
        known=True,
        pairing=Pairing(row.pop("pairing")),
        traits=frozenset(row.pop("traits", ())),
        local_global=bases and LocalGlobal(**bases),
        **row,
    )


@cache
def _rows() -> dict[str, dict[str, Any]]:
    return json.loads(DATA.read_text(encoding="utf-8"))
