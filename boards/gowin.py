# SPDX-License-Identifier: Apache-2.0
"""Gowin boards with the tools of today: Amaranth 0.5 calls a nextpnr that is no more."""

from amaranth.vendor import GowinPlatform
from amaranth_boards.tang_nano_9k import TangNano9kPlatform
from amaranth_boards.tang_primer_20k import TangPrimer20kDockPlatform

__all__ = ["HimbaechelPlatform", "TangNano9k", "TangPrimer20kDock"]

PLACE = """
{{invoke_tool("nextpnr-himbaechel-gowin")}}
    {{quiet("--quiet")}}
    {{get_override("nextpnr_opts")|options}}
    --log {{name}}.tim
    --device {{platform.part}}
    --vopt family={{platform.database}}
    --vopt cst={{name}}.cst
    --json {{name}}.json
    --write {{name}}.pnr.json
"""
PACK = """
{{invoke_tool("gowin_pack")}}
    -d {{platform.database}}
    {{get_override("gowin_pack_opts")|options}}
    -o {{name}}.fs
    {{name}}.pnr.json
"""


class HimbaechelPlatform(GowinPlatform):  # pyright: ignore[reportGeneralTypeIssues]
    """A Gowin board that nextpnr-himbaechel places; ``database`` is Apicula's name of its die."""

    database: str

    @property
    def device(self) -> str:
        """The part, as the platforms of other families call it."""
        return self.family

    @property
    def required_tools(self):  # noqa: D102
        return ["yosys", "nextpnr-himbaechel-gowin", "gowin_pack"]

    @property
    def command_templates(self):  # noqa: D102
        return [self._apicula_command_templates[0], PLACE, PACK]


class TangNano9k(HimbaechelPlatform, TangNano9kPlatform):
    """Sipeed Tang Nano 9K."""

    database = "GW1N-9C"


class TangPrimer20kDock(HimbaechelPlatform, TangPrimer20kDockPlatform):
    """Sipeed Tang Primer 20K on its dock; to Apicula its die is the one without a C."""

    database = "GW2A-18"
