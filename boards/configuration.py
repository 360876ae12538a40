# SPDX-License-Identifier: Apache-2.0
"""What a board is built with: its catalogue's choice, and what one asks for instead."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ropeway.golden.config import model_of
from ropeway.golden.core_options import core_parameters, integer
from ropeway.golden.errors import InputError
from ropeway.golden.geometry import Geometry, RopeGeometry
from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.golden.table_files import image_of

from .catalogue import Board

__all__ = ["Configuration", "configure", "default_config", "default_configuration"]

CONFIGS = {"rope": "llama-3.1-8b", "sinusoidal": "transformer-base"}
BUS = {"core.bus": "registers"}
HOST = "host"
FIFOS = tuple(f"{HOST}.{name}_words" for name in ("vector", "result", "position"))


@dataclass(frozen=True)
class Configuration:
    """A core as a board has it, every parameter by its name, and the geometry it starts with."""

    hosted: HostedParameters
    named: Mapping[str, Any]
    geometry: Geometry

    def as_dict(self) -> dict[str, Any]:
        """What of it is recorded with a bitstream."""
        return {
            "baud": self.hosted.baud,
            "parameters": dict(self.named),
            "scheme": self.geometry.scheme,
            "table_fingerprint": self.geometry.fingerprint,
        }


def configure(
    board: Board,
    geometry: Geometry,
    *,
    scheme: str,
    settings: Mapping[str, str],
    clock_hz: int,
    **common: Any,
) -> Configuration:
    """The configuration of a board whose core has a ``scheme`` and begins with a ``geometry``.

    ``settings`` are single parameters, such as ``rope.slots`` or, of FIFOs,
    ``host.position_words``, beside the catalogue's; of ``common`` ``lanes``, ``bits`` and ``baud``,
    those that are not None are. Raises InputError where they do not go together.
    """
    schemes = tuple(scheme.split(","))
    given = {key: value for key, value in common.items() if value is not None}
    shared = {"lanes": board.core.lanes, "data_bits": board.core.bits}
    for key, parameter in (("lanes", "lanes"), ("bits", "data_bits")):
        shared[parameter] = given.get(key, shared[parameter])
    kept = {
        key: text
        for key, text in board.core.settings.items()
        if key.split(".")[0] in (*schemes, "core", HOST)
    }
    kept |= dict(settings)
    fifos = {key: _words(key, kept.pop(key)) for key in list(kept) if key.split(".")[0] == HOST}
    core, named = core_parameters(schemes, shared, kept | BUS)
    if geometry.scheme not in core.units:
        raise InputError("config", geometry.scheme, f"this core serves {', '.join(core.units)}")
    if isinstance(geometry, RopeGeometry) and core.rope:
        core.rope.check_serves(geometry.table())
    host = {key.split(".")[1]: words for key, words in fifos.items()}
    host |= {"baud": given["baud"]} if "baud" in given else {}
    image = tuple(int(word) for word in image_of(geometry))
    hosted = HostedParameters(core=core, clock_hz=clock_hz, image=image, **host)
    return Configuration(hosted, named | fifos, geometry)


def _words(key: str, text: str) -> int:
    """How deep a FIFO is to be."""
    if key not in FIFOS:
        raise InputError(key, text, f"must be one of {', '.join(FIFOS)}")
    return integer(key, text)


def default_config(scheme: str) -> str:
    """The CONFIG whose geometry a core of that scheme begins with; InputError where it has none."""
    first = scheme.split(",", maxsplit=1)[0]
    if first not in CONFIGS:
        raise InputError("scheme", scheme, f"must be of {', '.join(CONFIGS)} on a board")
    return CONFIGS[first]


def default_configuration(board: Board) -> Configuration:
    """What the catalogue gives a board."""
    geometry = model_of(default_config(board.core.scheme)).geometry(None, None)
    return configure(
        board, geometry, scheme=board.core.scheme, settings={}, clock_hz=board.clock_hz
    )
