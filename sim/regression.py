# SPDX-License-Identifier: Apache-2.0
"""The regression of the core: cases of every kind, each from a seed, each compared bit for bit."""

import atexit
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import numpy as np

from ropeway.golden.adder_parameters import AdderParameters
from ropeway.golden.alibi_parameters import AlibiParameters
from ropeway.golden.core_parameters import CoreParameters, MemoryTable, RamTable
from ropeway.golden.parameters import RopeParameters

from .cocotb_run import SimulatorMissingError
from .core_bench import CoreBench, Mixture
from .core_script import written
from .core_traffic import CoreTraffic
from .native_build import cache_folder
from .score_script import scores_written

__all__ = ["CORES", "Case", "Outcome", "matrix", "run_case", "sample", "sources_hash", "traffic_of"]

NATIVE, SIMULATORS = "native", ("verilator", "icarus")
COUNTED = ("elements", "loads", "resets", "clocks")
SCORES_A_TOKEN = 2  # segments beside each token, in a core with both


def _adder(lanes: int, **options) -> AdderParameters:
    return AdderParameters(lanes=lanes, max_width=256, **options)


CORES: dict[str, Callable[[], CoreParameters]] = {
    "rope-4x16": lambda: CoreParameters(rope=RopeParameters(lanes=4)),
    "rope-1x8-shared": lambda: CoreParameters(
        rope=RopeParameters(lanes=1, data_bits=8, generator="shared", max_head_dim=128)
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
        sinusoidal=_adder(1, generator="serial"),
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

    ``engine`` is "native", the compiled model, or a simulator with cocotb, "verilator" or "icarus".
    ``loads`` more come among the tokens; ``resets`` times all of it is begun and broken off by a
    reset at a random clock first. ``idle`` and ``stall`` are how often inputs and outputs pause,
    the bus as often as inputs; ``carried`` lets positions ride on packets.
    """

    core: str
    tokens: int
    seed: int
    engine: str = NATIVE
    loads: int = 0
    resets: int = 0
    idle: float = 0.0
    stall: float = 0.0
    carried: bool = False

    @property
    def group(self) -> str:
        """The core, and what runs it."""
        return f"{self.core} {self.engine}"

    @property
    def name(self) -> str:
        """What tells it from all others."""
        parts = [self.group, f"{self.tokens} tokens"]
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
    yield from _simulated(pauses)


def _simulated(pauses: Sequence[tuple[float, float]]) -> Iterator[Case]:
    """Cases under cocotb: every core in either simulator, and a million elements in Icarus."""
    for simulator in SIMULATORS:
        for core in CORES:
            yield Case(core=core, engine=simulator, tokens=30, loads=3, seed=1, idle=0.3, stall=0.3)
            yield Case(core=core, engine=simulator, tokens=10, resets=2, seed=2, carried=True)
    for seed in range(8):
        idle, stall = pauses[seed % len(pauses)]
        yield Case(core="rope-4x16", engine="icarus", tokens=120, seed=seed, idle=idle, stall=stall)


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


@lru_cache(maxsize=1)
def _builds() -> Path:
    """Where this process builds what cocotb runs; gone with it."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    folder = TemporaryDirectory(dir=cache_folder(), prefix="cocotb-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def run_case(case: Case) -> Outcome:
    """Run a case; whatever goes wrong within it is its outcome's failure."""
    started = monotonic()
    counts: dict[str, int] = dict.fromkeys(COUNTED, 0)
    failure = ""
    try:
        if case.engine == NATIVE:
            _play(_bench(case.core), case, counts)
        else:
            from .core_cocotb_case import run_case as simulated

            found = simulated(case, _builds(), case.engine)
            counts = {name: found[name] for name in COUNTED}
    except (AssertionError, TimeoutError, SimulatorMissingError) as error:
        failure = " ".join(str(error).split())
    seconds = round(monotonic() - started, 3)
    return Outcome(case=case, seconds=seconds, failure=failure, **counts)


def traffic_of(p: CoreParameters, case: Case) -> dict[str, Any]:
    """What a run of a core takes for a case."""
    traffic, streams = CoreTraffic(p, case.seed), {}
    if p.vector_units:
        steps = list(traffic.steps(case.tokens, loads=case.loads))
        streams["script"] = written(p, steps, carried=case.carried)
    if p.alibi:
        geometry, segments = traffic.segments(SCORES_A_TOKEN * case.tokens)
        streams |= {"scores": scores_written(p, geometry, segments), "alibi": geometry}
    carried = case.carried and "script" in streams
    mixture = Mixture(case.idle, case.stall, case.idle, case.seed)
    return streams | {"mixture": mixture, "carried": carried}


def _play(bench: CoreBench, case: Case, counts: dict[str, int]):
    """The whole of a case's traffic, after as many beginnings as it has resets."""
    traffic = traffic_of(bench.parameters, case)
    elements = sum(traffic[n].elements for n in ("script", "scores") if n in traffic)
    counts["loads"] += len(traffic["script"].loads) if "script" in traffic else 0
    counts["loads"] += "alibi" in traffic
    whole = bench.run(**traffic)
    counts["clocks"] += whole.clocks
    counts["elements"] += elements
    random = np.random.default_rng(case.seed)
    for _ in range(case.resets):
        limit = int(random.integers(whole.clocks // 4, whole.clocks))
        broken = bench.run(**traffic, limit=limit)
        again = bench.run(**traffic)
        counts["clocks"] += broken.clocks + again.clocks
        counts["elements"] += elements
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
