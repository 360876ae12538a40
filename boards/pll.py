# SPDX-License-Identifier: Apache-2.0
"""The dividers of a PLL that make one clock of another, exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ropeway.golden.errors import InputError

__all__ = ["ECP5_PLL", "GW1NR_PLL", "GW2A_PLL", "ICE40_PLL", "Dividers", "PllFamily"]


@dataclass(frozen=True)
class Dividers:
    """How a PLL is set: input divider, feedback multiplier, and divider behind its oscillator."""

    divide: int
    multiply: int
    post: int


@dataclass(frozen=True)
class PllFamily:
    """What a family's PLL can do; frequencies are pairs of limits in MHz.

    ``feedback_behind_post``: what is fed back is the output; else the oscillator itself.
    """

    divides: Sequence[int]
    multiplies: Sequence[int]
    posts: Sequence[int]
    detector: tuple[float, float]
    oscillator: tuple[float, float]
    feedback_behind_post: bool

    def solve(self, from_hz: int, to_hz: int) -> Dividers:
        """The dividers that make exactly ``to_hz`` of ``from_hz``; InputError where none do.

        Of several, those with the fastest phase detector, and then with the oscillator nearest
        the middle of its range, which is where its jitter is least.
        """
        middle = sum(self.oscillator) / 2
        for divide in self.divides:
            detector = Fraction(from_hz, divide)
            if not self._within(detector, self.detector):
                continue
            able = []
            for post in self.posts:
                oscillator = Fraction(to_hz * post)
                multiply = oscillator / detector / (post if self.feedback_behind_post else 1)
                whole = multiply.denominator == 1 and int(multiply) in self.multiplies
                if whole and self._within(oscillator, self.oscillator):
                    able.append((abs(oscillator / 1_000_000 - middle), int(multiply), post))
            if able:
                _, multiply, post = min(able)
                return Dividers(divide, multiply, post)
        rule = f"no setting of the PLL makes it of {from_hz / 1e6:g} MHz"
        raise InputError("clock", f"{to_hz / 1e6:g} MHz", rule)

    @staticmethod
    def _within(hz: Fraction, limits: tuple[float, float]) -> bool:
        return limits[0] <= hz / 1_000_000 <= limits[1]


# Lattice FPGA-TN-02200 and the ECP5 family data sheet.
ECP5_PLL = PllFamily(
    divides=range(1, 129),
    multiplies=range(1, 81),
    posts=range(1, 129),
    detector=(3.125, 400),
    oscillator=(400, 800),
    feedback_behind_post=True,
)
# Lattice FPGA-TN-02052, feedback path SIMPLE.
ICE40_PLL = PllFamily(
    divides=range(1, 17),
    multiplies=range(1, 129),
    posts=(2, 4, 8, 16, 32, 64),
    detector=(10, 133),
    oscillator=(533, 1066),
    feedback_behind_post=False,
)
GOWIN_POSTS = (2, 4, 8, 16, 32, 48, 64, 80, 96, 112, 128)
# Gowin DS117, speed grade C6/I5.
GW1NR_PLL = PllFamily(
    divides=range(1, 65),
    multiplies=range(1, 65),
    posts=GOWIN_POSTS,
    detector=(3, 400),
    oscillator=(400, 1200),
    feedback_behind_post=True,
)
# Gowin DS226, speed grade C8/I7.
GW2A_PLL = PllFamily(
    divides=range(1, 65),
    multiplies=range(1, 65),
    posts=GOWIN_POSTS,
    detector=(3, 500),
    oscillator=(500, 1250),
    feedback_behind_post=True,
)
