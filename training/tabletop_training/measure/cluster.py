"""Games on a Ray cluster, and the connection to it."""

from __future__ import annotations

import logging
import re
import socket
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Self

from tabletop_engine.checks import checked
from tabletop_engine.errors import TabletopError
from tabletop_engine.extras import needed
from tabletop_engine.play.batch import use_cores
from tabletop_training.measure.evaluation import HERE, Workers
from tabletop_training.measure.results import Results
from tabletop_training.measure.workers import Processes, SeveralWorkers, Task, play_task

LOCAL = "local"
"""The address of a cluster that is started on this machine for a single command and ends with it."""

_HOST_AND_PORT = re.compile(r"(ray://)?(?P<host>[\w.-]+):(?P<port>[0-9]+)")
_SECONDS = 10.0
"""Seconds that a cluster's head may take to answer."""


@contextmanager
def joined(address: str = LOCAL) -> Iterator[Any]:
    """Be part of a cluster, or start one, while the context lasts. Gives the module `ray`.

    Arguments:
        address: LOCAL; `auto` for the cluster that runs on this machine; `HOST:PORT` of a cluster's head, or
            `ray://HOST:PORT` from a machine that is not part of it. A process that was part of a cluster before stays
            there.

    Raises TabletopError where Ray is missing, or no cluster answers.
    """
    loaded = sys.modules.get("ray")
    was_there = loaded is not None and loaded.is_initialized()
    ray = needed("ray", "--ray", "ray")
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == LOCAL:  # Ray itself would join a cluster that somebody has left running
        options |= {"include_dashboard": False}
    try:
        if found := _HOST_AND_PORT.fullmatch(address):  # Ray itself would wait for minutes
            socket.create_connection((found["host"], int(found["port"])), _SECONDS).close()
        ray.init(address, ignore_reinit_error=True, **options)
    except (OSError, OverflowError, RuntimeError, ValueError) as error:
        raise TabletopError(f"--ray {address}: no cluster there ({error})") from None
    try:
        yield ray
    finally:
        if not was_there:
            ray.shutdown()


class RayWorkers(SeveralWorkers[Any]):
    """Processes of a Ray cluster, each on one core.

    Arguments:
        address: as for `joined`.
        number: of blocks played at once; None for the number of the cluster's cores.
    """

    def __init__(self, address: str = LOCAL, number: int | None = None) -> None:
        super().__init__(1 if number is None else number)
        self._address, self._number = address, number

    def __enter__(self) -> Self:
        self._cluster = joined(self._address)
        self._ray = ray = self._cluster.__enter__()
        self.number = self._number or max(1, int(ray.cluster_resources().get("CPU", 1)))
        self.at_once = 2 * self.number  # so that a free worker finds the next block at its node
        self._play = ray.remote(num_cpus=1, max_retries=0)(_play_on_one_core)  # `SeveralWorkers` tries again
        self._kept: dict[str, Any] = {}
        self.is_open = True
        return self

    def __exit__(self, *error: object) -> None:
        self.is_open = False
        self._kept.clear()
        self._cluster.__exit__(None, None, None)

    def start(self, task: Task) -> Any:
        if task.key not in self._kept:
            self._kept[task.key] = self._ray.put(task.agents)
        # In a list, so that Ray doesn't fetch them for a worker that has them.
        return self._play.remote([self._kept[task.key]], task._replace(agents=b""))

    def finished(self, handles: Collection[Any], seconds: float) -> Collection[Any]:
        ready, others = self._ray.wait(list(handles), timeout=seconds, fetch_local=False)
        more, _ = self._ray.wait(others, num_returns=len(others), timeout=0, fetch_local=False) if others else ([], [])
        return [*ready, *more]

    def result(self, handle: Any) -> Results | None:
        try:
            result: Results = self._ray.get(handle)
        except self._ray.exceptions.RayTaskError as error:  # raised by what was played
            raise error.cause from None
        except self._ray.exceptions.RayError:  # worker, node or result is lost
            return None
        return result

    def stop(self, handles: Collection[Any]) -> None:
        for handle in handles:
            self._ray.cancel(handle, force=True)


def _play_on_one_core(agents: list[Any], task: Task) -> Results:
    import ray

    def fetched() -> bytes:
        pickled: bytes = ray.get(agents[0])
        return pickled

    use_cores(1)
    return play_task(task, fetched)


@checked
def workers(number: int | None = None, address: str | None = None) -> Workers:
    """The workers for a command's options: a cluster if it has an address, else processes of this machine."""
    if address is not None:
        return RayWorkers(address, number)
    return HERE if number in (None, 1) else Processes(number)


@contextmanager
def opened(given: Workers | int) -> Iterator[Workers]:
    """Workers that can play: the given ones, in their context if it is not yet entered, or this number of processes."""
    found = given if isinstance(given, Workers) else workers(given)
    with nullcontext(found) if found.is_open else found as players:
        yield players
