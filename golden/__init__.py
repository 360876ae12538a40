# SPDX-License-Identifier: Apache-2.0
"""Exact mathematics, checkpoint geometry and the bit-true integer model; needs NumPy only."""

from .additive import AlibiGeometry, LearnedGeometry, SinusoidalGeometry
from .config import geometry_of, model_of
from .errors import InputError
from .geometry import Geometry, Model, QueryTemperature, RopeGeometry
from .sources import preset_names
from .table import HeadPattern, Pairing, PhaseTable

__all__ = [
    "AlibiGeometry",
    "Geometry",
    "HeadPattern",
    "InputError",
    "LearnedGeometry",
    "Model",
    "Pairing",
    "PhaseTable",
    "QueryTemperature",
    "RopeGeometry",
    "SinusoidalGeometry",
    "geometry_of",
    "model_of",
    "preset_names",
]
