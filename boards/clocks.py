# SPDX-License-Identifier: Apache-2.0
"""The core's clock on a board: oscillator, PLL and reset; the one file that knows their blocks."""

from typing import Any

from amaranth import *

from ropeway.golden.errors import InputError
from ropeway.hdl.power_on_reset import PowerOnReset

from .pins import input_pin
from .pll import ECP5_PLL, GW1NR_PLL, GW2A_PLL, ICE40_PLL, Dividers

__all__ = ["CoreClock", "core_clock"]

OSCILLATOR = "SB_HFOSC"
FAMILIES = {"LFE5U": ECP5_PLL, "iCE40": ICE40_PLL, "GW1N": GW1NR_PLL, "GW2A": GW2A_PLL}
PADS = {"iCE40UP5K": "35"}
"""The pin that is a PLL's own on a device; nothing else can take it while the PLL is used."""
RATES = (48_000_000, 24_000_000, 12_000_000, 6_000_000)
"""Of the iCE40UP5K's own oscillator, by its divider."""
DETECTOR_RANGES = (17, 26, 44, 66, 101)  # MHz below which an iCE40's loop filter is 1, 2, 3, 4, 5


def core_clock(platform: Any, core_hz: int) -> "CoreClock":
    """The clock that a board's core is to have, of the platform's default clock.

    Raises InputError, naming the clock, where no divider or PLL of the device makes the one of the
    other.
    """
    source_hz, dividers = round(platform.default_clk_frequency), None
    if platform.default_clk == OSCILLATOR:
        if core_hz not in RATES:
            rates = ", ".join(f"{hz / 1e6:g}" for hz in RATES)
            raise InputError("clock", f"{core_hz / 1e6:g} MHz", f"must be one of {rates} MHz")
    elif core_hz != source_hz:
        prefix = next(prefix for prefix in FAMILIES if platform.device.startswith(prefix))
        dividers = FAMILIES[prefix].solve(source_hz, core_hz)
    return CoreClock(core_hz, source_hz, dividers)


class CoreClock(Elaboratable):
    """Drives the clock domain ``sync`` at ``core_hz``, in reset until it can be used.

    Its source is the platform's default clock, through a PLL where there are ``dividers``.
    """

    def __init__(self, core_hz: int, source_hz: int, dividers: Dividers | None):
        self._core_hz, self._source_hz, self._dividers = core_hz, source_hz, dividers

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.domains.configured = ClockDomain(reset_less=True, local=True)
        clock, usable = self._clock(m, platform)
        if platform.default_rst is not None:
            port = platform.request(platform.default_rst, dir="-")
            usable &= ~input_pin(m, "button", port)
        power_on = PowerOnReset(self._core_hz)
        m.submodules.power_on = DomainRenamer("configured")(power_on)
        m.d.comb += [
            ClockSignal("configured").eq(clock),
            ClockSignal().eq(clock),
            ResetSignal().eq(power_on.reset),
            power_on.usable.eq(usable),
        ]
        return m

    def _clock(self, m: Module, platform: Any) -> tuple[Value, Value]:
        """The clock, and whether it is steady."""
        if platform.default_clk == OSCILLATOR:
            return _oscillator(m, self._core_hz), C(1)
        port = platform.request(platform.default_clk, dir="-")
        if self._dividers is None:
            return input_pin(m, "pin", port), C(1)
        if port.io.metadata[0].name == PADS.get(platform.device):
            source = {"i_PACKAGEPIN": port.io}
            return _ice40_pll(m, self._dividers, self._source_hz, "PAD", **source)
        pin = input_pin(m, "pin", port)
        if platform.device.startswith("LFE5U"):
            return _ecp5_pll(m, self._dividers, pin)
        if platform.device.startswith("iCE40"):
            return _ice40_pll(m, self._dividers, self._source_hz, "CORE", i_REFERENCECLK=pin)
        return _gowin_pll(m, self._dividers, self._source_hz, platform.family, pin)


def _oscillator(m: Module, core_hz: int) -> Signal:
    """The iCE40UP5K's own oscillator, through its divider."""
    clock = Signal()
    m.submodules.oscillator = Instance(
        "SB_HFOSC",
        p_CLKHF_DIV=f"0b{RATES.index(core_hz):02b}",
        i_CLKHFEN=Const(1),
        i_CLKHFPU=Const(1),
        o_CLKHF=clock,
    )
    return clock


def _ecp5_pll(m: Module, dividers: Dividers, source: Value) -> tuple[Signal, Signal]:
    clock, locked = Signal(), Signal()
    m.submodules.pll = Instance(
        "EHXPLLL",
        a_ICP_CURRENT="12",
        a_LPF_RESISTOR="8",
        a_MFG_ENABLE_FILTEROPAMP="1",
        a_MFG_GMCREF_SEL="2",
        p_PLLRST_ENA="DISABLED",
        p_INTFB_WAKE="DISABLED",
        p_STDBY_ENABLE="DISABLED",
        p_DPHASE_SOURCE="DISABLED",
        p_OUTDIVIDER_MUXA="DIVA",
        p_CLKI_DIV=dividers.divide,
        p_CLKFB_DIV=dividers.multiply,
        p_CLKOP_ENABLE="ENABLED",
        p_CLKOP_DIV=dividers.post,
        p_CLKOP_CPHASE=dividers.post - 1,
        p_CLKOP_FPHASE=0,
        p_FEEDBK_PATH="CLKOP",
        i_CLKI=source,
        i_CLKFB=clock,
        i_RST=Const(0),
        i_STDBY=Const(0),
        i_PHASESEL0=Const(0),
        i_PHASESEL1=Const(0),
        i_PHASEDIR=Const(0),
        i_PHASESTEP=Const(0),
        i_PHASELOADREG=Const(0),
        i_PLLWAKESYNC=Const(0),
        i_ENCLKOP=Const(0),
        o_CLKOP=clock,
        o_LOCK=locked,
    )
    return clock, locked


def _ice40_pll(
    m: Module, dividers: Dividers, source_hz: int, kind: str, **source
) -> tuple[Signal, Signal]:
    clock, locked = Signal(), Signal()
    detector = source_hz / dividers.divide / 1e6
    m.submodules.pll = Instance(
        f"SB_PLL40_{kind}",
        p_FEEDBACK_PATH="SIMPLE",
        p_DIVR=Const(dividers.divide - 1, 4),
        p_DIVF=Const(dividers.multiply - 1, 7),
        p_DIVQ=Const(dividers.post.bit_length() - 1, 3),
        p_FILTER_RANGE=Const(1 + sum(detector >= limit for limit in DETECTOR_RANGES), 3),
        i_RESETB=Const(1),
        i_BYPASS=Const(0),
        o_PLLOUTGLOBAL=clock,
        o_LOCK=locked,
        **source,
    )
    return clock, locked


def _gowin_pll(
    m: Module, dividers: Dividers, source_hz: int, family: str, source: Value
) -> tuple[Signal, Signal]:
    clock, locked = Signal(), Signal()
    m.submodules.pll = Instance(
        "rPLL",
        p_DEVICE=family,
        p_FCLKIN=f"{source_hz / 1e6:g}",
        p_IDIV_SEL=dividers.divide - 1,
        p_FBDIV_SEL=dividers.multiply - 1,
        p_ODIV_SEL=dividers.post,
        p_CLKFB_SEL="internal",
        i_CLKIN=source,
        i_CLKFB=Const(0),
        i_RESET=Const(0),
        i_RESET_P=Const(0),
        i_FBDSEL=Const(0, 6),
        i_IDSEL=Const(0, 6),
        i_ODSEL=Const(0, 6),
        i_PSDA=Const(0, 4),
        i_DUTYDA=Const(0, 4),
        i_FDLY=Const(0, 4),
        o_CLKOUT=clock,
        o_LOCK=locked,
    )
    return clock, locked
