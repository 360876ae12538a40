# SPDX-License-Identifier: Apache-2.0
"""The recorded frequencies of transformers' own rotary modules, compared within float32's error."""

import json
from pathlib import Path

import numpy as np
import pytest

from ropeway.golden import RopeGeometry, model_of

ORACLE = json.loads(Path(__file__).with_name("oracle.json").read_text())
RECORDS = ORACLE["records"]
# transformers computes base ** exponent in float32: the exponent's rounding, times ln(base), then
# two more roundings; scaled schedules add a handful of float32 operations.
RELATIVE_ERROR = 4e-7


def ids(record: dict) -> str:
    return f"{record['name']}, {record['geometry']}" if record["geometry"] else record["name"]


def geometry_for(record: dict) -> RopeGeometry:
    model = model_of(record["config"], context=record["context"])
    geometry = model.geometry(record["geometry"] or next(iter(model.geometries)))
    assert isinstance(geometry, RopeGeometry)
    return geometry


@pytest.mark.parametrize("record", RECORDS, ids=ids)
def test_frequencies_and_amplitude_are_those_of_transformers(record):
    geometry = geometry_for(record)
    ours = np.abs(np.array([float(w) for w in geometry.inv_freq]))
    theirs = np.array(record["inv_freq"])
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=RELATIVE_ERROR, atol=0)
    assert geometry.attention_factor == pytest.approx(record["attention_factor"], rel=1e-7)


def test_at_least_forty_configurations_are_recorded():
    assert len({record["name"] for record in RECORDS}) >= 40
    types = {geometry_for(record).rope_type for record in RECORDS}
    assert types == {"default", "linear", "dynamic", "yarn", "llama3", "longrope", "proportional"}
