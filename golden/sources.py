# SPDX-License-Identifier: Apache-2.0
"""Where a config comes from: an object, a file, a checkpoint's folder or a preset's name."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from .errors import InputError
from .geometry import Model
from .table_files import TABLE_KEY, TABLE_SUFFIXES, read_table

__all__ = ["parse_json", "preset", "preset_names", "read_config"]

PRESETS = Path(__file__).with_name("presets.json")
CONFIG_NAME = "config.json"


def read_config(config: Mapping[str, Any] | str | Path) -> Mapping[str, Any] | Model:
    """The object that ``config`` is or names, or the model of a written table.

    A preset's name goes before a file's. Raises InputError where nothing is there, or no JSON
    object.
    """
    if isinstance(config, Mapping):
        return read_table(config, ".json") if TABLE_KEY in config else config
    if not isinstance(config, str | Path):
        raise InputError("config", config, "must be an object, a path or a preset's name")
    if str(config) in _presets():
        return preset(str(config))
    text, suffix = read_text(config), Path(config).suffix
    if suffix in TABLE_SUFFIXES and suffix != ".json":
        return read_table(text, suffix)
    return read_config(parse_json(text, str(config)))


def preset(name: str) -> dict[str, Any]:
    """The config that comes with the package under ``name``, a new object each time."""
    return _presets()[name]


def preset_names() -> list[str]:
    """The names of the checkpoints whose configs come with the package."""
    return sorted(_presets())


def read_text(path: str | Path) -> str:
    """The text of a file, or of the config.json in a folder."""
    try:
        path = Path(path)
        path = path / CONFIG_NAME if path.is_dir() else path
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        rule = "is neither a file nor a preset (`ropeway inspect --list` names those)"
        raise InputError("config", str(path), rule) from None
    except UnicodeDecodeError:
        raise InputError("config", str(path), "must be text in UTF-8") from None
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else error
        raise InputError("config", str(path), f"cannot be read: {reason}") from None


def parse_json(text: str, name: str) -> dict[str, Any]:
    """The object in ``text``, without NaN, infinity or a key twice; ``name`` is for errors."""

    def constant(literal: str) -> NoReturn:
        raise InputError(name, literal, "is no JSON number")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        held = dict(pairs)
        if len(held) < len(pairs):
            twice = next(key for at, (key, _) in enumerate(pairs) if key in dict(pairs[:at]))
            raise InputError(twice, held[twice], f"stands twice in one object of {name}")
        return held

    try:
        value = json.loads(text, parse_constant=constant, object_pairs_hook=unique)
    except InputError:
        raise
    except json.JSONDecodeError as error:
        rule = f"must be JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        raise InputError("config", name, rule) from None
    except (ValueError, RecursionError) as error:
        raise InputError("config", name, f"must be JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError("config", name, "must hold a JSON object")
    return value


def _presets() -> dict[str, dict[str, Any]]:
    return json.loads(PRESETS.read_text(encoding="utf-8"))
