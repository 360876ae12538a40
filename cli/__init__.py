# SPDX-License-Identifier: Apache-2.0
"""The ``ropeway`` command, one thin module a verb."""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from io import TextIOWrapper
from typing import NoReturn

__all__ = ["main"]

VERBS = {
    "inspect": "what geometry a checkpoint's config has",
    "table": "one geometry as a file that loads the hardware",
    "run": "rotate arrays: exactly, as the golden model or in simulated hardware",
    "verilog": "a core as Verilog, for a design in another language",
    "boards": "the boards that bitstreams are built for",
    "build": "the bitstream of a board",
    "program": "a board's bitstream handed to its loader",
    "regress": "the whole core against the golden model, case by case",
    "report": "what every unit takes and how fast it is, held to the last report",
    "simulate": "a board without the board, for hosts to open",
    "link": "a board at a serial port: loaded, streamed through, tested",
    "demo": "a prompt through simulated hardware, every claim checked",
}
CHECK_FAILED, BAD_INPUT = 1, 2
INTERRUPTED, BROKEN_PIPE = 130, 141  # as shells report SIGINT and SIGPIPE


class Parser(argparse.ArgumentParser):
    """A parser whose errors are told as those of any other input are."""

    def error(self, message: str) -> NoReturn:
        """Raise InputError."""
        raise _input_error()("command", self.prog, message)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; its exit status: 0 done, 1 a check failed, 2 bad usage or input."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal of few letters is no error
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _run(sys.argv[1:] if argv is None else argv)
        print(end="", flush=True)
        return status
    except BrokenPipeError:
        _abandon_output()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except TimeoutError as error:  # an OSError by birth, but raised by simulations that stand still
        return _tell("failed", f"simulation: {error}", CHECK_FAILED)
    except OSError as error:
        _abandon_output()
        name = error.filename or "output"
        return _tell("error", f"file = {name}: {error.strerror or error}", BAD_INPUT)
    except MemoryError:
        return _tell("error", "memory = exhausted: the input is too large", BAD_INPUT)
    except ValueError as error:
        if not isinstance(error, _input_error()):
            raise
        return _tell("error", str(error), BAD_INPUT)


def _run(argv: Sequence[str]) -> int:
    verb = next((word for word in argv if not word.startswith("-")), None)
    parser = Parser(prog="ropeway", description=__doc__, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"ropeway {version('ropeway')}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, summary in VERBS.items():
        subparser = verbs.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        if name == verb:
            module = import_module(f"{__name__}.{name}")
            module.add_arguments(subparser)
            subparser.set_defaults(run=module.run)
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        kind = "option" if unknown[0].startswith("-") else "argument"
        raise _input_error()(kind, unknown[0], f"is not known to ropeway {verb}")
    return args.run(args)


def _input_error():
    """The error of bad input, imported only once there is one: NumPy comes with it."""
    from ropeway.golden import InputError

    return InputError


def _tell(what: str, message: str, status: int) -> int:
    print(f"ropeway: {what}: {' '.join(message.split())}", file=sys.stderr)
    return status


def _abandon_output():
    """Point stdout nowhere, so that the interpreter's last flush cannot fail again."""
    with suppress(OSError, AttributeError):  # a stdout without a file has no last flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
