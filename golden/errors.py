# SPDX-License-Identifier: Apache-2.0
"""The one error that bad user input raises."""

__all__ = ["InputError"]


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
