# SPDX-License-Identifier: Apache-2.0
"""The position geometry of a checkpoint: what each of its attention layers or tables computes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from math import floor, log, log1p
from typing import Any, ClassVar, Literal

from .additive import AlibiGeometry, LearnedGeometry, SinusoidalGeometry, check_rank
from .errors import InputError
from .schedules import increment
from .table import HeadPattern, Pairing, PhaseTable, amplitude_code

__all__ = ["Geometry", "Model", "QueryTemperature", "RopeGeometry"]

KINDS = ("q", "k", "v")
VISION = "vision"


@dataclass(frozen=True)
class QueryTemperature:
    """A factor on Q that grows with the position p, beside the rotation and no part of it.

    ``floor-log``: 1 + ``beta``·ln(1 + floor((p + ``offset``)/``length``)). ``log-n``: the logarithm
    of p + 1 to base ``length``, and no less than 1. ``layers`` says which take it: "all" or "nope".
    """

    rule: Literal["floor-log", "log-n"]
    length: int
    beta: float = 1.0
    offset: int = 0
    layers: Literal["all", "nope"] = "all"

    def at(self, position: int) -> float:
        """The factor on the query at ``position``, counted from 0."""
        if self.rule == "floor-log":
            return 1 + self.beta * log1p(floor((position + self.offset) / self.length))
        return max(log(position + 1) / log(self.length), 1.0)


@dataclass(frozen=True, kw_only=True)
class RopeGeometry:
    """How one kind of attention layer turns its heads.

    ``inv_freq`` are radians a position, one a pair, to 50 digits or more. ``axes`` name the column
    of the positions each pair follows: 0 in text; t, h, w in M-RoPE; h, w or x, y in vision, in the
    order of the family. ``head_dim`` and ``rotary_offset`` count elements of the vector that
    carries the rotation: with multi-head latent attention that is the rope slice, a head of its
    own. ``attention_factor`` scales cosine and sine, ``softmax_scale`` the scores (stated, not done
    here). ``context`` is the trained length, or the declared one where frequencies follow it; 0:
    not stated.
    """

    rope_type: str
    rope_scaling_resolved: Mapping[str, Any]
    head_dim: int
    heads: int
    kv_heads: int
    inv_freq: tuple[Decimal, ...]
    softmax_scale: float
    pairing: Pairing = Pairing.HALF_SPLIT
    rotary_offset: int = 0
    rotated: tuple[str, ...] = ("q", "k")
    attention_factor: float = 1.0
    query_temperature: QueryTemperature | None = None
    context: int = 0
    axes: tuple[int, ...] = ()
    scheme: ClassVar[str] = "rope"
    applies_to: ClassVar[str] = "qk"

    def __post_init__(self):
        object.__setattr__(self, "axes", tuple(self.axes) or (0,) * len(self.inv_freq))

    @property
    def rotary_dim(self) -> int:
        """Elements of a head that turn."""
        return 2 * len(self.inv_freq)

    @cached_property
    def increments(self) -> tuple[int, ...]:
        """The nearest 2^-48 turn to what each pair turns in a position."""
        return tuple(map(increment, self.inv_freq))

    @property
    def pattern(self) -> HeadPattern:
        """Q‖K‖V as a fused projection gives it, with the kinds that rotate."""
        return HeadPattern(self.heads, self.kv_heads, self.kv_heads, rotated=self.turns)

    def table(self, pattern: HeadPattern | None = None, *, amplitude: bool = True) -> PhaseTable:
        """What a slot of the hardware is loaded with; ``pattern`` defaults to 1 × [Q, K, V].

        Without ``amplitude`` the table only turns, as a shift of cached keys must. Raises
        InputError for an amplitude or a size that the image cannot hold.
        """
        code, scale = amplitude_code(self.attention_factor) if amplitude else (0, 0)
        return PhaseTable(
            increments=self.increments,
            head_dim=self.head_dim,
            pattern=pattern or self.pattern,
            pairing=self.pairing,
            rotary_offset=self.rotary_offset,
            amplitude=code,
            scale=scale,
            axes=self.axes,
            context=self.context,
        )

    @cached_property
    def fingerprint(self) -> str:
        """The CRC-64 of the table's canonical image, 16 hex digits; the same on every worker."""
        return self.table(HeadPattern(1, 1, 1, rotated=self.turns)).fingerprint

    @property
    def turns(self) -> tuple[bool, bool, bool]:
        """Whether query, key and value heads turn."""
        q, k, v = (kind in self.rotated for kind in KINDS)
        return q, k, v

    @property
    def applied_temperature(self) -> QueryTemperature | None:
        """The rule for its queries; one that is for layers without rotation spares the others."""
        rule = self.query_temperature
        if rule is not None and rule.layers == "nope" and self.inv_freq:
            return None
        return rule

    def rank(self, rank: int, size: int) -> "RopeGeometry":
        """The share of one of ``size`` tensor-parallel workers.

        Query heads are dealt evenly; so are key heads, each of which is copied where they are fewer
        than the workers. Raises InputError where the heads do not divide.
        """
        check_rank(rank, size, self.heads)
        if self.kv_heads % size and size % self.kv_heads:
            raise InputError("tp", f"{rank}/{size}", f"must split {self.kv_heads} key heads evenly")
        return replace(self, heads=self.heads // size, kv_heads=max(self.kv_heads // size, 1))

    def without_rotation(self) -> "RopeGeometry":
        """The geometry of a NoPE layer of the same shape."""
        return replace(
            self,
            rope_type="nope",
            rope_scaling_resolved={},
            inv_freq=(),
            axes=(),
            rotary_offset=0,
            attention_factor=1.0,
        )

    def as_dict(self) -> dict[str, Any]:
        """The geometry as ``ropeway inspect --json`` prints it."""
        temperature = self.query_temperature
        return {
            "scheme": self.scheme,
            "applies_to": self.applies_to,
            "fingerprint": self.fingerprint,
            "rope_type": self.rope_type,
            "rope_scaling_resolved": dict(self.rope_scaling_resolved),
            "head_dim": self.head_dim,
            "rotary_dim": self.rotary_dim,
            "rotary_offset": self.rotary_offset,
            "pairing": str(self.pairing),
            "heads": self.heads,
            "kv_heads": self.kv_heads,
            "rotated": list(self.rotated),
            "attention_factor": self.attention_factor,
            "softmax_scale": self.softmax_scale,
            "query_temperature": None if temperature is None else vars(temperature).copy(),
            "context": self.context,
            "inv_freq": [float(w) for w in self.inv_freq],
            "axes": list(self.axes),
            "increments": [f"{turn:012x}" for turn in self.increments],
        }


Geometry = RopeGeometry | AlibiGeometry | LearnedGeometry | SinusoidalGeometry


@dataclass(frozen=True)
class Model:
    """Every position geometry of a checkpoint, and which layer uses which.

    ``geometries`` by name: ``default`` where there is one, else the config's own labels. ``layers``
    has a name a layer, None for NoPE; it is empty where the file does not say how many there are.
    ``warnings`` are lines about keys that were read past.
    """

    model_type: str
    geometries: Mapping[str, Geometry]
    layers: tuple[str | None, ...] = ()
    warnings: tuple[str, ...] = field(default=(), compare=False)

    def geometry(self, name: str | None = None, layer: int | None = None) -> Geometry:
        """The geometry called ``name`` or used by ``layer`` (from 0), or the only one.

        A NoPE layer gives a rope geometry that turns nothing. Raises InputError where there are
        several and nothing chooses, or where the choice does not exist.
        """
        if name is not None and layer is not None:
            raise InputError("layer", layer, "cannot stand beside a geometry's name")
        if layer is not None:
            return self._of_layer(layer)
        if name is None and len(self.geometries) > 1:
            raise InputError("geometry", name, f"choose one of {self._names}, or a layer")
        name = next(iter(self.geometries)) if name is None else name
        if name not in self.geometries:
            raise InputError("geometry", name, f"must be one of {self._names}")
        return self.geometries[name]

    def rank(self, rank: int, size: int) -> "Model":
        """The share of one of ``size`` tensor-parallel workers; vision parts are not split."""
        shares = {
            name: geometry if name.startswith(VISION) else geometry.rank(rank, size)
            for name, geometry in self.geometries.items()
        }
        return replace(self, geometries=shares)

    def as_dict(self) -> dict[str, Any]:
        """The model as ``ropeway inspect --json`` prints it."""
        return {
            "model_type": self.model_type,
            "geometries": {name: g.as_dict() for name, g in self.geometries.items()},
            "layers": list(self.layers),
        }

    @property
    def _names(self) -> str:
        return ", ".join(self.geometries)

    def _of_layer(self, layer: int) -> Geometry:
        if not 0 <= layer < len(self.layers):
            last = len(self.layers) - 1
            rule = f"must be from 0 to {last}" if self.layers else "the file names no layers"
            raise InputError("layer", layer, rule)
        name = self.layers[layer]
        if name is not None:
            return self.geometries[name]
        for each, geometry in self.geometries.items():
            if isinstance(geometry, RopeGeometry) and not each.startswith(VISION):
                return geometry.without_rotation()
        raise InputError("layer", layer, "has no positions, nor has any other")
