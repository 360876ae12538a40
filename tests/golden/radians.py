# SPDX-License-Identifier: Apache-2.0
"""Cosines and sines of whole radians, to ten digits, up to the longest context in use."""

__all__ = ["RADIANS"]

RADIANS = [
    (4095, -0.0659759966, -0.9978212104),
    (32767, 0.9822633518, 0.1875065539),
    (131071, -0.8179834994, -0.5752416838),
    (163839, 0.2286846488, -0.9735005554),
    (1048575, 0.7880422395, -0.6156211731),
    (10485759, -0.7155869019, 0.6985237189),
]
