# SPDX-License-Identifier: Apache-2.0
"""Which family of devices a platform's is of: asked by the primitives alone."""

__all__ = ["is_ecp5", "is_ice40", "is_ultraplus", "multiplies_in_logic"]


def _device(platform) -> str:
    """A part's name, or of Gowin's its family's."""
    return str(getattr(platform, "device", "") or getattr(platform, "family", ""))


def is_ecp5(platform) -> bool:
    """ECP5."""
    return _device(platform).startswith("LFE5U")


def is_ice40(platform) -> bool:
    """Any iCE40."""
    return _device(platform).startswith("iCE40")


def is_ultraplus(platform) -> bool:
    """The iCE40 with multipliers."""
    return _device(platform).startswith("iCE40UP")


def multiplies_in_logic(platform) -> bool:
    """Those that have no multipliers, or none whose netlist can be simulated (Gowin's)."""
    return (is_ice40(platform) and not is_ultraplus(platform)) or _device(platform).startswith("GW")
