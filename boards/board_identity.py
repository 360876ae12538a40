# SPDX-License-Identifier: Apache-2.0
"""What a board says that it is, as the parameters of which it was made."""

from importlib.metadata import version

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.core_parameters import CoreParameters
from ropeway.golden.errors import InputError
from ropeway.golden.generators import GENERATORS, generator_interval
from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.hdl.core_identity import FORMAT_CODES, IDENTIFICATION
from ropeway.hdl.core_registers import core_registers
from ropeway.hdl.host_registers import host_registers
from ropeway.hdl.registers import RegisterMap

from .uartbone_client import LinkError, UartboneClient

__all__ = ["ANY_HOST", "identified"]

BUS = "registers"
ANY = HostedParameters(
    core=CoreParameters(rope=RopeParameters(), sinusoidal=AdderParameters(), bus=BUS),
    clock_hz=1 << 20,
    baud=1 << 10,
)
ANY_CORE, ANY_HOST = core_registers(ANY.core), host_registers(ANY)
"""Registers of some board: what any has stands where it stands in these."""

WHOLE = ("IDENT", "VERSION", "UNITS", "VECTORS", "TARGETS")
UNITS = ("ROPE", "SINUSOIDAL")
SIGN = 1 << 5  # of fraction bits

Fields = dict[str, dict[str, int]]


def identified(client: UartboneClient, baud: int) -> HostedParameters:
    """The parameters of the board that a client has found.

    Of what only decides how fast or how large a board is, not all is known. Raises LinkError where
    the board says what this release cannot know.
    """
    said = _read(client, ANY_CORE, WHOLE) | _read(client, ANY_HOST, ("CLOCK_HZ", "DEPTHS"))
    if said["IDENT"]["value"] != IDENTIFICATION:
        raise LinkError(f"the board's core identifies as 0x{said['IDENT']['value']:08x}")
    release = tuple(said["VERSION"][part] for part in ("major", "minor"))
    if ".".join(map(str, release)) != version("ropeway").rsplit(".", 1)[0]:
        raise LinkError(
            f"the board was made by release {release[0]}.{release[1]}, this is {version('ropeway')}"
        )
    said |= _read(client, ANY_CORE, tuple(u for u in UNITS if said["UNITS"][u.lower()]))
    depths, clock = said["DEPTHS"], said["CLOCK_HZ"]["value"]
    try:
        return HostedParameters(
            core=_core(said),
            clock_hz=clock,
            baud=min(baud, clock // 4),
            vector_words=1 << depths["vector"],
            result_words=1 << depths["result"],
            position_words=1 << depths["position"],
        )
    except InputError as error:
        raise LinkError(f"the board says what cannot be: {error}") from None


def _read(client: UartboneClient, registers: RegisterMap, names: tuple[str, ...]) -> Fields:
    """Some registers' fields."""
    batch = client.batch()
    for name in names:
        batch.read(registers[name].address())
    words = client.exchange(batch).tolist() if names else []
    return {n: registers[n].decode(word) for n, word in zip(names, words, strict=True)}


def _generator(rope: dict[str, int]) -> str:
    """The form of the generator that takes as many clocks a pair."""
    for generator in GENERATORS:
        if generator_interval(generator, rope["position_bits"]) == rope["pair_clocks"]:
            return generator
    raise LinkError(f"the board's generator takes {rope['pair_clocks']} clocks a pair")


def _core(said: Fields) -> CoreParameters:
    """The core's parameters."""
    vectors, units = said["VECTORS"], {}
    common = {
        "lanes": vectors["elements"] // 2,
        "data_bits": vectors["data_bits"],
        "format": FORMAT_CODES[min(vectors["format"], len(FORMAT_CODES) - 1)],
    }
    if rope := said.get("ROPE"):
        units["rope"] = RopeParameters(
            **common,
            output_bits=vectors["output_bits"],
            coefficient_bits=rope["coefficient_bits"],
            max_head_dim=rope["max_head_dim"],
            slots=said["TARGETS"]["rope_slots"],
            position_bits=rope["position_bits"],
            axes=vectors["axes"],
            temperature=bool(rope["temperature"]),
            generator=_generator(rope),
        )
    if adder := said.get("SINUSOIDAL"):
        units["sinusoidal"] = AdderParameters(
            **common,
            fraction_bits=(adder["fraction_bits"] ^ SIGN) - SIGN,
            max_width=adder["max_width"],
            position_bits=adder["position_bits"],
            scaled=bool(adder["scaled"]),
        )
    there = {name: bool(flag) for name, flag in said["UNITS"].items()}
    return CoreParameters(
        **units,
        bus=BUS,
        bypass=there["bypass"],
        counters=there["counters"],
        carried=there["carried"],
        keep=there["keep"],
        runs=there["runs"],
    )
