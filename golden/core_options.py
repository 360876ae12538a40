# SPDX-License-Identifier: Apache-2.0
"""A core's parameters from what a user writes: schemes, what they share, and single settings."""

from collections.abc import Mapping, Sequence
from dataclasses import Field, asdict, fields
from typing import Any

from .adder_parameters import AdderParameters
from .alibi_parameters import AlibiParameters
from .core_parameters import CoreParameters, MemoryTable, RamTable
from .errors import InputError
from .parameters import RopeParameters

__all__ = ["UNITS", "core_parameters", "integer"]

CLASSES: dict[str, type] = {
    "rope": RopeParameters,
    "sinusoidal": AdderParameters,
    "learned": AdderParameters,
    "alibi": AlibiParameters,
}
UNITS = tuple(CLASSES)
CORE, TABLE, DEPTH = "core", "table", 1024
OF_CORE = {field.name: field for field in fields(CoreParameters) if field.type in (str, bool)}
BOOLEANS = {"true": True, "false": False}


def core_parameters(
    schemes: Sequence[str], common: Mapping[str, Any], settings: Mapping[str, str]
) -> tuple[CoreParameters, dict[str, Any]]:
    """The parameters of a core with units for ``schemes``, and all of them by name.

    ``common`` goes to every unit that has such a parameter, ``settings`` like ``rope.slots`` to one
    of them and ``core.bus`` to the whole; ``table.depth`` makes a learned table one in block RAM,
    the default, ``table.bus_bits`` or ``table.address_bits`` one in external memory. Raises
    InputError.
    """
    for scheme in schemes:
        if scheme not in CLASSES:
            raise InputError("scheme", scheme, f"must be of {', '.join(CLASSES)}")
    given: dict[str, dict[str, str]] = {name: {} for name in (*schemes, CORE)}
    if "learned" in schemes:
        given[TABLE] = {}
    for key, text in settings.items():
        unit, _, name = key.partition(".")
        if unit not in given:
            raise InputError(key, text, f"is of no unit of this core: {', '.join(given)}")
        given[unit][name] = text
    whole = _values(CORE, given.pop(CORE), OF_CORE, {})
    made: dict[str, Any] = {}
    for unit, texts in given.items():
        kind = _table(texts) if unit == TABLE else CLASSES[unit]
        known = {field.name: field for field in fields(kind)}
        values = {"depth": DEPTH} if kind is RamTable else {}
        made[unit] = kind(**values | _values(unit, texts, known, common))
    core = CoreParameters(**made, **whole)
    named = {f"{CORE}.{name}": getattr(core, name) for name in OF_CORE}
    named |= {f"{u}.{n}": v for u, unit in made.items() for n, v in asdict(unit).items()}
    return core, named


def _values(
    unit: str, texts: Mapping[str, str], known: Mapping[str, Field], common: Mapping[str, Any]
) -> dict[str, Any]:
    """A unit's parameters, as far as they are given."""
    for name, text in texts.items():
        if name not in known:
            raise InputError(f"{unit}.{name}", text, f"must be one of {', '.join(known)}")
    values = {name: value for name, value in common.items() if name in known}
    return values | {n: _value(f"{unit}.{n}", t, known[n]) for n, t in texts.items()}


def _table(texts: Mapping[str, str]) -> type:
    return MemoryTable if texts and "depth" not in texts else RamTable


def _value(key: str, text: str, field: Field) -> Any:
    """What a text says of a field's type."""
    if field.type is bool:
        if text not in BOOLEANS:
            raise InputError(key, text, "must be true or false")
        return BOOLEANS[text]
    if field.type is str:
        return text
    return integer(key, text)


def integer(key: str, text: str) -> int:
    """What a text says of an integer; InputError where it is none."""
    if not text.removeprefix("-").isdecimal() or not text.isascii() or len(text) > 10:
        raise InputError(key, text, "must be an integer")
    return int(text)
