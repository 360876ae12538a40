# SPDX-License-Identifier: Apache-2.0
"""What a model costs on a device: clocks, tokens a second, latency, and how busy the lanes are."""

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ropeway.golden import (
    AlibiGeometry,
    Geometry,
    InputError,
    LearnedGeometry,
    Model,
    RopeGeometry,
)
from ropeway.golden.cost import (
    Latency,
    adder_clocks,
    rope_bound,
    rope_first_beat,
    rope_last_beat,
    rope_shares,
    rope_utilisation,
    score_clocks,
)
from ropeway.golden.floats import FIXED

from .options import integer

__all__ = ["add_cost_arguments", "cost", "cost_lines", "cost_warnings"]

KEYS = 2048  # that a query's scores are of, where no context is given
BITS = 16


def add_cost_arguments(parser: argparse.ArgumentParser):
    """Add the choice of a device, and of what is built on it."""
    parser.add_argument("--device", metavar="NAME", help="print what the model costs on a device")
    parser.add_argument("--lanes", metavar="N", help="pairs a clock; default the most reported")
    parser.add_argument("--bits", metavar="W", help="of an element; default 16")
    parser.add_argument("--clock", metavar="MHZ", help="default what the report says")


def cost(args: argparse.Namespace, model: Model) -> dict[str, Any]:
    """What each geometry costs, and the whole model where its layers are known.

    Raises InputError for a device, lanes or bits of which the report has no clock rate and none is
    given, and for a geometry that the lanes do not serve.
    """
    keys = integer("context", args.context) or KEYS
    geometries = {name: _geometry(args, each, keys) for name, each in model.geometries.items()}
    found: dict[str, Any] = {"device": args.device, "geometries": geometries}
    layers = [geometries[name] for name in model.layers if name is not None]
    if layers and layers[0]["applies_to"] == "embeddings":
        layers = layers[:1]  # added once, before the first layer
    if layers:
        seconds = sum(each["clocks_per_token"] / each["clock_mhz"] for each in layers) / 1e6
        found["model_tokens_per_second"] = round(1 / seconds)
    return found


def _geometry(args: argparse.Namespace, geometry: Geometry, keys: int) -> dict[str, Any]:
    design, mhz = _design(args, geometry)
    p, hertz = design.parameters, mhz * 1e6
    match geometry:
        case RopeGeometry():
            found = _rope(design, geometry)
        case AlibiGeometry():
            latency = _latency(design).turned
            clocks = geometry.heads * -(-keys // p.lanes)
            last = score_clocks(p, keys, geometry.heads, latency)
            found = {"keys": keys, "clocks_per_token": clocks, "first_beat": latency}
            found |= {"last_beat": last}
        case _:
            interval = 0 if isinstance(geometry, LearnedGeometry) else p.generator_interval
            latency, beats = _latency(design).turned, geometry.width // p.beat_elements
            last = adder_clocks(p, geometry.width, 1, latency, interval=interval)
            found = {"clocks_per_token": beats * max(1, interval)}
            found |= {"first_beat": last - beats + 1, "last_beat": last}
    rate = hertz / found["clocks_per_token"]
    whole = {"scheme": geometry.scheme, "applies_to": geometry.applies_to, "lanes": p.lanes}
    whole |= {"bits": p.data_bits, "clock_mhz": mhz, "layer_tokens_per_second": round(rate)}
    return whole | found


def _rope(design: Any, geometry: RopeGeometry) -> dict[str, Any]:
    p, table = design.parameters, geometry.table()
    p.check_serves(table)
    latency = _latency(design)
    return {
        "heads": table.pattern.heads,
        "clocks_per_token": p.clocks_per_token(table),
        "first_beat": rope_first_beat(p, table, latency),
        "last_beat": rope_last_beat(p, table, latency),
        "utilisation": round(rope_utilisation(p, table), 4),
        "bound": rope_bound(p, table),
        "shares": {name: round(busy, 4) for name, busy in rope_shares(p, geometry).items()},
    }


def _design(args: argparse.Namespace, geometry: Geometry) -> tuple[Any, float]:
    """The unit, or one of several, that serves a geometry on the device, and its clock in MHz."""
    from ropeway.boards.designs import DESIGNS, Design
    from ropeway.boards.devices import DEVICES
    from ropeway.boards.report import REPORT

    if args.device not in DEVICES:
        raise InputError("device", args.device, f"must be one of {', '.join(DEVICES)}")
    lanes, bits = integer("lanes", args.lanes), integer("bits", args.bits) or BITS
    reported = json.loads(REPORT.read_text())["designs"]
    found = {
        name: design
        for name, design in DESIGNS.items()
        if (design.device, design.scheme) == (args.device, geometry.scheme)
        and not design.core
        and "bus_bits" not in design.source
        and design.parameters.data_bits == bits
        and getattr(design.parameters, "format", FIXED) == FIXED
        and lanes in (None, design.parameters.lanes)
    }
    clock = _clock(args.clock)
    measured = [name for name in found if name in reported]
    if not measured and clock is None:
        what = f"{geometry.scheme} unit of {lanes or 'any'} lanes of {bits} bits"
        raise InputError("clock", "none", f"must be given: no {what} is reported on {args.device}")
    name = next(iter(measured or found), None)
    if name is None:
        base = next(d for d in DESIGNS.values() if d.scheme == geometry.scheme)
        chosen = {"data_bits": bits} | ({"lanes": lanes} if lanes else {})
        design = Design(base.title, args.device, replace(base.parameters, **chosen), base.source)
    else:
        design = replace(DESIGNS[name], engines=1)  # each of several takes tokens of its own
    if isinstance(geometry, RopeGeometry):
        axes = 1 + max(geometry.axes, default=0)
        design = replace(design, parameters=replace(design.parameters, axes=axes))
    return design, clock or reported[name]["median_mhz"]


def _clock(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        mhz = float(text)
    except ValueError:
        mhz = 0.0
    if not 0 < mhz < 10_000:
        raise InputError("clock", text, "must be a number of MHz")
    return mhz


def _latency(design: Any) -> Latency:
    """A unit's own latencies."""
    from amaranth.hdl import Fragment

    unit = design.build()
    Fragment.get(unit, None)  # what is made is to be used
    return Latency(unit.latency, getattr(unit, "passing_latency", unit.latency))


def cost_lines(found: dict[str, Any]) -> Iterator[str]:
    """A cost in lines to read."""
    for name, each in found["geometries"].items():
        mhz = each["clock_mhz"]
        built = f"{_lanes(each)} of {each['bits']} bits at {mhz:g} MHz"
        yield f"{name} on {found['device']}: {each['scheme']}, {built}"
        keys = f", against {each['keys']:,} keys" if "keys" in each else ""
        busy = f", bound by {each['bound']}" if "bound" in each else ""
        yield f"  {'a token':22} {each['clocks_per_token']:,} clocks{keys}{busy}"
        yield f"  {'a layer':22} {each['layer_tokens_per_second']:,} tokens/s"
        for beat in ("first", "last"):
            clocks = each[f"{beat}_beat"]
            yield f"  {beat + ' beat after':22} {clocks:,} clocks, {clocks / mhz:,.2f} µs"
        if "shares" in each:
            shares = ", ".join(f"{share} {busy:.0%}" for share, busy in each["shares"].items())
            yield f"  {'lanes busy':22} {shares}"
    if "model_tokens_per_second" in found:
        yield f"the whole model: {found['model_tokens_per_second']:,} tokens/s"


def _lanes(each: dict[str, Any]) -> str:
    return f"{each['lanes']} lane{'s' * (each['lanes'] > 1)}"


def cost_warnings(found: dict[str, Any]) -> Iterator[str]:
    """What is to be warned of: geometries of which few heads starve the lanes."""
    for name, each in found["geometries"].items():
        starved = {share: busy for share, busy in each.get("shares", {}).items() if busy < 1}
        if starved:
            shown = ", ".join(f"{share} {busy:.0%}" for share, busy in starved.items())
            yield f"{name}: few heads starve {_lanes(each)}, busy: {shown}"
