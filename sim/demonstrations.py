# SPDX-License-Identifier: Apache-2.0
"""Every scheme's demonstration, by the scheme's name."""

from .demo import Demonstration
from .demo_alibi import AlibiDemonstration
from .demo_learned import LearnedDemonstration
from .demo_rope import RopeDemonstration
from .demo_sinusoidal import SinusoidalDemonstration

__all__ = ["DEMONSTRATIONS"]

DEMONSTRATIONS: dict[str, type[Demonstration]] = {
    each.scheme: each
    for each in (
        RopeDemonstration,
        SinusoidalDemonstration,
        LearnedDemonstration,
        AlibiDemonstration,
    )
}
