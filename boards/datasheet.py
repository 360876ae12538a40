# SPDX-License-Identifier: Apache-2.0
"""The parts of the data sheet that are made of the design: ports, latencies, a waveform."""

import re

from amaranth.hdl import Fragment, Shape
from amaranth.lib.wiring import In

from ropeway.golden.core_parameters import CoreParameters, RamTable
from ropeway.hdl.core_top import CoreTop
from ropeway.hdl.engine import RopeEngine
from ropeway.hdl.learned_adder import LearnedAdder
from ropeway.hdl.sinusoidal_adder import SinusoidalAdder
from ropeway.sim.waveform import packets_waveform

__all__ = ["filled"]

SECTION = re.compile(r"(<!-- begin (\w+)[^\n]*-->\n).*?(<!-- end \2 -->)", re.DOTALL)


def filled(text: str, p: CoreParameters) -> str:
    """The data sheet with its generated sections, of the core ``p``."""
    top = CoreTop(p)
    Fragment.get(top, None)  # what is made is to be used
    parts = {
        "ports": ports_table(top),
        "latencies": latency_table(top),
        "waveform": f"```text\n{packets_waveform()}```\n",
    }
    return SECTION.sub(lambda found: found[1] + parts[found[2]] + found[3], text)


def ports_table(top: CoreTop) -> str:
    """Every port of the Verilog."""
    rows = ["| port | direction | bits |", "| --- | --- | --- |"]
    for name, member in top.signature.members.items():
        direction = "in" if member.flow is In else "out"
        rows.append(f"| `{name}` | {direction} | {Shape.cast(member.shape).width} |")
    return "\n".join(rows) + "\n"


def latency_table(top: CoreTop) -> str:
    """Clocks through each unit."""
    rows = ["| from | to | clocks |", "| --- | --- | --- |"]
    units = top.core.vectors.units if top.core.vectors else {}
    added = top.core.added_latency
    for unit in units.values():
        match unit:
            case RopeEngine():
                what, clocks = "position, adjacent pairs", f"{unit.latency + added}"
            case SinusoidalAdder():
                beats = f"and {unit.interval} for each beat of a row but the first"
                what, clocks = "position, sinusoidal", f"{unit.latency + added} {beats}"
            case LearnedAdder() if isinstance(top.parameters.table, RamTable):
                what, clocks = "position, learned in block RAM", f"{unit.latency + added}"
            case _:
                continue
        rows.append(f"| {what} | its first result | {clocks} |")
    if top.core.scores:
        rows.append(
            f"| scores, their segment waiting | their result | {top.core.scores.latency + 1} |"
        )
    return "\n".join(rows) + "\n"
