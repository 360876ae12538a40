# SPDX-License-Identifier: Apache-2.0
"""Images in files, ``.json``, ``.h`` and ``.hex``, and back to the geometry they hold.

``.hex`` is one word a line, ``.h`` a C array with its fingerprint beside it, both in load order.
``.json`` has the image and what ``ropeway inspect --json`` says of the geometry, with the
frequencies to 50 digits.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from .adder import scale_value, scale_word
from .additive import LAYOUTS, SYMMETRIC, AlibiGeometry, LearnedGeometry, SinusoidalGeometry
from .errors import InputError
from .fields import Fields
from .geometry import Geometry, Model, QueryTemperature, RopeGeometry
from .schedules import CONTEXT, TURN, TWO_PI, increment
from .table import AMPLITUDE_BITS, HeadPattern, PhaseTable, identification

__all__ = ["TABLE_KEY", "TABLE_SUFFIXES", "image_of", "read_table", "render_table"]

TABLE_KEY = "ropeway_table"
TABLE_SUFFIXES = (".json", ".h", ".hex")
FORMAT = 1
DIGITS = 50
ARRAY = re.compile(r"uint32_t\s+\w+\[(\d+)\]\s*=\s*\{([^}]*)\}")
FINGERPRINT = re.compile(r"_FINGERPRINT\s+0x([0-9a-f]{16})")


def image_of(geometry: Geometry) -> np.ndarray:
    """The words that hold a geometry, uint32."""
    return (geometry.table() if isinstance(geometry, RopeGeometry) else geometry).image()


def render_table(geometry: Geometry, model_type: str, suffix: str) -> str:
    """The text of a table file of the kind that ``suffix`` names."""
    words = [int(word) for word in image_of(geometry)]
    if suffix == ".hex":
        return "".join(f"{word:08x}\n" for word in words)
    if suffix == ".h":
        return _header(geometry, model_type, words)
    if suffix == ".json":
        content: dict[str, Any] = {TABLE_KEY: FORMAT, "model_type": model_type}
        content["geometry"] = geometry.as_dict()
        if isinstance(geometry, RopeGeometry):
            content["inv_freq_digits"] = [f"{w:.{DIGITS - 1}e}" for w in geometry.inv_freq]
        content["image"] = [f"{word:08x}" for word in words]
        return json.dumps(content, indent=1) + "\n"
    raise InputError("output", suffix, f"must end in one of {', '.join(TABLE_SUFFIXES)}")


def read_table(content: str | Mapping[str, Any], suffix: str) -> Model:
    """The model of one geometry that a table file holds; ``.json`` comes already parsed.

    Raises InputError where the content is no table, is cut short, or contradicts itself.
    """
    if isinstance(content, Mapping):
        return _read_json(Fields(content))
    words = _words_of_hex(content) if suffix == ".hex" else _words_of_header(content)
    return Model("", {"default": geometry_of_image(words)})


def geometry_of_image(words: np.ndarray) -> Geometry:
    """The geometry that an image holds, as far as an image says; InputError where it is none."""
    found = int(words[0]) if len(words) else 0
    reader = READERS.get(found)
    if reader is None:
        raise InputError("image[0]", f"0x{found:08x}", "must be the first word of a table's image")
    geometry = reader(words)
    again = image_of(geometry)
    if not np.array_equal(again, words):
        raise InputError("image", f"{len(words)} words", "must be exactly what a table loads")
    return geometry


def _header(geometry: Geometry, model_type: str, words: Sequence[int]) -> str:
    rows = [
        ", ".join(f"0x{word:08x}u" for word in words[i : i + 8]) for i in range(0, len(words), 8)
    ]
    body, name = ",\n    ".join(rows), re.sub(r"[^\w.-]", "", model_type)
    return (
        "/* SPDX-License-Identifier: Apache-2.0 */\n"
        f"/* {geometry.scheme}, {name or 'unnamed'}; written by `ropeway table`. */\n"
        "#ifndef ROPEWAY_TABLE_H\n#define ROPEWAY_TABLE_H\n\n#include <stdint.h>\n\n"
        f"#define ROPEWAY_TABLE_FINGERPRINT 0x{geometry.fingerprint}ULL\n\n"
        f"static const uint32_t ropeway_table[{len(words)}] = {{\n    {body}\n}};\n\n#endif\n"
    )


def _words_of_hex(text: str) -> np.ndarray:
    lines = text.split()
    for at, line in enumerate(lines):
        if not re.fullmatch(r"[0-9a-fA-F]{8}", line):
            raise InputError(f"image[{at}]", line, "must be 8 hex digits")
    return np.array([int(line, 16) for line in lines], dtype=np.uint32)


def _words_of_header(text: str) -> np.ndarray:
    array, stated = ARRAY.search(text), FINGERPRINT.search(text)
    if array is None or stated is None:
        raise InputError("image", "none", "must be a C array with its fingerprint")
    words = _words_of_hex(re.sub(r"0x|u|,", " ", array[2]))
    if len(words) != int(array[1]):
        raise InputError("image", f"{len(words)} words", f"must be {array[1]}")
    found = geometry_of_image(words).fingerprint
    if found != stated[1]:
        raise InputError("fingerprint", stated[1], f"must be that of the words, {found}")
    return words


def _read_json(fields: Fields) -> Model:
    if fields.count(TABLE_KEY) != FORMAT:
        raise InputError(TABLE_KEY, fields.values[TABLE_KEY], f"must be {FORMAT}")
    words = _words_of_hex(" ".join(fields.texts("image")))
    geometry, stated = geometry_of_image(words), fields.child("geometry")
    if stated.text("fingerprint") != geometry.fingerprint:
        rule = f"must be that of the image, {geometry.fingerprint}"
        raise InputError(stated.name("fingerprint"), stated.text("fingerprint"), rule)
    if isinstance(geometry, RopeGeometry):
        geometry = _described(geometry, stated, fields.texts("inv_freq_digits"))
        for key, value in geometry.as_dict().items():
            if stated.values.get(key) != value:
                raise InputError(stated.name(key), stated.values.get(key), "must be the image's")
    return Model(fields.text("model_type", default=""), {"default": geometry})


def _described(geometry: RopeGeometry, stated: Fields, digits: Sequence[str]) -> RopeGeometry:
    """``geometry`` with what an image leaves out; InputError where the two disagree."""
    if len(digits) != len(geometry.inv_freq):
        rule = f"must be {len(geometry.inv_freq)}, one a pair"
        raise InputError("inv_freq_digits", f"{len(digits)} entries", rule)
    for at, (text, turn) in enumerate(zip(digits, geometry.increments, strict=True)):
        if (
            not re.fullmatch(r"-?\d\.\d{1,60}e[+-]\d{1,4}", text)
            or increment(Decimal(text)) != turn
        ):
            raise InputError(f"inv_freq_digits[{at}]", text, "must give the image's increment")
    temperature = stated.child("query_temperature")
    return replace(
        geometry,
        rope_type=stated.text("rope_type"),
        rope_scaling_resolved=stated.child("rope_scaling_resolved").values,
        inv_freq=tuple(map(Decimal, digits)),
        softmax_scale=float(stated.number("softmax_scale", above=True)),
        attention_factor=float(stated.number("attention_factor", above=True)),
        query_temperature=_temperature(temperature) if temperature.values else None,
    )


def _temperature(fields: Fields) -> QueryTemperature:
    rule, layers = fields.text("rule"), fields.text("layers")
    if rule not in ("floor-log", "log-n") or layers not in ("all", "nope"):
        raise InputError(fields.path, dict(fields.values), "must be a known rule")
    length, offset = fields.count("length"), fields.count("offset", least=0)
    return QueryTemperature(rule, length, float(fields.number("beta")), offset, layers)


def _rope(words: np.ndarray) -> RopeGeometry:
    table = PhaseTable.from_image(words)
    pattern: HeadPattern = table.pattern
    kinds = zip("qkv", pattern.rotated, strict=True)
    amplitude = (1 << table.scale) * (1 + table.amplitude / (1 << AMPLITUDE_BITS))
    return RopeGeometry(
        rope_type="table",
        rope_scaling_resolved={},
        head_dim=table.head_dim,
        heads=pattern.q * pattern.repeat,
        kv_heads=pattern.k * pattern.repeat,
        inv_freq=tuple(CONTEXT.multiply(TWO_PI, Decimal(i) / TURN) for i in table.increments),
        softmax_scale=table.head_dim**-0.5,
        pairing=table.pairing,
        rotary_offset=table.rotary_offset,
        rotated=tuple(kind for kind, turns in kinds if turns),
        attention_factor=amplitude,
        context=table.context,
        axes=table.axes,
    )


def _pairs(words: np.ndarray) -> list[int]:
    return [low | high << 32 for low, high in words.reshape(-1, 2).tolist()]


def _alibi(words: np.ndarray) -> AlibiGeometry:
    if len(words) < 5 or len(words) != 3 + 2 * int(words[1]):
        raise InputError("image", f"{len(words)} words", "must be 3 and two a head")
    slopes = tuple(Decimal(fraction) / TURN for fraction in _pairs(words[3:]))
    form = SYMMETRIC if words[2] else "distance"
    return AlibiGeometry(model_slopes=slopes, heads=len(slopes), form=form)


def _learned(words: np.ndarray) -> LearnedGeometry:
    if len(words) != 4:
        raise InputError("image", f"{len(words)} words", "must be 4")
    _, rows, offset, width = map(int, words)
    if not (rows and width):
        raise InputError("image", f"{rows} rows of {width}", "must not be empty")
    return LearnedGeometry(rows=rows, width=width, offset=offset)


def _sinusoidal(words: np.ndarray) -> SinusoidalGeometry:
    if len(words) < 5 or not len(words) % 2 or int(words[2]) >= len(LAYOUTS):
        raise InputError("image", f"{len(words)} words", "must be 5 and two a frequency")
    scale = scale_value(int(words[4]))
    if scale_word(scale) != words[4]:
        raise InputError("image[4]", int(words[4]), "must be a scale from 1")
    frequencies = (CONTEXT.multiply(TWO_PI, Decimal(i) / TURN) for i in _pairs(words[5:]))
    return SinusoidalGeometry(
        width=int(words[1]),
        inv_freq=tuple(frequencies),
        layout=LAYOUTS[int(words[2])],
        offset=int(words[3]),
        scale=scale,
    )


READERS: dict[int, Callable[[np.ndarray], Geometry]] = {
    identification(scheme): reader
    for scheme, reader in enumerate((_rope, _alibi, _learned, _sinusoidal))
}
