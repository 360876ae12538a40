# SPDX-License-Identifier: Apache-2.0
"""The designs whose figures are reported, each on its device."""

from dataclasses import asdict, dataclass, field
from typing import Any

from amaranth.lib import wiring

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.alibi import AlibiUnit
from ropeway.hdl.core import RopewayCore
from ropeway.hdl.engine import RopeEngine
from ropeway.hdl.learned_adder import LearnedAdder
from ropeway.hdl.learned_memory import LearnedMemory
from ropeway.hdl.learned_ram import LearnedRam
from ropeway.hdl.sinusoidal_adder import SinusoidalAdder

from .harness import SideBySide

__all__ = ["DESIGNS", "Design", "latency"]


@dataclass(frozen=True)
class Design:
    """One unit with its parameters on one device; ``title`` says what it is in a table.

    ``source`` is what feeds a learned adder: the beats of its block RAM (``depth``), or the width
    of its bus in bits (``bus_bits``). ``seeds`` says with how many it is placed, from 1 on; one
    that is ``quick`` is measured by ``ropeway report --quick`` too. ``core`` are the parameters of
    a core around it, beside its unit, where the core is what is placed. The blocks of one that is
    ``floorplanned`` are pinned (boards/floorplan.py) before it is placed. RoPE ``engines`` may be
    several, side by side.
    """

    title: str
    device: str
    parameters: RopeParameters | AlibiParameters | AdderParameters
    source: dict[str, int] = field(default_factory=dict)
    seeds: int = 3
    quick: bool = False
    core: dict[str, Any] = field(default_factory=dict)
    floorplanned: bool = False
    engines: int = 1

    @property
    def scheme(self) -> str:
        """The encoding that the unit serves."""
        if isinstance(self.parameters, RopeParameters):
            return "rope"
        if isinstance(self.parameters, AlibiParameters):
            return "alibi"
        return "learned" if self.source else "sinusoidal"

    @property
    def rate(self) -> tuple[float, str]:
        """How many of what it gives a clock, where its rows keep up."""
        p = self.parameters
        if isinstance(p, RopeParameters):
            return self.engines * p.lanes, "pairs"
        if isinstance(p, AlibiParameters):
            return p.lanes, "scores"
        interval = p.generator_interval if self.scheme == "sinusoidal" else 1
        return p.beat_elements / interval, "elements"

    def configuration(self) -> dict:
        """All that was chosen when it was built."""
        pinned = {"floorplanned": True} if self.floorplanned else {}
        several = {"engines": self.engines} if self.engines > 1 else {}
        core = {f"core_{k}": v for k, v in self.core.items()}
        return asdict(self.parameters) | self.source | core | pinned | several

    def build(self) -> wiring.Component:
        """The unit itself."""
        p = self.parameters
        if self.core:
            return RopewayCore(CoreParameters(**{self.scheme: p}, **self.core))
        if isinstance(p, RopeParameters):
            engines = [RopeEngine(p) for _ in range(self.engines)]
            return SideBySide(engines, "engine") if self.engines > 1 else engines[0]
        if isinstance(p, AlibiParameters):
            return AlibiUnit(p)
        if "depth" in self.source:
            return LearnedAdder(p, LearnedRam(p, self.source["depth"]))
        if "bus_bits" in self.source:
            return LearnedAdder(p, LearnedMemory(p, self.source["bus_bits"]))
        return SinusoidalAdder(p)


def latency(component: wiring.Component) -> int | None:
    """Clocks from a position to its result; None where that is external memory's."""
    if isinstance(component, RopewayCore) and component.vectors:
        (unit,) = component.vectors.units.values()
        own = latency(unit)
        return None if own is None else own + component.added_latency
    if isinstance(component, SideBySide):
        return latency(next(iter(component.parts.values())))
    return getattr(component, "latency", None)


ECP5, ICE40 = "lfe5u-25f-6", "ice40up5k"
SMALL: dict[str, Any] = {"lanes": 1, "max_head_dim": 128, "slots": 1, "rows": 2}
DESIGNS = {
    "rope": Design("RoPE, floorplan", ECP5, RopeParameters(), seeds=5, floorplanned=True),
    "rope-1-lane": Design("RoPE", ECP5, RopeParameters(lanes=1)),
    "rope-2-lanes": Design("RoPE", ECP5, RopeParameters(lanes=2)),
    "rope-8-lanes": Design(
        "RoPE, shared, floorplan",
        ECP5,
        RopeParameters(lanes=8, generator="shared"),
        seeds=5,
        floorplanned=True,
    ),
    "rope-85f": Design(
        "RoPE, shared, floorplan",
        "lfe5u-85f-6",
        RopeParameters(lanes=8, generator="shared"),
        floorplanned=True,
        engines=4,
    ),
    "rope-8-bit": Design("RoPE", ECP5, RopeParameters(lanes=1, data_bits=8)),
    "rope-bf16": Design("RoPE, bf16", ECP5, RopeParameters(format="bf16")),
    "rope-core": Design(
        "RoPE core, AXI4-Lite",
        ECP5,
        RopeParameters(**SMALL, position_bits=20, generator="shared"),
        core=dict.fromkeys(("counters", "bypass", "carried", "keep", "runs"), False),
    ),
    "alibi": Design("ALiBi", ECP5, AlibiParameters()),
    "sinusoidal": Design("sinusoidal", ECP5, AdderParameters()),
    "learned-ram": Design(
        "learned, block RAM", ECP5, AdderParameters(), {"depth": 1024}, quick=True
    ),
    "learned-axi4": Design("learned, AXI4", ECP5, AdderParameters(), {"bus_bits": 256}),
    "rope-up5k": Design(
        "RoPE, shared",
        ICE40,
        RopeParameters(**SMALL, position_bits=20, coefficient_bits=16, generator="shared"),
    ),
    "rope-hx8k": Design("RoPE, serial", "ice40hx8k", RopeParameters(**SMALL, generator="serial")),
    "alibi-up5k": Design("ALiBi", ICE40, AlibiParameters(lanes=1)),
    "sinusoidal-up5k": Design(
        "sinusoidal, shared", ICE40, AdderParameters(lanes=1, max_width=240, generator="shared")
    ),
    "learned-up5k": Design(
        "learned, block RAM", ICE40, AdderParameters(lanes=1, max_width=512), {"depth": 1024}
    ),
}
