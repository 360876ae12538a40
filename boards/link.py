# SPDX-License-Identifier: Apache-2.0
"""A board at the other end of a serial port: loaded, streamed through, tested and asked."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from ropeway.golden.additive import SinusoidalGeometry
from ropeway.golden.batch import RopeBatch, rope_geometry
from ropeway.golden.config import geometry_of
from ropeway.golden.engines import Progress, silent
from ropeway.golden.errors import InputError
from ropeway.golden.fixed import limits
from ropeway.golden.geometry import Geometry, RopeGeometry
from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.golden.parameters import RopeParameters
from ropeway.golden.self_test import MOST_BEATS, Held, token_beats
from ropeway.golden.table import HeadPattern
from ropeway.golden.words import check_fits
from ropeway.hdl.registers import Register
from ropeway.sim.coded_batch import CodedBatch
from ropeway.sim.request import Request

from .board import Board
from .board_identity import ANY_HOST, identified
from .board_self_test import SelfTestReport, run_self_test
from .board_slots import BoardSlots
from .uartbone_client import SILENCE, LinkError, UartboneClient
from .vector_stream import stream_tokens

__all__ = ["BAUD", "Link", "LinkError"]

BAUD = 1_000_000


class Link:
    """A board behind ``port``, which is what pyserial's ``serial_for_url`` takes.

    Whatever goes wrong on the line, or on the board, ends as LinkError and never as a result: then
    the board is found again and reset, and the next call loads again what had been loaded. The
    first call that loads, rotates or tests resets the board too, since another may have used it.

    ``silence`` and ``patience`` are UartboneClient's. Raises InputError where the port cannot be
    opened, LinkError where no board is behind it.
    """

    def __init__(
        self, port: str, *, baud: int = BAUD, silence: float = SILENCE, patience: float = 1.0
    ):
        self._baud, self._lost = baud, False
        self._geometry: RopeGeometry | SinusoidalGeometry | None = None
        self._client = UartboneClient(port, ANY_HOST, baud=baud, silence=silence, patience=patience)
        try:
            self._client.synchronise()
            self._board = Board(self._client, identified(self._client, baud))
        except BaseException:
            self._client.close()
            raise
        self._slots = BoardSlots(self._board)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ):
        self.close()

    def close(self):
        """Close the port; the board keeps what it holds."""
        self._client.close()

    @property
    def parameters(self) -> HostedParameters:
        """What the board is made of, as far as that can be asked for."""
        return self._board.parameters

    @property
    def registers(self) -> Mapping[str, Register]:
        """The board's registers by their names."""
        return self._board.registers

    @property
    def engine(self) -> RopeParameters:
        """The parameters of the board's RoPE engine. Raises InputError where it has none."""
        if self.parameters.core.rope is None:
            raise InputError("scheme", "rope", "is not of this board")
        return self.parameters.core.rope

    @property
    def request(self) -> Request:
        """Words as the board's core has them."""
        core = self.parameters.core
        narrow = core.output_bits if core.narrows else None
        return Request(bits=core.data_bits, format=self.engine.format, output_bits=narrow)

    def identify(self) -> HostedParameters:
        """Ask the board again what it is made of."""
        with self._recovering():
            return identified(self._client, self._baud)

    def read(self, name: str, number: int = 0) -> dict[str, int]:
        """A register's fields by their names, ``value`` where there is one. Raises InputError."""
        with self._recovering():
            return self._board.read(name, number)

    def write(self, name: str, number: int = 0, **fields: int):
        """Write a register's fields, zeros where not named. Raises InputError."""
        with self._recovering():
            self._board.write(name, number, **fields)

    def fingerprint(self, slot: int = 0) -> str | None:
        """The digest that the board made of what a slot holds, 16 hex digits; None of nothing."""
        with self._recovering():
            return self._board.fingerprint(slot)

    def counters(self) -> dict[str, int]:
        """The core's counters of vectors, since it was reset; none where it has none."""
        with self._recovering():
            return self._board.counters()

    def load(self, config: Mapping[str, Any] | str | Path | Geometry, **options: Any) -> str:
        """Load the geometry of a checkpoint, to be rotated and tested by; its fingerprint.

        ``config`` and ``options`` are those of ``ropeway.golden.geometry_of``: ``name``, ``layer``,
        ``context``, ``scaling``, ``tp``. Raises InputError where the board cannot serve it.
        """
        given = config if isinstance(config, Geometry) else geometry_of(config, **options)
        if not isinstance(given, RopeGeometry | SinusoidalGeometry):
            raise InputError("scheme", given.scheme, "must be rope or sinusoidal on a board")
        geometry, table = given, table_of(given)
        token_beats(self.parameters.core, table)  # refuses what no unit of the core serves
        with self._recovering():
            self._slots.hold(table)
        self._geometry = geometry
        return geometry.fingerprint

    def rotate(
        self,
        q: np.ndarray,
        k: np.ndarray,
        positions: np.ndarray,
        v: np.ndarray | None = None,
        *,
        progress: Progress = silent,
    ) -> tuple[np.ndarray, ...]:
        """Heads turned by the geometry loaded last: q, k, and v where it is given.

        Each is [tokens, heads, head_dim], of integers that are the core's words, or of floats,
        which become words with which no turn can saturate; results have the same types.
        ``positions`` are integers, [tokens] or [tokens, axes]. Raises InputError.
        """
        heads = {"q": q, "k": k} | ({} if v is None else {"v": v})
        batch = RopeBatch(
            heads={kind: np.asarray(array) for kind, array in heads.items()},
            positions=np.asarray(positions),
            geometries=(rope_geometry(self._loaded()),),
        )
        request = self.request
        request.check(batch.heads)
        coded = CodedBatch.of(batch, request, self.parameters.core.data_bits)
        return tuple(coded.decoded(self.rotate_words(coded.words, progress)).values())

    def rotate_words(self, batch: RopeBatch, progress: Progress = silent) -> dict[str, np.ndarray]:
        """A batch of words turned by its own geometries, by kind of head. Raises InputError."""
        self._check(batch)
        with self._recovering():
            slots = [self._slots.hold(table, keep=batch.tables) for table in batch.tables]
            return stream_tokens(self._board, batch, np.array(slots), progress)

    def self_test(
        self, tokens: int = 1000, *, seed: int = 0, base: int = 0, progress: Progress = silent
    ) -> SelfTestReport:
        """Run tokens through the geometry loaded last at the core's full rate, on the board alone.

        Positions begin with ``base``. What came out is held against the golden model's. Raises
        InputError.
        """
        table = table_of(self._loaded())
        with self._recovering():
            slot = self._slots.hold(table)
            how = {"tokens": tokens, "seed": seed, "base": base}
            return run_self_test(self._board, slot, table, **how, progress=progress)

    def _loaded(self) -> RopeGeometry | SinusoidalGeometry:
        if self._geometry is None:
            raise InputError("geometry", None, "must be loaded first")
        return self._geometry

    def _check(self, batch: RopeBatch):
        """Raise InputError for a batch that the board does not serve."""
        engine = self.engine
        for table in batch.tables:
            engine.check_serves(table)
        bits = engine.position_bits
        check_fits("positions", batch.positions, *limits(bits), f"{bits}-bit positions")
        if len(set(batch.tables)) > engine.slots:
            raise InputError("layers", len(batch.tables), f"must be of {engine.slots} geometries")
        if batch.temperature_words.any() and not engine.temperature:
            raise InputError("query_temperature", "present", "the board's core has none")
        beats = sum(array[0].size for array in batch.heads.values()) // engine.beat_elements
        if beats > MOST_BEATS:
            raise InputError("heads", beats, f"must make at most {MOST_BEATS} beats a token")

    @contextmanager
    def _recovering(self) -> Iterator[None]:
        """Find the board first where it is lost, and again where that which is done fails."""
        if self._lost:
            self._client.synchronise()
            self._lost = False
        try:
            yield
        except InputError:
            raise
        except LinkError as error:
            self._forget()
            raise LinkError(f"{error}; {self._recovered()}") from None
        except BaseException:
            self._forget()
            raise

    def _forget(self):
        self._lost = True
        self._slots.forget()

    def _recovered(self) -> str:
        """Find the board and reset it; what came of that."""
        try:
            self._client.synchronise()
            self._slots.prepare()
        except LinkError as error:
            self._forget()
            return str(error)
        self._lost = False
        return "the board is found again, and is loaded again with the next call"


def table_of(geometry: RopeGeometry | SinusoidalGeometry) -> Held:
    """What a slot holds of a geometry: of rotations the table for queries and keys alone."""
    if isinstance(geometry, SinusoidalGeometry):
        return geometry
    queries, keys, _ = geometry.pattern.counts
    return geometry.table(HeadPattern(queries, keys, rotated=geometry.turns))
