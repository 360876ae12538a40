# SPDX-License-Identifier: Apache-2.0
"""The one error that bad user input raises, and the check of a parameter's type."""

from typing import Any

__all__ = ["InputError", "check_types"]


class InputError(ValueError):
    """What a user gave breaks a rule; reads as ``KEY = VALUE: RULE``.

    ``key`` names where the value came from (a config key, an array, an option), ``value`` is what
    was found there and ``rule`` what is allowed.
    """

    def __init__(self, key: str, value: object, rule: str):
        self.key, self.value, self.rule = key, value, rule
        super().__init__(f"{key} = {_short(value)}: {rule}")


def _short(value: object, limit: int = 60) -> str:
    """One line of at most ``limit`` characters that shows ``value``."""
    text = " ".join(str(value).split()) if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def check_types(parameters: Any):
    """Raise TypeError unless each field of a dataclass has the very type that it declares."""
    for name, field in parameters.__dataclass_fields__.items():
        value, kind = getattr(parameters, name), field.type
        if type(value) is not kind:
            raise TypeError(f"{name} must be {kind.__name__}, not {value!r}")
