# SPDX-License-Identifier: Apache-2.0
"""One function over many things, side by side on this machine or on a dask cluster."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

from ropeway.golden import InputError

__all__ = ["as_they_come"]

Given = TypeVar("Given")
Made = TypeVar("Made")


def as_they_come(
    function: Callable[[Given], Made],
    items: Sequence[Given],
    *,
    jobs: int = 1,
    address: str | None = None,
) -> Iterator[Made]:
    """What ``function`` makes of each item, in the order in which they are done.

    ``jobs`` processes of this machine, or the cluster whose dask scheduler is at ``address``.
    Raises InputError where there is no such cluster, and what the function raises.
    """
    return _here(function, items, jobs) if address is None else _there(function, items, address)


def _here(function: Callable[[Given], Made], items: Sequence[Given], jobs: int) -> Iterator[Made]:
    with ProcessPoolExecutor(jobs) as pool:
        try:
            for future in as_completed([pool.submit(function, item) for item in items]):
                yield future.result()
        finally:  # one that raises ends all: what has not begun never does
            pool.shutdown(cancel_futures=True)


def _there(
    function: Callable[[Given], Made], items: Sequence[Given], address: str
) -> Iterator[Made]:
    try:
        from distributed import Client
        from distributed import as_completed as as_they_end
    except ImportError:
        raise InputError("dask", address, "needs `pip install 'ropeway[cluster]'`") from None
    try:
        client = Client(address, timeout=5)
    except (OSError, ValueError) as error:
        raise InputError("dask", address, f"cannot be reached: {error}") from None
    with client:
        for future in as_they_end(client.map(function, items, pure=False)):
            yield future.result()
