# SPDX-License-Identifier: Apache-2.0
"""What a report says beside its measurements: each model's rates, each scheme's work, accuracy."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from ropeway.golden import (
    AlibiGeometry,
    Geometry,
    LearnedGeometry,
    Model,
    RopeGeometry,
    SinusoidalGeometry,
    model_of,
    preset_names,
)
from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.cost import (
    Work,
    adder_work,
    cos_sin_table_bits,
    phase_table_bits,
    rope_bound,
    rope_work,
    score_work,
)
from ropeway.golden.parameters import RopeParameters, serving_lanes
from ropeway.sim.waveform import packets_recorded

from .designs import DESIGNS, Design
from .report_accuracy import accuracy

__all__ = ["KEYS", "facts", "models", "schemes", "waveform"]

KEYS = 2048  # that a query's scores are of
CONTEXT = 4096  # for the scalings that must be told one
WORD = 16  # bits of the words that are counted
EXAMPLES = {
    "rope": ("llama-3.1-8b", "a rotation: 4 products, 2 sums"),
    "alibi": ("bloom-7b1", "an addition, its bias made by one more"),
    "sinusoidal": ("transformer-base", "an addition, its sine made on the way"),
    "learned": ("gpt2", "an addition"),
}


def facts(report: dict) -> dict:
    """The parts of a report that are computed from its designs, not measured."""
    made = {"schemes": schemes(report), "models": models(report)}
    return made | {"accuracy": accuracy(), "waveform": waveform()}


def waveform() -> dict[str, str]:
    """The streams of a small core in simulation, a digit a clock."""
    return {name: "".join(map(str, bits)) for name, bits in packets_recorded().items()}


def models(report: dict) -> list[dict]:
    """Each preset whose unit is reported: tokens a second through one layer, and through all."""
    return [row for name in preset_names() for row in _model(report, name, _preset(name))]


@cache
def _preset(name: str) -> Model:
    return model_of(name, context=CONTEXT)


def _model(report: dict, name: str, model: Model) -> Iterator[dict]:
    layers = [model.geometries[layer] for layer in model.layers if layer is not None]
    geometries = layers or list(model.geometries.values())[:1]
    unit = _unit(report, geometries)
    if unit is None:
        return
    clocks = [_clocks(DESIGNS[unit], geometry) for geometry in geometries]
    whole = sum(clocks) if geometries[0].applies_to != "embeddings" else clocks[0]
    hertz = report["designs"][unit]["median_mhz"] * 1e6
    yield {
        "model": name,
        "scheme": geometries[0].scheme,
        "unit": unit,
        "clocks_per_token": max(clocks),
        "layer_tokens_per_second": round(hertz / max(clocks)),
        "model_tokens_per_second": round(hertz / whole),
    }


def _unit(report: dict, geometries: list[Geometry]) -> str | None:
    """The reported unit of most lanes, up to 4, on the scheme's first device, that serves all."""
    scheme = geometries[0].scheme
    able = {1, 2, 4}
    for each in geometries:
        if isinstance(each, RopeGeometry):
            able &= set(serving_lanes(each.table()))
    first = next((d for d in DESIGNS.values() if d.scheme == scheme), None)
    fitting = [
        name
        for name, design in DESIGNS.items()
        if name in report["designs"]
        and first is not None
        and not design.core
        and design.scheme == scheme
        and design.device == first.device
        and design.parameters.data_bits == WORD
        and getattr(design.parameters, "format", "fixed") == "fixed"
        and design.parameters.lanes in able
    ]
    return max(fitting, key=lambda name: DESIGNS[name].parameters.lanes, default=None)


def _clocks(design: Design, geometry: Geometry) -> int:
    """Clocks of a token in steady state."""
    rate, _ = design.rate
    match geometry, design.parameters:
        case RopeGeometry(), RopeParameters() as p:
            return _axes(p, geometry).clocks_per_token(geometry.table())
        case AlibiGeometry(), p:
            return geometry.heads * -(-KEYS // p.lanes)
        case ((LearnedGeometry() | SinusoidalGeometry()), _):
            return round(geometry.width / rate)
    raise TypeError(f"a {design.scheme} unit has no clocks of {geometry.scheme}")


def _axes(p: RopeParameters, geometry: RopeGeometry) -> RopeParameters:
    """The engine with as many positions a token as a geometry has; its clocks are the same."""
    return replace(p, axes=1 + max(geometry.axes, default=0))


def schemes(report: dict) -> list[dict]:
    """The work of one token of each scheme, in one layer where there are layers."""
    found = []
    for scheme, (example, operation) in EXAMPLES.items():
        geometry = next(iter(_preset(example).geometries.values()))
        if unit := _unit(report, [geometry]):
            hertz = report["designs"][unit]["median_mhz"] * 1e6
            found.append({"scheme": scheme, **_work(DESIGNS[unit], geometry, example, hertz)})
            found[-1]["operation"] = operation
    return found


def _work(design: Design, geometry: Geometry, example: str, hertz: float) -> dict:
    """What one token takes; ``bound`` with the slowest link that keeps up with the unit."""
    work, bound, context, table, stored = _taken(design, geometry)
    link = max(work.bytes_in, work.bytes_out) * hertz / _clocks(design, geometry)
    return {
        "example": f"{example}, context {context:,}",
        "operations_per_token": work.operations,
        "bytes_in": work.bytes_in,
        "bytes_out": work.bytes_out,
        "operations_per_byte": round(work.operations_per_byte, 4),
        "bound": f"{bound}; a link below {link / 1e9:.1f} GB/s each way",
        "table_bits": table,
        "stored_bits": stored,
    }


def _taken(design: Design, geometry: Geometry) -> tuple[Work, str, int, int, int]:
    """A token's work, what bounds it, the context, and bits of the tables here and elsewhere."""
    match geometry, design.parameters:
        case RopeGeometry(), RopeParameters() as p:
            table, context = geometry.table(), geometry.context
            bits = phase_table_bits(table), cos_sin_table_bits(table.pairs, context, WORD)
            return rope_work(p, table), rope_bound(p, table), context, *bits
        case AlibiGeometry(), AlibiParameters() as p:
            bits = 32 * len(geometry.image()), geometry.heads * KEYS * WORD
            return score_work(p, geometry.heads, KEYS), "lanes", KEYS, *bits
        case LearnedGeometry(), AdderParameters() as p:
            bits = geometry.rows * geometry.width * WORD
            return adder_work(p, geometry.width), "lanes", geometry.rows, bits, bits
        case SinusoidalGeometry(), AdderParameters() as p:
            bound = "generator" if p.generator_interval > 1 else "lanes"
            bits = 32 * len(geometry.image()), KEYS * geometry.width * WORD
            return adder_work(p, geometry.width), bound, KEYS, *bits
    raise TypeError(f"a {design.scheme} unit has no work of {geometry.scheme}")
