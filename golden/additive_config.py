# SPDX-License-Identifier: Apache-2.0
"""ALiBi, learned and sinusoidal geometries from a config, by tables of model types."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from .additive import AlibiGeometry, LearnedGeometry, SinusoidalGeometry, alibi_slopes
from .errors import InputError
from .families import Family
from .fields import Fields
from .schedules import at_full_precision, ladder
from .shapes import HEADS, HIDDEN, head_shape, trained_context

__all__ = ["Additive", "additive_geometries"]

Additive = AlibiGeometry | LearnedGeometry | SinusoidalGeometry
THETA = Decimal(10000)
LARGEST_WIDTH = 65536
# Baichuan's two sizes differ in nothing but their sizes: (layers, hidden size) to "is ALiBi".
BAICHUAN = {(32, 4096): False, (40, 5120): True}


@dataclass(frozen=True)
class Alibi:
    """How a family writes ALiBi; ``bfloat16``: its slopes are rounded to that type first."""

    form: str
    scaled_before_bias: bool = True
    bfloat16: bool = False


@dataclass(frozen=True)
class Learned:
    """How a family indexes its table: rows beyond L, and the row of the first token.

    ``after_padding``: the first token takes the row after that of ``pad_token_id``.
    """

    offset: int = 0
    extra_rows: int = 0
    after_padding: bool = False


@dataclass(frozen=True)
class Sinusoidal:
    """A family's rows; ``closed``: the last frequency is 1/10000 exactly (tensor2tensor).

    ``scaled`` is the default of ``scale_embedding``; positions start at ``offset``.
    """

    layout: str
    closed: bool = False
    offset: int = 0
    scaled: bool = False


ALIBI = {
    "bloom": Alibi("key"),
    "falcon": Alibi("key", scaled_before_bias=False, bfloat16=True),
    "mpt": Alibi("last-key"),
    "baichuan": Alibi("key"),
    "gpt_refact": Alibi("key"),
    "jais": Alibi("key"),
    "bert": Alibi("symmetric"),
    "jina_bert": Alibi("symmetric"),
}
LEARNED: dict[str, Learned] = {
    **dict.fromkeys(
        ["gpt2", "gpt_bigcode", "openai-gpt", "bert", "albert", "electra", "distilbert", "gpt_neo"],
        Learned(),
    ),
    "mpt": Learned(),
    **dict.fromkeys(["opt", "bart", "mbart"], Learned(offset=2, extra_rows=2)),
    **dict.fromkeys(
        ["roberta", "xlm-roberta", "camembert", "mpnet", "longformer", "esm"],
        Learned(after_padding=True),
    ),
}
PAPER, HALVES = Sinusoidal("interleaved"), Sinusoidal("sin-cos")
FAIRSEQ = Sinusoidal("sin-cos", closed=True, offset=2, scaled=True)
SINUSOIDAL: dict[str, Sinusoidal] = {
    "transformer": Sinusoidal("interleaved", scaled=True),
    **dict.fromkeys(["xlm", "flaubert", "videomae", "fastspeech2_conformer", "florence2"], PAPER),
    **dict.fromkeys(
        ["marian", "pegasus", "informer", "autoformer", "time_series_transformer", "ctrl"], HALVES
    ),
    **dict.fromkeys(
        ["fsmt", "m2m_100", "nllb-moe", "xglm", "speech_to_text", "kosmos-2", "seamless_m4t"],
        FAIRSEQ,
    ),
    **dict.fromkeys(
        ["speecht5", "trocr"], Sinusoidal("sin-cos", closed=True, offset=2, scaled=False)
    ),
    **dict.fromkeys(["musicgen", "musicgen_melody"], Sinusoidal("cos-sin", closed=True)),
}
WHISPER_ENCODER = Sinusoidal("sin-cos", closed=True)
ROTARY = ("rotary", "rope")
RELATIVE = frozenset(
    ["t5", "mt5", "umt5", "longt5", "deberta", "deberta-v2", "xlnet", "funnel", "transfo-xl"]
)


def additive_geometries(config: Fields, family: Family) -> Mapping[str, Additive]:
    """The geometries by name; empty where the config means rotation.

    Raises InputError for a model type whose positions only enter relative attention.
    """
    kind = config.text("position_embedding_type", default="")
    if family.name in RELATIVE or kind.startswith("relative"):
        key = "position_embedding_type" if kind.startswith("relative") else "model_type"
        rule = "relative attention is no position geometry that this engine serves"
        raise InputError(config.name(key), kind or family.name, rule)
    if family.name == "whisper":
        width = config.count(*HIDDEN)
        target = config.count("max_target_positions", default=448)
        encoder = sinusoidal_geometry(config, WHISPER_ENCODER)
        return {"encoder": encoder, "decoder": LearnedGeometry(rows=target, width=width)}
    if _is_alibi(config, family, kind):
        return {"default": alibi_geometry(config, family, ALIBI[family.name])}
    if family.name in SINUSOIDAL:
        return {"default": sinusoidal_geometry(config, SINUSOIDAL[family.name])}
    if family.name in LEARNED and kind not in ROTARY:
        return {"default": learned_geometry(config, family, LEARNED[family.name])}
    for key, stated in (("alibi", config.flag("alibi")), ("position_embedding_type", kind)):
        if stated and stated not in ROTARY:
            rule = f"is not known of {family.name or 'a model without model_type'}"
            raise InputError(config.name(key), stated, rule)
    return {}


def _is_alibi(config: Fields, family: Family, kind: str) -> bool:
    if family.name in ("bloom", "gpt_refact"):
        return True
    if family.name == "falcon":
        return config.flag("alibi")
    if family.name == "mpt":
        attention = config.child("attn_config")
        if attention.flag("rope"):
            raise InputError(attention.name("rope"), True, "MPT is served with ALiBi or learned")
        return attention.flag("alibi", default=True)
    if family.name == "baichuan":
        size = config.count("num_hidden_layers"), config.count("hidden_size")
        if size not in BAICHUAN:
            rule = "Baichuan is rotary at 32 layers of 4096, ALiBi at 40 of 5120; this is neither"
            raise InputError(config.name("num_hidden_layers"), size[0], rule)
        return BAICHUAN[size]
    return family.name in ALIBI and kind == "alibi"


@at_full_precision
def alibi_geometry(config: Fields, family: Family, kind: Alibi) -> AlibiGeometry:
    """The slopes of every query head; ``alibi_bias_max`` is honoured wherever it stands."""
    attention = config.child("attn_config")
    where = attention if attention.has("alibi_bias_max") else config
    bias_max = where.number("alibi_bias_max", default=8, above=True, most=1024)
    heads = config.count(*HEADS)
    if heads > LARGEST_WIDTH:
        raise InputError(config.find(*HEADS)[0], heads, f"must be at most {LARGEST_WIDTH}")
    slopes = alibi_slopes(heads, bias_max)
    if kind.bfloat16:
        slopes = tuple(bfloat16(float(slope)) for slope in slopes)
    scale = Decimal(1)
    if not kind.scaled_before_bias:
        scale = Decimal(head_shape(config, family, "default").head_dim).sqrt() ** -1
    return AlibiGeometry(
        model_slopes=slopes,
        heads=heads,
        form=kind.form,
        scaled_before_bias=kind.scaled_before_bias,
        softmax_scale=scale,
        alibi_bias_max=float(bias_max),
    )


def bfloat16(value: float) -> Decimal:
    """The nearest bfloat16, ties to even."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    bits += 0x7FFF + (bits >> 16 & 1)
    (rounded,) = struct.unpack("<f", struct.pack("<I", bits & 0xFFFF_0000))
    return Decimal(rounded)


def learned_geometry(config: Fields, family: Family, kind: Learned) -> LearnedGeometry:
    """The table's rows, its width and the row of the token at position 0."""
    rows = trained_context(config, family)
    if not rows:
        raise InputError(config.name("max_position_embeddings"), None, "must be given")
    offset = kind.offset
    if kind.after_padding:
        offset = config.count("pad_token_id", default=1, least=0) + 1
    return LearnedGeometry(rows=rows + kind.extra_rows, width=config.count(*HIDDEN), offset=offset)


@at_full_precision
def sinusoidal_geometry(config: Fields, kind: Sinusoidal) -> SinusoidalGeometry:
    """The frequencies of a row: θ^(-2k/D), or closed, θ^(-k/(K - 1)) with K = D div 2."""
    name, _ = config.find(*HIDDEN)
    width = config.count(*HIDDEN, least=4)
    if width > LARGEST_WIDTH:
        raise InputError(name, width, f"must be at most {LARGEST_WIDTH}")
    if kind.closed:
        half = width // 2
        frequencies = ladder(THETA, 2 * (half - 1), half)
    else:
        frequencies = ladder(THETA, width, (width + 1) // 2)
    scaled = config.flag("scale_embedding", default=kind.scaled)
    return SinusoidalGeometry(
        width=width,
        inv_freq=frequencies,
        layout=kind.layout,
        offset=kind.offset,
        scale=float(Decimal(width).sqrt()) if scaled else 1.0,
    )
