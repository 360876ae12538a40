# SPDX-License-Identifier: Apache-2.0
"""Makes what a claim is judged by, of the tree that it runs in.

``python -m tests.formal.emit NAME FILE [claims]`` writes a proof's harness as RTLIL, without its
invariants where only the claims are wanted; ``… NAME`` prints each place that breaks a structure.
"""

import sys
from contextlib import nullcontext
from pathlib import Path

from amaranth.back import rtlil

from .catalogue import CLAIMS
from .proof import Proof, Structure
from .rules import claims_alone

__all__ = ["emitted"]


def emitted(proof: Proof) -> str:
    """The harness in RTLIL. Its reset is free: any clock may reset the block and its harness.

    Raises LookupError where it covers nothing.
    """
    text = rtlil.convert(proof.harness(), name="top", ports=[])
    if '"cover"' not in text:
        raise LookupError(f"{proof.name} covers nothing")
    return text


def main(name: str, *arguments: str):
    """Make what one claim is judged by."""
    (claim,) = (claim for claim in CLAIMS if claim.name == name)
    if isinstance(claim, Structure):
        print("\n".join(claim.broken()))
        return
    path, *claims = arguments
    with claims_alone() if claims else nullcontext():
        Path(path).write_text(emitted(claim))


if __name__ == "__main__":
    main(*sys.argv[1:])
