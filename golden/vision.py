# SPDX-License-Identifier: Apache-2.0
"""The geometries of vision parts: two axes of patches in one head, or a learned row a patch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from .additive import LearnedGeometry
from .errors import InputError
from .fields import Fields
from .geometry import Geometry, RopeGeometry
from .schedules import TWO_PI, at_full_precision, ladder
from .table import Pairing

__all__ = ["vision_geometries"]

PARTS = ("vision_config", "visual")
SUFFIXES = ("_vision_model", "_vision_encoder", "_vision")
HEADS = ("num_attention_heads", "num_heads")
WIDTH = ("embed_dim", "hidden_size")
ROW, COLUMN = 0, 1


@dataclass(frozen=True)
class Block:
    """Pairs that stand together in a head: their frequencies, axes and where they begin."""

    inv_freq: tuple[Decimal, ...]
    axes: tuple[int, ...]
    offset: int = 0
    name: str = ""


@dataclass(frozen=True)
class Layout:
    """How a family lays two axes over a head: ``blocks`` for θ, head_dim and the grid."""

    blocks: Callable[[Decimal, int, tuple[int, int]], list[Block]]
    pairing: Pairing = Pairing.HALF_SPLIT
    theta: float = 1e4
    needs_grid: bool = False


def sections(theta: Decimal, head_dim: int, _: tuple[int, int]) -> list[Block]:
    """A full ladder for axis 0, then the same for axis 1 (Qwen2-VL; x then y in Llama 4)."""
    half = ladder(theta, head_dim // 2)
    return [Block(half * 2, (ROW,) * len(half) + (COLUMN,) * len(half))]


def alternating(theta: Decimal, head_dim: int, _: tuple[int, int]) -> list[Block]:
    """Each frequency for the column, then for the row (Kimi K2.5)."""
    half = ladder(theta, head_dim // 2)
    return [Block(tuple(w for w in half for _ in range(2)), (COLUMN, ROW) * len(half))]


def split_ladder(theta: Decimal, head_dim: int, _: tuple[int, int]) -> list[Block]:
    """One ladder over the head: even entries for the row, odd ones for the column (Pixtral)."""
    whole = ladder(theta, head_dim)
    half = len(whole) // 2
    return [Block(whole[::2] + whole[1::2], (ROW,) * half + (COLUMN,) * half)]


def separate(theta: Decimal, head_dim: int, _: tuple[int, int]) -> list[Block]:
    """Two half-split blocks a head, each a pass of its own over the data (Gemma 4)."""
    half = ladder(theta, head_dim // 2)
    return [
        Block(half, (ROW,) * len(half), 0, "_height"),
        Block(half, (COLUMN,) * len(half), head_dim // 2, "_width"),
    ]


@at_full_precision
def centred(theta: Decimal, head_dim: int, grid: tuple[int, int]) -> list[Block]:
    """DINOv3: patch centres scaled to [-1, 1], an angle of 2π·coordinate·θ^(-4k/head_dim).

    Over n patches the centre of patch j is (2j + 1 - n)/n, so an integer position 2j + 1 - n turns
    by 2π/n times the ladder; classes and registers stand at position 0, which does not turn.
    """
    half = ladder(theta, head_dim // 2)
    rows, columns = (tuple(TWO_PI / n * w for w in half) for n in grid)
    return [Block(rows + columns, (ROW,) * len(half) + (COLUMN,) * len(half))]


AXIAL, ADJACENT = Layout(sections), Layout(sections, Pairing.ADJACENT)
DINO = Layout(centred, theta=100.0, needs_grid=True)
LAYOUTS: dict[str, Layout] = {
    **dict.fromkeys(
        [
            "qwen2_vl",
            "qwen2_5_vl",
            "qwen2_5_omni",
            "qwen3_vl",
            "qwen3_vl_moe",
            "qwen3_omni_moe",
            "qwen3_5",
            "qwen3_5_moe",
            "glm4v",
            "glm4v_moe",
            "glm_ocr",
            "ernie4_5_vl",
            "ernie4_5_vl_moe",
            "paddleocr_vl",
        ],
        AXIAL,
    ),
    **dict.fromkeys(["llama4", "mllama4", "sam3_vit_model"], ADJACENT),
    "kimi_k25": Layout(alternating),
    "pixtral": Layout(split_ladder),
    "gemma4": Layout(separate, theta=100.0),
    **dict.fromkeys(["dinov3_vit", "eomt_dinov3"], DINO),
}
# Models that are nothing but a vision part, as are those whose type ends in a suffix of one.
ALONE = ("dinov3_vit", "eomt_dinov3", "pixtral", "sam3_vit_model")
# One learned row a patch, and one for the class before them where there is one.
LEARNED = {"siglip": 0, "siglip2": 0, "clip": 1}


def vision_geometries(whole: Fields, warnings: list[str]) -> Mapping[str, Geometry]:
    """The geometries of a vision part, or of a model that is one; empty where there is none.

    A part of an unknown family leaves a warning. Positions are [tokens, 2], the order of the axes
    being the family's: row and column, but x and y from 1 in Llama 4 (its class token at 0, 0).
    """
    key = next((key for key in PARTS if isinstance(whole.values.get(key), Mapping)), None)
    outer = whole.text("model_type", default="")
    if key is None and not (outer in ALONE or outer.endswith(SUFFIXES)):
        return {}
    part = whole.child(key) if key else whole
    names = [_family(part.text("model_type", default=outer)), _family(outer)]
    family = next((name for name in names if name in LAYOUTS or name in LEARNED), None)
    if family is None:
        warnings.append(f"{key} = {names[0]}: no geometry of this vision part is known")
        return {}
    if family in LEARNED:
        return {"vision": _learned(part, LEARNED[family])}
    return _turning(part, LAYOUTS[family])


def _family(model_type: str) -> str:
    for suffix in SUFFIXES:
        model_type = model_type.removesuffix(suffix)
    return model_type


def _learned(part: Fields, extra: int) -> LearnedGeometry:
    rows, columns = grid_of(part)
    return LearnedGeometry(rows=rows * columns + extra, width=part.count("hidden_size"))


def _turning(part: Fields, layout: Layout) -> dict[str, Geometry]:
    heads = part.count(*HEADS)
    hidden = next((key for key in WIDTH if part.has(key)), WIDTH[-1])
    head_dim = part.count("head_dim", default=max(part.count(hidden) // heads, 1))
    if head_dim % 4 or head_dim > 4096:
        rule = "must be a multiple of 4, at most 4096: two axes of pairs"
        raise InputError(part.name("head_dim"), head_dim, rule)
    parameters = part.child("rope_parameters")
    where = parameters if parameters.has("rope_theta") else part
    theta = where.number("rope_theta", default=layout.theta, least=1, above=True)
    grid = grid_of(part) if layout.needs_grid else (0, 0)
    kv_heads = part.count("num_key_value_heads", default=heads)
    resolved = {"rope_type": "axial", "rope_theta": float(theta)}
    return {
        f"vision{block.name}": RopeGeometry(
            rope_type="axial",
            rope_scaling_resolved=resolved | ({"grid": list(grid)} if layout.needs_grid else {}),
            head_dim=head_dim,
            heads=heads,
            kv_heads=kv_heads,
            inv_freq=block.inv_freq,
            softmax_scale=head_dim**-0.5,
            pairing=layout.pairing,
            rotary_offset=block.offset,
            axes=block.axes,
        )
        for block in layout.blocks(theta, head_dim, grid)
    }


def grid_of(part: Fields) -> tuple[int, int]:
    """Rows and columns of patches in an image of the config's own size."""
    sides = [_sides(part, key) for key in ("image_size", "patch_size")]
    rows, columns = (size // patch for size, patch in zip(*sides, strict=True))
    if not (rows and columns):
        raise InputError(part.name("patch_size"), sides[1], f"must fit an image of {sides[0]}")
    return rows, columns


def _sides(part: Fields, key: str) -> tuple[int, int]:
    if not isinstance(part.values.get(key), list):
        side = part.count(key)
        return side, side
    sides = part.counts(key, least=1)
    if len(sides) != 2:
        raise InputError(part.name(key), list(sides), "must be a height and a width")
    return sides[0], sides[1]
