# SPDX-License-Identifier: Apache-2.0
"""Reading a JSON object whose every key is checked before it is believed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .errors import InputError

__all__ = ["Fields"]

LARGEST = 1 << 31


@dataclass(frozen=True)
class Fields:
    """A JSON object and the path that leads to it; a null is an absent key.

    Every getter takes the spellings of one key and gives ``default`` where none is there (without a
    default: InputError). Several spellings that disagree, a wrong type or a value outside the rule
    raise InputError naming the key as the file spells it.
    """

    values: Mapping[str, Any]
    path: str = ""

    def name(self, key: str) -> str:
        """``key`` with the path that leads to it."""
        return f"{self.path}.{key}" if self.path else key

    def has(self, *keys: str) -> bool:
        """Whether any spelling is there and not null."""
        return any(self.values.get(key) is not None for key in keys)

    def find(self, *keys: str) -> tuple[str, Any]:
        """The full name of the spelling that is there and its value, else the first and None."""
        found = [(self.name(key), self.values[key]) for key in keys if self.has(key)]
        for other, value in found[1:]:
            if value != found[0][1]:
                raise InputError(other, value, f"must equal {found[0][0]} = {found[0][1]!r}")
        return found[0] if found else (self.name(keys[0]), None)

    def count(self, *keys: str, default: int | None = None, least: int = 1) -> int:
        """An integer of at least ``least``."""
        name, value = self._find_or(keys, default)
        if type(value) is not int or not least <= value < LARGEST:
            raise InputError(name, value, f"must be an integer from {least} to {LARGEST - 1}")
        return value

    def number(
        self,
        *keys: str,
        default: float | None = None,
        least: float = 0.0,
        most: float = 1e30,
        above: bool = False,
    ) -> Decimal:
        """A number from ``least`` (or ``above`` it) to ``most``, exactly as the file holds it."""
        name, value = self._find_or(keys, default)
        return number(name, value, least=least, most=most, above=above)

    def numbers(self, key: str, *, least: float, most: float) -> tuple[Decimal, ...]:
        """A list of numbers from ``least`` to ``most``."""
        return tuple(
            number(f"{self.name(key)}[{i}]", value, least=least, most=most)
            for i, value in enumerate(self.items(key))
        )

    def counts(self, key: str, *, least: int = 0) -> tuple[int, ...]:
        """A list of integers of at least ``least``."""
        listed = {f"{key}[{i}]": value for i, value in enumerate(self.items(key))}
        entries = Fields(listed, self.path)
        return tuple(entries.count(entry, least=least) for entry in listed)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        listed = {f"{key}[{i}]": value for i, value in enumerate(self.items(key))}
        entries = Fields(listed, self.path)
        return tuple(entries.text(entry) for entry in listed)

    def items(self, key: str) -> Sequence[Any]:
        """A list of anything."""
        name, value = self._find_or((key,), None)
        if not isinstance(value, list | tuple):
            raise InputError(name, value, "must be a list")
        return value

    def flag(self, *keys: str, default: bool = False) -> bool:
        """True or false."""
        name, value = self._find_or(keys, default)
        if type(value) is not bool:
            raise InputError(name, value, "must be true or false")
        return value

    def text(self, *keys: str, default: str | None = None) -> str:
        """A string."""
        name, value = self._find_or(keys, default)
        if not isinstance(value, str):
            raise InputError(name, value, "must be a string")
        return value

    def child(self, key: str) -> "Fields":
        """The object under ``key``; empty where there is none."""
        name, value = self.find(key)
        if value is None:
            value = {}
        if not isinstance(value, Mapping):
            raise InputError(name, value, "must be an object")
        return Fields(value, name)

    def __iter__(self) -> Iterator[str]:
        return (key for key in self.values if self.has(key))

    def _find_or(self, keys: tuple[str, ...], default: Any) -> tuple[str, Any]:
        name, value = self.find(*keys)
        value = default if value is None else value
        if value is None:
            raise InputError(name, value, "must be given")
        return name, value


def number(name: str, value: object, *, least: float, most: float, above: bool = False) -> Decimal:
    """``value`` as an exact decimal; InputError under ``name`` unless it is a number in range."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        in_range = least <= value <= most and not (above and value == least)
        if in_range:
            return Decimal(value)
    bound = f"above {least:g}" if above else f"of at least {least:g}"
    raise InputError(name, value, f"must be a number {bound} and at most {most:g}")
