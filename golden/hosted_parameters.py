# SPDX-License-Identifier: Apache-2.0
"""The parameters of a core that a host drives over a serial port, as boards have it."""

from dataclasses import dataclass

from .core_parameters import CoreParameters
from .errors import InputError
from .self_test import MOST_TOKENS
from .uart_parameters import UartParameters

__all__ = ["HostedParameters"]

BUS = "registers"
WORD_BITS = 32
DEPTHS = tuple(1 << bits for bits in range(4, 15))
SERVED = ("rope", "sinusoidal")  # by vectors alone, with no table beside the image


@dataclass(frozen=True, kw_only=True)
class HostedParameters:
    """A ``core`` with its bus "registers", behind a serial port of ``baud`` bits a second.

    The core has runs of positions, and needs neither ``carried`` ones nor ``keep``. ``image`` is
    that of the table loaded into slot 0 at power-on, with which ``self_test_tokens`` are then
    tested; none where it is empty. Vectors and results pass FIFOs of ``vector_words`` and
    ``result_words`` 32-bit words, positions one of ``position_words``, or where that is 1 a
    register, since the core itself takes positions ahead. A request of which nothing has come for
    ``timeout_us`` is given up.

    Raises InputError, naming the parameter, for a core that vectors alone do not serve, a rate that
    the clock does not, and anything out of range.
    """

    core: CoreParameters
    clock_hz: int
    baud: int = 1_000_000
    image: tuple[int, ...] = ()
    self_test_tokens: int = 256
    vector_words: int = 256
    result_words: int = 256
    position_words: int = 256
    timeout_us: int = 100_000

    def __post_init__(self):
        if not isinstance(self.core, CoreParameters):
            raise TypeError(f"core must be CoreParameters, not {self.core!r}")
        if self.core.bus != BUS:
            raise InputError("bus", self.core.bus, f"must be {BUS} behind a serial port")
        if not self.core.runs:
            raise InputError("runs", "false", "must be true for the self-test's positions")
        for unit in self.core.units:
            if unit not in SERVED:
                rule = f"must be of {', '.join(SERVED)} behind a serial port"
                raise InputError("units", unit, rule)
        for name in ("vector_words", "result_words", "position_words"):
            single = name == "position_words"
            if getattr(self, name) not in (*DEPTHS, *(1,) * single):
                rule = f"must be {'1 or ' * single}a power of two from {DEPTHS[0]} to {DEPTHS[-1]}"
                raise InputError(name, getattr(self, name), rule)
        self._check_fit()
        _ = self.uart
        most = 1_000_000
        least = -(-20 * 1_000_000 // self.baud)  # a byte, and as long again
        if not least <= self.timeout_us <= most:
            rule = f"must be from {least} to {most} at {self.baud} baud"
            raise InputError("timeout_us", self.timeout_us, rule)
        if not 1 <= self.self_test_tokens <= MOST_TOKENS:
            raise InputError(
                "self_test_tokens", self.self_test_tokens, f"must be from 1 to {MOST_TOKENS}"
            )
        for word in self.image:
            if not 0 <= word < 1 << WORD_BITS:
                raise InputError("image", word, f"must be words of {WORD_BITS} bits")

    def _check_fit(self):
        """Raise InputError where a FIFO does not hold two beats or positions."""
        for name, words in (
            ("vector_words", self.beat_words),
            ("result_words", self.result_beat_words),
            ("position_words", self.place_words),
        ):
            if 1 < getattr(self, name) < 2 * words:
                rule = f"must be at least {2 * words}, for {words} each"
                raise InputError(name, getattr(self, name), rule)

    @property
    def uart(self) -> UartParameters:
        """The serial port's parameters."""
        return UartParameters(clock_hz=self.clock_hz, baud=self.baud)

    @property
    def timeout(self) -> int:
        """Clocks of silence after which a request is given up."""
        return -(-self.timeout_us * self.clock_hz // 1_000_000)

    @property
    def beat_bits(self) -> int:
        """Bits of a beat of vectors on its bus."""
        return 8 * self.core.beat_elements * self.core.element_bytes

    @property
    def result_beat_bits(self) -> int:
        """Bits of a beat of results on its bus."""
        return 8 * self.core.beat_elements * self.core.output_bytes

    @property
    def beat_words(self) -> int:
        """Words of a beat of vectors."""
        return _words(self.beat_bits)

    @property
    def result_beat_words(self) -> int:
        """Words of a beat of results."""
        return _words(self.result_beat_bits)

    @property
    def place_words(self) -> int:
        """Words of a position: one an axis, one for slot and flags, one for a temperature."""
        tempered = self.core.rope is not None and self.core.rope.temperature
        return self.core.axes + 1 + tempered


def _words(bits: int) -> int:
    return -(-bits // WORD_BITS)
