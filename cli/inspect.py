# SPDX-License-Identifier: Apache-2.0
"""``ropeway inspect``: what geometry a config has, in words, as JSON or against another's."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ropeway.golden import Geometry, InputError, Model, RopeGeometry, preset_names

from .costs import add_cost_arguments, cost, cost_lines, cost_warnings
from .options import add_model_arguments, model_from, named_geometry
from .ports import add_link_arguments, is_port, over_link

__all__ = ["add_arguments", "run"]

# Keys of a geometry that change nothing computed, and so never stand for a difference.
DESCRIPTIVE = frozenset(
    {
        "fingerprint",
        "applies_to",
        "rope_type",
        "rope_scaling_resolved",
        "heads",
        "kv_heads",
        "softmax_scale",
        "query_temperature",
        "context",
        "inv_freq",
        "slopes",
        "form",
        "scaled_before_bias",
        "alibi_bias_max",
    }
)
CAUSES = ("rope_type", "rope_scaling_resolved")


def add_arguments(parser: argparse.ArgumentParser):
    """Add the verb's options to its parser."""
    parser.add_argument("config", metavar="CONFIG", nargs="*", help="a config, a table or a preset")
    parser.add_argument("--json", action="store_true", help="print every value as JSON")
    parser.add_argument("--list", action="store_true", help="print the names of the presets")
    parser.add_argument(
        "--compare",
        action="store_true",
        help="compare fingerprints of configs and of boards at ports",
    )
    add_link_arguments(parser)
    add_cost_arguments(parser)
    add_model_arguments(parser)
    parser.add_argument("--layer", metavar="N", help="only the geometry of layer N, from 0")
    parser.add_argument("--geometry", metavar="NAME", help="only the geometry of that name")


def run(args: argparse.Namespace) -> int:
    """Print what is asked for; 1 where compared configs differ, else 0."""
    if args.list:
        print("\n".join(preset_names()))
        return 0
    if args.compare:
        if len(args.config) < 2:
            raise InputError("compare", " ".join(args.config), "needs two configs or more")
        return _compare(args)
    if len(args.config) != 1:
        raise InputError("config", " ".join(args.config), "must be one config")
    model = _selected(args, args.config[0])
    if args.device is not None:
        return _priced(args, model)
    for name in ("lanes", "bits", "clock"):
        if getattr(args, name) is not None:
            raise InputError(name, getattr(args, name), "is of a --device, which is not given")
    print(json.dumps(model.as_dict(), indent=1) if args.json else "\n".join(summary(model)))
    return 0


def _priced(args: argparse.Namespace, model: Model) -> int:
    """Print what the model costs on a device."""
    found = cost(args, model)
    for warning in cost_warnings(found):
        print(f"ropeway: warning: {warning}", file=sys.stderr)
    if args.json:
        print(json.dumps(model.as_dict() | {"cost": found}, indent=1))
    else:
        print("\n".join(cost_lines(found)))
    return 0


def summary(model: Model) -> Iterator[str]:
    """The model's geometries in lines to read."""
    yield f"{model.model_type or 'unnamed model'}: {_plural(len(model.geometries), 'geometry')}"
    for name, geometry in model.geometries.items():
        used = [at for at, layer in enumerate(model.layers) if layer == name]
        where = f", {_plural(len(used), 'layer')} ({_ranges(used)})" if used else ""
        yield f"\n{name}{where}: {geometry.scheme}, fingerprint {geometry.fingerprint}"
        for key, value in geometry.as_dict().items():
            if key not in ("scheme", "fingerprint"):
                yield f"  {key:22} {_readable(value)}"
    still = [at for at, layer in enumerate(model.layers) if layer is None]
    if still:
        yield f"\nno rotation: {_plural(len(still), 'layer')} ({_ranges(still)})"


def difference(a: Model, b: Model) -> tuple[str, Any, Any] | None:
    """The first key under which two models compute differently, and both values; None if alike.

    The parameters that caused a difference are named before the numbers they led to.
    """
    names = list(a.geometries), list(b.geometries)
    if names[0] != names[1] and not len(names[0]) == len(names[1]) == 1:
        return "geometries", *names
    for name, first, second in zip(
        names[0], a.geometries.values(), b.geometries.values(), strict=True
    ):
        if first.fingerprint != second.fingerprint:
            return next(_differences(name, first, second), (name, first.scheme, second.scheme))
    return None


def _differences(name: str, a: Geometry, b: Geometry) -> Iterator[tuple[str, Any, Any]]:
    first, second = a.as_dict(), b.as_dict()
    told = all(g.rope_scaling_resolved for g in (a, b) if isinstance(g, RopeGeometry))
    causes = CAUSES if told and a.scheme == b.scheme == "rope" else ()
    computed = [key for key in first if key not in DESCRIPTIVE]
    for key in ("scheme", *causes, *computed):
        for path, left, right in _leaves(key, first.get(key), second.get(key)):
            if left != right:
                yield f"{name}.{path}", left, right


def _leaves(path: str, a: Any, b: Any) -> Iterator[tuple[str, Any, Any]]:
    """Both values under ``path``, taken apart where they are of one kind and size."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in dict.fromkeys((*a, *b)):
            yield from _leaves(f"{path}.{key}", a.get(key), b.get(key))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for at, pair in enumerate(zip(a, b, strict=True)):
            yield from _leaves(f"{path}[{at}]", *pair)
    else:
        yield path, a, b


def _compare(args: argparse.Namespace) -> int:
    first, *others = args.config
    if is_port(first):
        raise InputError("config", first, "must be a config, and boards' ports behind it")
    model, status = _selected(args, first), 0
    for other in others:
        if is_port(other):
            status |= over_link(args, other, partial(_compare_board, model, first, other))
            continue
        found = difference(model, _selected(args, other))
        if found is None:
            print(f"{first} and {other}: the same geometry")
            continue
        key, left, right = found
        print(f"{key} differs: {first} has {left}, {other} has {right}")
        status = 1
    return status


def _compare_board(model: Model, config: str, port: str, link: Any) -> int:
    """Whether some slot of a board has the digest of each geometry; 1 where one has not."""
    slots = range(len(link.parameters.core.slots))
    held = {slot: link.fingerprint(slot) for slot in slots}
    loaded = ", ".join(f"{each} in slot {slot}" for slot, each in held.items() if each)
    for name, geometry in model.geometries.items():
        if geometry.fingerprint not in held.values():
            mine, theirs = geometry.fingerprint, loaded or "nothing"
            print(f"{name}.fingerprint differs: {config} has {mine}, {port} has {theirs}")
            return 1
    print(f"{config} and {port}: the same geometry")
    return 0


def _selected(args: argparse.Namespace, config: str) -> Model:
    """The model, or the one geometry of it that ``args`` choose."""
    model = model_from(args, config)
    if args.layer is None and args.geometry is None:
        return model
    name, geometry = named_geometry(model, args)
    return Model(model.model_type, {name: geometry}, model.layers)


def _readable(value: Any, shown: int = 4) -> str:
    """A value in one line, long lists cut in the middle."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_readable(entry)}" for key, entry in value.items()) or "none"
    if isinstance(value, Sequence) and not isinstance(value, str):
        entries = [_readable(entry) for entry in value]
        if len(entries) > 2 * shown:
            entries[shown : 1 - shown] = [f"… {len(entries)} in all …"]
        return " ".join(entries)
    if value is None:
        return "none"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers, runs of them as first–last."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def _plural(count: int, noun: str) -> str:
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun[:-1]}ies" if noun.endswith("try") else f"{count} {noun}s"
