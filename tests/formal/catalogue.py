# SPDX-License-Identifier: Apache-2.0
"""Every claim, in the order in which they build on each other."""

from . import (
    bursts,
    counts,
    direct,
    framing,
    images,
    memory,
    packets,
    pipeline,
    ports,
    positions,
    registers,
    routers,
    rows,
    slices,
    slots,
    sources,
    structure,
    units,
)
from .proof import Proof, Structure

__all__ = ["CLAIMS"]

CLAIMS: list[Proof | Structure] = [
    *slices.PROOFS,
    *counts.PROOFS,
    *framing.PROOFS,
    *pipeline.PROOFS,
    *rows.PROOFS,
    *positions.PROOFS,
    *slots.PROOFS,
    *images.PROOFS,
    *bursts.PROOFS,
    *memory.PROOFS,
    *registers.PROOFS,
    *routers.PROOFS,
    *packets.PROOFS,
    *direct.PROOFS,
    *sources.PROOFS,
    *ports.PROOFS,
    *units.PROOFS,
    *structure.STRUCTURES,
]
