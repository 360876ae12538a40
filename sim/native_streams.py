# SPDX-License-Identifier: Apache-2.0
"""The ports of a component's Verilog, and which of them make a stream."""

from collections.abc import Iterator
from dataclasses import dataclass

from amaranth.hdl import Shape
from amaranth.lib import data, wiring

__all__ = ["Port", "StreamPorts", "ports_of", "streams_of"]


@dataclass(frozen=True)
class Port:
    """A port of ``bits``; ``into`` the component, or out of it."""

    name: str
    bits: int
    into: bool


@dataclass(frozen=True)
class StreamPorts:
    """Ports that make a stream ``into`` a component, or out of it.

    An item is the 32-bit words of each of ``parts``, lowest first, one part after the other;
    ``last_bit`` of it is set where it ends a packet, None where nothing does.
    """

    name: str
    valid: str
    ready: str
    parts: tuple[Port, ...]
    into: bool
    last_bit: int | None = None

    @property
    def words(self) -> int:
        """Words of an item."""
        return sum(map(_words, self.parts))


def ports_of(component: wiring.Component) -> tuple[Port, ...]:
    """Every port as the Verilog has it, but for clock and reset."""
    return tuple(port for _, port, _ in _flat(component))


def streams_of(component: wiring.Component) -> tuple[StreamPorts, ...]:
    """The streams among a component's ports, found by their names.

    Side by side, ``valid`` and ``ready`` make one of the payload, ``tvalid`` and ``tready`` of all
    that begins with ``t``, ``arvalid`` and ``arready`` of what begins with ``ar``. A stream is
    called as its ports are up to there, beginning included where several stand side by side.
    """
    groups: dict[str, dict[str, tuple[Port, object]]] = {}
    for path, port, shape in _flat(component):
        groups.setdefault("__".join(path[:-1]), {})[path[-1]] = port, shape
    return tuple(stream for name, group in groups.items() for stream in _streams(name, group))


def _flat(component: wiring.Component) -> Iterator[tuple[tuple[str, ...], Port, object]]:
    for path, member, _ in component.signature.flatten(component):
        names, bits = tuple(map(str, path)), Shape.cast(member.shape).width
        yield names, Port("__".join(names), bits, member.flow is wiring.In), member.shape


def _streams(group: str, ports: dict[str, tuple[Port, object]]) -> Iterator[StreamPorts]:
    starts = [
        name.removesuffix("valid")
        for name in ports
        if name.endswith("valid") and f"{name.removesuffix('valid')}ready" in ports
    ]
    for start in starts:
        valid, ready = (ports[f"{start}{name}"][0] for name in ("valid", "ready"))
        parts = {
            name: (port, shape)
            for name, (port, shape) in ports.items()
            if name.startswith(start) and port not in (valid, ready) and port.into is valid.into
        }
        yield StreamPorts(
            name=group if len(starts) == 1 else f"{group}__{start}",
            valid=valid.name,
            ready=ready.name,
            parts=tuple(port for port, _ in parts.values()),
            into=valid.into,
            last_bit=_last_bit(f"{start}last", parts),
        )


def _last_bit(name: str, parts: dict[str, tuple[Port, object]]) -> int | None:
    """Where in an item ``last`` stands: a part by itself, or a field of the payload."""
    bit = 0
    for part, (port, shape) in parts.items():
        if part == name:
            return bit
        if isinstance(shape, data.StructLayout) and "last" in shape.members:
            return bit + shape["last"].offset
        bit += 32 * _words(port)
    return None


def _words(port: Port) -> int:
    return (port.bits + 31) // 32
