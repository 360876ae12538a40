# SPDX-License-Identifier: Apache-2.0
"""The boards that bitstreams are built for, and what each is given unless one asks otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from amaranth.build import Attrs, Pins, Resource, Subsignal

from ropeway.golden.errors import InputError

__all__ = ["BOARDS", "Board", "board_named", "described"]

RGB = {"passed": "rgb_led 0 g", "failed": "rgb_led 0 r", "busy": "rgb_led 0 b"}
THREE = {"passed": "led 0", "failed": "led 1", "busy": "led 2"}
ONE = {"passed": "led 0"}


@dataclass(frozen=True)
class Board:
    """A board: its platform, the core's clock, the core itself, LEDs, and how it is programmed.

    ``platform`` names a module and a class in it; ``resources`` are pins that it has no name for.
    ``core`` are the core's parameters as `ropeway build` takes them: a scheme, lanes, bits, and
    single settings like ``rope.slots``. ``program`` is a command that lacks the bitstream's name.
    """

    title: str
    platform: str
    clock_hz: int
    program: str
    core: "Core"
    leds: Mapping[str, str] = field(default_factory=lambda: THREE)
    resources: tuple[Resource, ...] = ()
    note: str = ""

    def load(self) -> Any:
        """A new Platform, which serves for one build. Raises InputError without amaranth-boards."""
        module, name = self.platform.split(":")
        try:
            platform = getattr(import_module(module), name)()
        except ModuleNotFoundError as missing:
            rule = "is not installed: pip install 'ropeway[fpga]'"
            raise InputError("module", missing.name, rule) from None
        platform.add_resources(self.resources)
        return platform


@dataclass(frozen=True)
class Core:
    """What a board's core is made of, in the words of ``ropeway.golden.core_options``."""

    scheme: str = "rope"
    lanes: int = 4
    bits: int = 16
    settings: Mapping[str, str] = field(default_factory=dict)


def _uart(rx: str, tx: str, connector: tuple[str, int], **attributes: str | int) -> Resource:
    """A serial port on two pins of a header; what is not connected reads as silence."""
    return Resource(
        "uart",
        0,
        Subsignal("rx", Pins(rx, dir="i", conn=connector)),
        Subsignal("tx", Pins(tx, dir="o", conn=connector)),
        Attrs(**attributes),
    )


def _led(number: int, pin: str, connector: tuple[str, int], **attributes: str) -> Resource:
    return Resource("led", number, Pins(pin, dir="o", conn=connector), Attrs(**attributes))


ROPE_4 = Core()
# What a small device's core does without, and how its rows are made.
SMALL = {f"core.{what}": "false" for what in ("counters", "bypass", "carried", "keep")}
SMALL |= {"rope.max_head_dim": "128", "rope.slots": "1", "rope.rows": "2"}
SMALL |= {"core.small": "true", "host.position_words": "1"}
ROPE_UP5K = Core(
    lanes=1,
    settings=SMALL
    | {
        "rope.generator": "shared",
        "rope.coefficient_bits": "16",
        "rope.position_bits": "20",  # half a million tokens either way
    },
)
ROPE_IN_LOGIC = Core(lanes=1, settings=SMALL | {"rope.generator": "serial"})

AMARANTH = "amaranth_boards"


def _ulx3s(size: str) -> Board:
    return Board(
        f"Radiona ULX3S {size}",
        f"{AMARANTH}.ulx3s:ULX3S_{size}_Platform",
        100_000_000,
        "openFPGALoader -b ulx3s",
        ROPE_4,
    )


def _orangecrab(size: str) -> Board:
    return Board(
        f"OrangeCrab r0.2 {size}",
        f"{AMARANTH}.orangecrab_r0_2:OrangeCrabR0_2_{size}Platform",
        120_000_000,
        "dfu-util -d 1209:5af0 -a 0 -D",
        ROPE_4,
        RGB,
        (_uart("0", "1", ("io", 0), IO_TYPE="LVCMOS33", PULLMODE="UP"),),
        note="serial port on header pins 0 (rx) and 1 (tx)",
    )


def _ecpix(size: str) -> Board:
    return Board(
        f"LambdaConcept ECPIX-5 {size}F",
        f"{AMARANTH}.ecpix5:ECPIX5{size}Platform",
        150_000_000,
        "openFPGALoader -b ecpix5",
        ROPE_4,
        RGB,
    )


def _colorlight(model: str) -> Board:
    return Board(
        f"Colorlight {model}",
        f"ropeway.boards.colorlight_i5:Colorlight{model.upper()}",
        100_000_000,
        f"openFPGALoader -b colorlight-{model}",
        ROPE_4,
        ONE,
    )


BOARDS = {
    **{f"ulx3s-{size.lower()}": _ulx3s(size) for size in ("12F", "25F", "45F", "85F")},
    **{f"orangecrab-{size.lower()}": _orangecrab(size) for size in ("25F", "85F")},
    **{f"ecpix5-{size}": _ecpix(size) for size in ("45", "85")},
    "colorlight-5a-75b": Board(
        "Colorlight 5A-75B 7.0",
        f"{AMARANTH}.colorlight_5a75b_r7_0:Colorlight_5A75B_R70Platform",
        100_000_000,
        "openFPGALoader -b colorlight -c ft232",
        ROPE_4,
        {"passed": "led 1", "failed": "led 2", "busy": "led 3"},
        tuple(_led(n, str(n), ("j", 1), IO_TYPE="LVCMOS33") for n in (1, 2, 3)),
        note="serial port on J19, where the LED and the button are; LEDs on J1, pins 1 to 3",
    ),
    "colorlight-i5": _colorlight("i5"),
    "colorlight-i9": _colorlight("i9"),
    "icebreaker": Board(
        "1BitSquared iCEBreaker",
        f"{AMARANTH}.icebreaker:ICEBreakerPlatform",
        24_000_000,
        "iceprog",
        ROPE_UP5K,
        {"passed": "led_g 0", "failed": "led_r 0"},
    ),
    "upduino-v3": Board(
        "tinyVision UPduino v3",
        f"{AMARANTH}.upduino_v3:UpduinoV3Platform",
        24_000_000,
        "iceprog",
        ROPE_UP5K,
        RGB,
        (_uart("19", "20", ("j", 0), IO_STANDARD="SB_LVCMOS", PULLUP=1),),
        note="serial port on gpio_38 (rx) and gpio_28 (tx); the clock is the device's oscillator,"
        " true to 10 %, so that a host may have to look for the rate",
    ),
    "ice40hx8k-b-evn": Board(
        "Lattice iCE40HX8K-B-EVN",
        f"{AMARANTH}.ice40_hx8k_b_evn:ICE40HX8KBEVNPlatform",
        48_000_000,
        "iceprog -S",
        ROPE_IN_LOGIC,
    ),
    "tang-nano-9k": Board(
        "Sipeed Tang Nano 9K",
        "ropeway.boards.gowin:TangNano9k",
        27_000_000,
        "openFPGALoader -b tangnano9k",
        ROPE_IN_LOGIC,
    ),
    "tang-nano-20k": Board(
        "Sipeed Tang Nano 20K",
        "ropeway.boards.tang_nano_20k:TangNano20k",
        54_000_000,
        "openFPGALoader -b tangnano20k",
        ROPE_IN_LOGIC,
    ),
    "tang-primer-20k": Board(
        "Sipeed Tang Primer 20K, dock",
        "ropeway.boards.gowin:TangPrimer20kDock",
        54_000_000,
        "openFPGALoader -b tangprimer20k",
        ROPE_IN_LOGIC,
    ),
}
"""Every board by its name."""


def board_named(name: str) -> Board:
    """The board of that name; InputError where there is none."""
    if name not in BOARDS:
        raise InputError("board", name, f"must be one of {', '.join(BOARDS)}")
    return BOARDS[name]


def described(board: Board) -> dict[str, Any]:
    """What is known of a board, its pins by the names of its package."""
    platform = board.load()
    uart = platform.request("uart", dir="-")
    return {
        "title": board.title,
        "device": platform.device,
        "clock_hz": board.clock_hz,
        "scheme": board.core.scheme,
        "lanes": board.core.lanes,
        "bits": board.core.bits,
        "uart": {name: getattr(uart, name).io.metadata[0].name for name in ("rx", "tx")},
        "leds": dict(board.leds),
        "loader": board.program.split()[0],
        "program": board.program,
        "note": board.note,
    }
