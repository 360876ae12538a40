# SPDX-License-Identifier: Apache-2.0
"""The regression of the core: cases of every kind, each from a seed, each compared bit for bit."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from time import monotonic

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.core_parameters import CoreParameters, MemoryTable, RamTable
from ropeway.golden.parameters import RopeParameters

from .core_bench import CoreBench, MismatchError, Mixture
from .core_script import written
from .core_traffic import CoreTraffic
from .native import StreamRuleError
from .score_script import scores_written

__all__ = ["CORES", "Case", "Outcome", "matrix", "run_case", "sample", "sources_hash"]

COUNTED = ("elements", "loads", "resets", "clocks")
SCORES_A_TOKEN = 2  # segments beside each token, in a core with both


def _adder(lanes: int, **options) -> AdderParameters:
    return AdderParameters(lanes=lanes, max_width=256, **options)


CORES: dict[str, Callable[[], CoreParameters]] = {
    "rope-4x16": lambda: CoreParameters(rope=RopeParameters(lanes=4)),
    "rope-1x8-compact": lambda: CoreParameters(
        rope=RopeParameters(lanes=1, data_bits=8, compact=True, max_head_dim=128)
    ),
    "rope-2x16-to-8": lambda: CoreParameters(rope=RopeParameters(lanes=2, output_bits=8)),
    "rope-2xbf16-axes": lambda: CoreParameters(
        rope=RopeParameters(lanes=2, format="bf16", axes=3, temperature=True)
    ),
    "all-2x16": lambda: CoreParameters(
        rope=RopeParameters(lanes=2),
        sinusoidal=_adder(2, scaled=True),
        learned=_adder(2),
        table=RamTable(1024),
        alibi=AlibiParameters(lanes=2),
    ),
    "adders-1x16-memory": lambda: CoreParameters(
        sinusoidal=_adder(1, compact=True),
        learned=_adder(1),
        table=MemoryTable(bus_bits=64),
        alibi=AlibiParameters(lanes=1),
    ),
    "scores-4x16": lambda: CoreParameters(alibi=AlibiParameters(lanes=4)),
}
"""The cores that cases are of, by name."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """``tokens`` of random traffic through a core, from a seed.

    ``loads`` more come among them; ``resets`` times all of it is begun and broken off by a reset at
    a random clock first. ``idle`` and ``stall`` are how often inputs and outputs pause, the bus as
    often as inputs; ``carried`` lets positions ride on packets.
    """

    core: str
    tokens: int
    seed: int
    loads: int = 0
    resets: int = 0
    idle: float = 0.0
    stall: float = 0.0
    carried: bool = False

    @property
    def name(self) -> str:
        """What tells it from all others."""
        parts = [self.core, f"{self.tokens} tokens"]
        parts += [f"{getattr(self, n)} {n}" for n in ("loads", "resets") if getattr(self, n)]
        if self.idle or self.stall:
            parts.append(f"idle {self.idle:g} stall {self.stall:g}")
        if self.carried:
            parts.append("carried")
        return ", ".join([*parts, f"seed {self.seed}"])


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a case compared and did; ``failure`` says what was wrong, in a line."""

    case: Case
    elements: int = 0
    loads: int = 0
    resets: int = 0
    clocks: int = 0
    seconds: float = 0.0
    failure: str = ""

    def as_dict(self) -> dict:
        """Plain values, for a file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict) -> "Outcome":
        """The reverse. Raises TypeError or KeyError for what is none."""
        return cls(case=Case(**values["case"]), **{n: v for n, v in values.items() if n != "case"})


def matrix() -> Iterator[Case]:
    """Every case: steady and pausing streams, loads under traffic, resets in mid-packet."""
    pauses = ((0.0, 0.0), (0.3, 0.3), (0.1, 0.7), (0.7, 0.1))
    for core in CORES:
        for number, (idle, stall) in enumerate(pauses):
            for carried in (False, True):
                yield Case(
                    core=core,
                    tokens=400,
                    loads=15,
                    seed=100 + number,
                    idle=idle,
                    stall=stall,
                    carried=carried,
                )
        for seed in range(8):
            yield Case(core=core, tokens=20, resets=20, seed=seed, idle=0.2, stall=0.2)
    bulk = {"rope-4x16": 40, "all-2x16": 8, "rope-2x16-to-8": 8, "rope-2xbf16-axes": 8}
    for core, seeds in bulk.items():
        for seed in range(seeds):
            pause = pauses[seed % len(pauses)]
            yield Case(core=core, tokens=2000, loads=8, seed=seed, idle=pause[0], stall=pause[1])


def sample() -> list[Case]:
    """A few cases that touch everything once."""
    return [
        Case(core="all-2x16", tokens=60, loads=6, seed=1),
        Case(core="all-2x16", tokens=60, loads=6, seed=2, idle=0.3, stall=0.3, carried=True),
        Case(core="all-2x16", tokens=12, resets=5, seed=3, idle=0.2, stall=0.2),
    ]


@lru_cache(maxsize=1)
def _bench(core: str) -> CoreBench:
    p = CORES[core]()
    return CoreBench(p, CoreTraffic(p, 0).table)


def run_case(case: Case) -> Outcome:
    """Run a case; whatever goes wrong within it is its outcome's failure."""
    started = monotonic()
    counts: dict[str, int] = dict.fromkeys(COUNTED, 0)
    failure = ""
    try:
        bench = _bench(case.core)
        _play(bench, case, counts)
    except (MismatchError, StreamRuleError, TimeoutError) as error:
        failure = " ".join(str(error).split())
    seconds = round(monotonic() - started, 3)
    return Outcome(case=case, seconds=seconds, failure=failure, **counts)


def _play(bench: CoreBench, case: Case, counts: dict[str, int]):
    """The whole of a case's traffic, after as many beginnings as it has resets."""
    p = bench.parameters
    traffic = CoreTraffic(p, case.seed)
    streams = {}
    if p.vector_units:
        script = written(
            p, list(traffic.steps(case.tokens, loads=case.loads)), carried=case.carried
        )
        streams["script"] = script
        counts["loads"] += len(script.loads)
    if p.alibi:
        geometry, segments = traffic.segments(SCORES_A_TOKEN * case.tokens)
        streams |= {"scores": scores_written(p, geometry, segments), "alibi": geometry}
        counts["loads"] += 1
    mixture = Mixture(case.idle, case.stall, case.idle, case.seed)
    carried = case.carried and "script" in streams
    whole = bench.run(**streams, mixture=mixture, carried=carried)
    counts["clocks"] += whole.clocks
    counts["elements"] += sum(s.elements for n, s in streams.items() if n in ("script", "scores"))
    for _ in range(case.resets):
        limit = int(traffic.random.integers(whole.clocks // 4, whole.clocks))
        broken = bench.run(**streams, mixture=mixture, carried=carried, limit=limit)
        again = bench.run(**streams, mixture=mixture, carried=carried)
        counts["clocks"] += broken.clocks + again.clocks
        counts["elements"] += sum(
            s.elements for n, s in streams.items() if n in ("script", "scores")
        )
        counts["resets"] += 1


def sources_hash() -> str:
    """A hash of every module that decides an outcome: one of another hash is stale."""
    digest = sha256()
    for package in ("golden", "hdl", "sim"):
        folder = files(f"ropeway.{package}")
        for source in sorted(folder.iterdir(), key=lambda path: path.name):
            if source.name.endswith((".py", ".json", ".cpp")):
                digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
