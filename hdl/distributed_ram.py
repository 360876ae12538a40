# SPDX-License-Identifier: Apache-2.0
"""A memory of LUTs in a block RAM's place, to be measured against it."""

from typing import ClassVar

from amaranth import *

from .primitives import Ram

__all__ = ["DistributedRam"]


class DistributedRam(Ram):
    """A Ram in distributed RAM, of the same ports and latency."""

    _attributes: ClassVar[dict[str, int | str]] = {"ram_style": "distributed"}

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        self._generic(m)
        return m
