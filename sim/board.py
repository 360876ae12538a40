# SPDX-License-Identifier: Apache-2.0
"""A board without the board: a hosted core as a native model, behind a port that hosts open."""

from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import Self

from ropeway.golden.hosted_parameters import HostedParameters
from ropeway.hdl.hosted_core import HostedCore

from .board_port import BoardPort, TcpPort
from .native import NativeModel
from .native_serial import SerialLine

__all__ = ["SimulatedBoard"]

SLICE = 20_000  # clocks between looks at the port
SETTLED_BITS, SETTLED_CLOCKS = 20, 100  # without a bit, after which no answer is on its way
PAUSE = 0.001  # seconds between looks while time must go on
OUTLIVED = 20_000  # clocks beyond a request's timeout, after which only a host changes anything


class SimulatedBoard:
    """Simulates the very hardware of a board, bit by bit of its serial port, in a thread.

    A context manager: within it, ``port.url`` is what pyserial opens, and a host finds what it
    finds at a board that was powered on. While bytes move or a self-test lasts time goes as fast as
    it can; else it goes on by the clock, so that no request is given up too soon, and stops when
    nothing but a host could change anything.

    Parameters
    ----------
    parameters : of the hosted core
        Four clocks a bit are the fastest to simulate.
    port : where hosts connect, a TcpPort by default
        Closed with the board.
    model : of the hosted core, made before, of its netlist say; nobody else may use it meanwhile
    cache : as NativeModel has it

    Raises what ``native_build.build_library`` does.
    """

    def __init__(
        self,
        parameters: HostedParameters,
        port: BoardPort | None = None,
        *,
        model: NativeModel | None = None,
        cache: Path | None = None,
    ):
        self.parameters = parameters
        self.model = model or NativeModel(HostedCore(parameters), streams=(), cache=cache)
        self.port = port or TcpPort()
        self._lock, self._thread = Lock(), Thread(target=self._serve, daemon=True)
        self._stops, self._failed = False, None
        self._power_on()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error):
        self.stop()
        if self._failed is not None:
            raise self._failed

    @property
    def url(self) -> str:
        """What pyserial opens."""
        return self.port.url

    def wait(self):
        """Until the board is stopped, or has failed."""
        self._thread.join()

    def stop(self):
        """Take the board away."""
        self._stops = True
        self.port.wake()
        self._thread.join()
        self.port.close()

    def power_cycle(self):
        """Take its power away for a moment; the host's connection stays."""
        with self._lock:
            self._power_on()
        self.port.wake()

    def led(self, name: str) -> bool:
        """Whether ``busy``, ``passed`` or ``failed`` is lit."""
        with self._lock:
            return bool(self.model.peek(name))

    def _power_on(self):
        p = self.parameters
        self.model.restart()
        self._line = SerialLine(self.model, p.clock_hz / p.baud)
        self._moves, self._idle, self._at = False, 0, monotonic()

    def _serve(self):
        try:
            waiting, wait = b"", 0.0
            while not self._stops:
                waiting += self.port.read(0.0 if waiting else wait)
                with self._lock:
                    waiting, wait, answer = self._run(waiting)
                if answer:
                    self.port.write(answer)
        except Exception as error:  # for whoever leaves the context
            self._failed = error

    def _run(self, waiting: bytes) -> tuple[bytes, float | None, bytes]:
        """Let time go on; what is still to be sent, how long to wait for more, what was answered.

        Nothing is lost where the wait ends too soon.
        """
        p, now = self.parameters, monotonic()
        if waiting or self._moves or self.model.peek("busy"):
            settled = round(SETTLED_BITS * p.clock_hz / p.baud) + SETTLED_CLOCKS
            done = self._line.run(waiting, clocks=SLICE, quiet=settled)
            self._moves, wait = done.clocks == SLICE, 0.0
            if not done.clocks:  # a self-test goes on in silence
                done = self._line.run(clocks=SLICE)
        else:
            done = self._line.run(clocks=min(SLICE, int((now - self._at) * p.clock_hz)))
            wait = None if self._idle > p.timeout + OUTLIVED else PAUSE
        self._at = now
        self._idle = 0 if done.taken or done.data else self._idle + done.clocks
        return waiting[done.taken :], wait, done.data
