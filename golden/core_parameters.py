# SPDX-License-Identifier: Apache-2.0
"""The parameters of a whole core: which units it has, and how its slots are numbered."""

from dataclasses import dataclass, fields

from .adder_parameters import AdderParameters
from .alibi_parameters import AlibiParameters
from .errors import InputError, check_types
from .parameters import RopeParameters

__all__ = ["BUSES", "CoreParameters", "MemoryTable", "RamTable"]

BUSES = ("axi4-lite", "wishbone", "registers")
VECTOR_UNITS = ("rope", "sinusoidal", "learned")
ALIBI, BYPASS = "alibi", "bypass"
IMAGE_HEADER_WORDS = 8  # at most
SHARED = ("lanes", "data_bits", "format", "position_bits")  # by every unit that vectors pass


@dataclass(frozen=True)
class RamTable:
    """A learned table in block RAM of ``depth`` beats."""

    depth: int

    def __post_init__(self):
        check_types(self)


@dataclass(frozen=True)
class MemoryTable:
    """A learned table in external memory, on a bus of ``bus_bits`` and ``address_bits``."""

    bus_bits: int = 128
    address_bits: int = 32

    def __post_init__(self):
        check_types(self)


@dataclass(frozen=True, kw_only=True)
class CoreParameters:
    """The units of a core, each with its own parameters, None where it has none.

    ``table`` is where a ``learned`` unit's rows are. Vectors pass ``rope``, ``sinusoidal`` and
    ``learned``, so these have the same lanes, formats and positions; scores pass ``alibi``. A token
    names the **slot** it passes: the RoPE engine's slots come first, then the sinusoidal unit, the
    learned one and a bypass, one each; there is no bypass where results are narrower than data. A
    **target** is what can be told apart by number: all slots, and after them the ALiBi unit.

    ``bus`` is what its registers stand behind: "axi4-lite", "wishbone", or "registers" for the bare
    requests and answers, for a bus of one's own. What a small core can do without: ``counters`` of
    what streams do, a ``bypass`` slot where vectors pass one unit only, positions that are
    ``carried`` by packets, bytes that a packet does not ``keep``, and ``runs`` of positions that
    the core counts by itself. ``small`` registers are read within a clock, for slow devices on
    which a register costs as much as a look-up table; then a request on the bus "registers" stays
    until it is answered.

    Raises InputError, naming the parameter, where units do not go together or there is none.
    """

    rope: RopeParameters | None = None
    sinusoidal: AdderParameters | None = None
    learned: AdderParameters | None = None
    table: RamTable | MemoryTable | None = None
    alibi: AlibiParameters | None = None
    bus: str = BUSES[0]
    counters: bool = True
    bypass: bool = True
    carried: bool = True
    keep: bool = True
    runs: bool = True
    small: bool = False

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, field.type):  # pyright: ignore[reportArgumentType]
                raise TypeError(f"{field.name} must be {field.type}, not {value!r}")
        if not self.units:
            raise InputError(
                "units", "none", f"must be some of {', '.join((*VECTOR_UNITS, ALIBI))}"
            )
        if self.bus not in BUSES:
            raise InputError("bus", self.bus, f"must be one of {', '.join(BUSES)}")
        if self.small and self.bus != BUSES[-1]:
            raise InputError("small", "true", f"must be false where the bus is {self.bus}")
        if not self.bypass and len(self.vector_units) > 1:
            raise InputError("bypass", "false", "must be true where vectors pass several units")
        self._check_shared()
        self._check_table()

    def _check_shared(self):
        first, *others = [name for name in VECTOR_UNITS if name in self.units] or [ALIBI]
        for other in others:
            for name in SHARED:
                value, wanted = (getattr(getattr(self, u), name) for u in (other, first))
                if value != wanted:
                    raise InputError(f"{other}.{name}", value, f"must be {wanted}, as {first} has")
        if self.rope is not None and self.narrows and len(self.vector_units) > 1:
            rule = f"must be {self.rope.data_bits} beside {' and '.join(others)}"
            raise InputError("rope.output_bits", self.rope.output_bits, rule)

    def _check_table(self):
        if self.learned is None:
            if self.table is not None:
                raise InputError("table", self.table, "is of a learned unit, which is not there")
        elif self.table is None:
            raise InputError("table", None, "must say where the learned unit's rows are")
        elif self.learned.scaled:
            raise InputError("learned.scaled", True, "must be False")
        elif isinstance(self.table, RamTable):
            self.learned.check_depth(self.table.depth)
        else:
            self.learned.check_bus(self.table.bus_bits, self.table.address_bits)

    @property
    def units(self) -> tuple[str, ...]:
        """The names of the units that there are."""
        return tuple(n for n in (*VECTOR_UNITS, ALIBI) if getattr(self, n) is not None)

    @property
    def vector_units(self) -> tuple[RopeParameters | AdderParameters, ...]:
        """The parameters of the units that vectors pass."""
        return tuple(u for u in (self.rope, self.sinusoidal, self.learned) if u is not None)

    @property
    def slots(self) -> tuple[str, ...]:
        """What a token passes, by the number of its slot; none where only scores pass."""
        if not self.vector_units:
            return ()
        ropes = ("rope",) * (self.rope.slots if self.rope else 0)
        adders = (n for n in VECTOR_UNITS[1:] if n in self.units)
        return (*ropes, *adders, *((BYPASS,) if self.bypass and not self.narrows else ()))

    @property
    def direct(self) -> bool:
        """Whether every vector passes the same unit, so that nothing is to be routed."""
        return bool(self.slots) and BYPASS not in self.slots

    @property
    def targets(self) -> tuple[str, ...]:
        """What is told apart by number: the slots, and then the ALiBi unit."""
        return (*self.slots, *((ALIBI,) if self.alibi else ()))

    @property
    def load_targets(self) -> dict[int, str]:
        """The targets that images are loaded into, and whose they are."""
        return {number: name for number, name in enumerate(self.targets) if name != BYPASS}

    @property
    def slot_bits(self) -> int:
        """Bits of a slot's number; where there is a bypass, enough for a number of none."""
        numbers = len(self.slots) + (BYPASS in self.slots)
        return max(1, (numbers - 1).bit_length())

    @property
    def target_bits(self) -> int:
        """Bits of a target's number, at least one."""
        return max(1, (len(self.targets) - 1).bit_length())

    @property
    def load_bits(self) -> int:
        """Bits of the number of an image's words: twice as many as any unit's image has do fit."""
        words = [IMAGE_HEADER_WORDS]
        if self.rope:
            words.append(self.rope.max_head_dim)
        if self.sinusoidal:
            words.append(self.sinusoidal.max_width)
        if self.alibi:
            words.append(2 * self.alibi.max_heads)
        return (IMAGE_HEADER_WORDS + max(words)).bit_length() + 1

    @property
    def narrows(self) -> bool:
        """Whether results are narrower than data; then nothing can pass unchanged."""
        return self.rope is not None and self.rope.narrowed_bits > 0

    @property
    def data_bits(self) -> int:
        """Bits of an element of a vector; 0 where only scores pass."""
        return self.vector_units[0].data_bits if self.vector_units else 0

    @property
    def output_bits(self) -> int:
        """Bits of an element of a result; 0 where only scores pass."""
        return self.rope.output_bits if self.rope else self.data_bits

    @property
    def axes(self) -> int:
        """Positions a token."""
        return self.rope.axes if self.rope else 1

    @property
    def position_bits(self) -> int:
        """Bits of the widest unit's positions."""
        everyone = (*self.vector_units, *((self.alibi,) if self.alibi else ()))
        return max(unit.position_bits for unit in everyone)

    @property
    def beat_elements(self) -> int:
        """Elements in a beat of vectors; 0 where only scores pass."""
        return self.vector_units[0].beat_elements if self.vector_units else 0

    @property
    def element_bytes(self) -> int:
        """Bytes that an element of a vector takes on a bus, 1, 2 or 4; 0 where only scores pass."""
        return _container(self.data_bits) if self.vector_units else 0

    @property
    def output_bytes(self) -> int:
        """Bytes that an element of a result takes on a bus, 1, 2 or 4; 0 where only scores pass."""
        return _container(self.output_bits) if self.vector_units else 0

    @property
    def score_lanes(self) -> int:
        """Scores in a beat of them; 0 where none pass."""
        return self.alibi.lanes if self.alibi else 0

    @property
    def score_bytes(self) -> int:
        """Bytes that a score takes on a bus, 1, 2 or 4; 0 where none pass."""
        return _container(self.alibi.data_bits) if self.alibi else 0


def _container(bits: int) -> int:
    return 1 if bits <= 8 else 2 if bits <= 16 else 4
