"""Starts processes that learn together, on this machine or on a Ray cluster, and watches them.

If one of them dies, all start again and go on from the last `resume.zip`, without a user's help.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.extras import needed
from tabletop_engine.play.batch import usable_cores, use_cores
from tabletop_training.learn.group import LONGEST_WAIT, Group, Ranks, group_of_ranks, own_device
from tabletop_training.measure.cluster import joined
from tabletop_training.measure.workers import serve_parent, without_ctrl_c

TRIES = 5
"""How often the workers may start without reaching the next save."""
_RESTARTS = 1000
"""How often Ray Train restarts workers, which may fail before they can say that they started."""
_LOOK = 0.2
"""Seconds between two looks at the workers."""


class Progress(NamedTuple):
    """How far a run is. `saved_steps` is 0 until a state after an update was saved."""

    text: str
    fraction: float
    saved_steps: int


class Watcher:
    """Whoever watches a run: sees its progress and may ask it to stop. This one does neither."""

    def should_stop(self) -> bool:
        """Whether the run should save and end."""
        return False

    def show(self, progress: Progress) -> None:
        """Show how far the run is; called a few times a second."""

    def tell(self, text: str) -> None:
        """Say what happened, such as the loss of a worker."""


class Work(Protocol):
    """What every worker does. Only the leading worker's result counts. Both must be picklable."""

    def __call__(self, group: Group, device: str, watcher: Watcher) -> Any: ...


# --- What workers tell the process that watches them ------------------------------------------------------------------


class _Started(NamedTuple):
    workers: int


class _Failed(NamedTuple):
    traceback: str


class _Ended(NamedTuple):
    result: Any


def _work(work: Work, group: Group, device: str, watcher: Watcher, send: Callable[[Any], None]) -> None:
    """Do the work as one of the group, and send the result or the error."""
    if group.leads:
        send(_Started(group.size))
    try:
        result = work(group, device, watcher)
    except TabletopError as error:
        send(error)
        raise
    except Exception:
        send(_Failed(traceback.format_exc()))
        raise
    if group.leads:
        send(_Ended(result))


class _News:
    """What is known of a number of workers, from their messages."""

    def __init__(self, watcher: Watcher, workers: int) -> None:
        self.error: TabletopError | None = None
        self.ended: _Ended | None = None
        self._watcher, self._workers = watcher, workers
        self.starts = 0
        self._saved = self._tries = 0
        self._failure = ""

    def hear(self, message: Any) -> None:
        match message:
            case Progress():
                if message.saved_steps != self._saved:
                    self._saved, self._tries = message.saved_steps, 0
                self._watcher.show(message)
            case _Started():
                self.starts += 1
                here = f"{message.workers} of {self._workers} workers"
                if self.starts > 1:
                    self._watcher.tell(f"The workers start again: {here} go on from step {self._saved:,}.")
                elif message.workers < self._workers:
                    self._watcher.tell(f"{here} start; the others join them when the cluster has room.")
            case _Failed():
                self._failure = message.traceback
            case _Ended():
                self.ended = message
            case TabletopError():
                self.error = self.error or message

    def lost(self) -> None:
        """A worker has failed, so all begin again. `error` is set if that has happened too often."""
        self._tries += 1
        if self._tries == TRIES and self.error is None:
            if self._failure:
                self._watcher.tell(self._failure)
            why = self._failure.strip().splitlines()[-1] if self._failure else "is there memory enough?"
            self.error = TabletopError(f"the workers failed {TRIES} times without saving in between: {why}")

    def result(self) -> Any:
        """What the worker that leads has returned. Raises the error that ended the work."""
        if self.error is not None:
            raise self.error
        if self.ended is None:  # it was stopped before it had begun
            raise KeyboardInterrupt
        return self.ended.result


# --- This machine -----------------------------------------------------------------------------------------------------


class _OverPipe(Watcher):
    """Passes on what the leading worker shows. A message from the other end asks it to stop."""

    def __init__(self, pipe: Connection[Any, Any]) -> None:
        self._pipe = pipe

    def should_stop(self) -> bool:
        return self._pipe.poll()

    def show(self, progress: Progress) -> None:
        self._pipe.send(progress)


def in_processes(work: Work, workers: int, device: str, watcher: Watcher) -> Any:
    """Do the work in processes of this machine, which share its cores and GPUs; returns what the leading one returns.

    Raises the TabletopError of a worker, and another if workers die again and again.
    """
    news = _News(watcher, workers)
    while news.ended is None and news.error is None:
        with _processes(work, workers, device) as (processes, pipes):
            _watch(processes, pipes, news, watcher)
        if news.ended is None:
            news.lost()
    return news.result()


@contextmanager
def _processes(
    work: Work, workers: int, device: str
) -> Iterator[tuple[list[SpawnProcess], list[Connection[Any, Any]]]]:
    """Processes that do the work, and a pipe to each. Those that still live at the end are killed."""
    context = get_context("spawn")  # a fork would share locks of threads that it lacks
    processes: list[SpawnProcess] = []
    pipes = []
    with tempfile.TemporaryDirectory() as folder:
        meeting = (Path(folder) / "meeting").as_uri()
        try:
            for rank in range(workers):
                pipe, other = context.Pipe()
                arguments = (work, rank, workers, max(1, usable_cores() // workers), device, meeting, other)
                processes.append(context.Process(target=_process, args=arguments))
                with without_ctrl_c():
                    processes[-1].start()
                other.close()
                pipes.append(pipe)
            yield processes, pipes
        finally:
            for process in processes:
                process.kill()
                process.join()


def _process(
    work: Work, rank: int, size: int, cores: int, device: str, meeting: str, pipe: Connection[Any, Any]
) -> None:
    serve_parent()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # schedulers send it to all processes; the parent decides
    use_cores(cores)
    device = own_device(device, rank)
    watcher = _OverPipe(pipe) if rank == 0 else Watcher()
    with group_of_ranks(device, init_method=meeting, rank=rank, world_size=size) as group:
        try:
            _work(work, group, device, watcher, pipe.send)
        except Exception:
            os._exit(1)  # the error was sent already, and the group cannot be left in order


def _watch(processes: Sequence[Any], pipes: list[Connection[Any, Any]], news: _News, watcher: Watcher) -> None:
    """Hear the workers until all have ended, or one has failed."""
    leader, stopping = pipes[0], False
    hearing = list(pipes)
    while hearing:
        if watcher.should_stop() and not stopping:
            stopping = True
            with suppress(OSError):
                leader.send(None)
        for pipe in connection.wait(hearing, _LOOK):
            assert isinstance(pipe, connection.Connection)
            try:
                news.hear(pipe.recv())
            except (EOFError, OSError):  # its process has ended
                hearing.remove(pipe)
                process = processes[pipes.index(pipe)]
                process.join()
                if process.exitcode:
                    return


# --- A Ray cluster ----------------------------------------------------------------------------------------------------


class _Mailbox:
    """An actor between the workers and the process that watches them."""

    def __init__(self) -> None:
        self._messages: list[Any] = []
        self._stopping = False

    def put(self, message: Any) -> None:
        self._messages.append(message)

    def fetch(self, stopping: bool) -> list[Any]:
        """The messages since the last call, which also says whether the workers should stop."""
        self._stopping = stopping
        messages, self._messages = self._messages, []
        return messages

    def is_stopping(self) -> bool:
        return self._stopping


class _OverMailbox(Watcher):
    def __init__(self, ray: Any, mailbox: Any) -> None:
        self._ray, self._mailbox = ray, mailbox

    def should_stop(self) -> bool:
        stopping: bool = self._ray.get(self._mailbox.is_stopping.remote())
        return stopping

    def show(self, progress: Progress) -> None:
        self._mailbox.put.remote(progress)


def check_address(address: str) -> None:
    """Raise TabletopError for the address of a Ray client, `ray://`, and where Ray is missing."""
    needed("ray.train", "--ray", "ray")
    if address.startswith("ray://"):
        raise ConfigError(f"--ray {address}: start training on a machine of the cluster, with --ray auto or HOST:PORT")


def on_ray(work: Work, address: str, workers: int | None, device: str, watcher: Watcher) -> Any:
    """Do the work in processes that Ray Train starts on a cluster; returns what the leading one returns.

    Arguments:
        address: as for `cluster.connect`, but not of a Ray client (`check_address`).
        workers: None for as many as the cluster has cores or, with `cuda`, GPUs. If the cluster has fewer, so many
            start, and the others when it has more.

    Raises the TabletopError of a worker, and another if workers die again and again.
    """
    with joined(address) as ray:
        from ray import train
        from ray.train.torch import TorchConfig, TorchTrainer
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        on_gpu = device.startswith("cuda")
        number, cores = _room(ray, workers, on_gpu)
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        mailbox = ray.remote(num_cpus=0, scheduling_strategy=here)(_Mailbox).remote()
        told = {"work": work, "device": device, "cores": cores, "mailbox": mailbox, "folder": os.getcwd()}
        resources = {"CPU": cores, **({"GPU": 1} if on_gpu else {})}
        trainer = TorchTrainer(
            _on_ray,
            train_loop_config=told,
            torch_config=TorchConfig(timeout_s=int(LONGEST_WAIT.total_seconds())),
            scaling_config=train.ScalingConfig(num_workers=(1, number), use_gpu=on_gpu, resources_per_worker=resources),
            run_config=train.RunConfig(
                storage_path=str(Path(tempfile.gettempdir(), "ray", "train")),  # Ray Train keeps nothing there
                failure_config=train.FailureConfig(max_failures=_RESTARTS),
                logging_config=train.LoggingConfig("ERROR"),
            ),
        )
        failed: list[Exception] = []

        def fit() -> None:
            try:
                trainer.fit()
            except Exception as error:
                failed.append(error)

        news = _News(watcher, number)
        fitting = threading.Thread(target=fit, daemon=True)  # in the main thread Ray Train would take Ctrl-C
        fitting.start()
        running = True
        while running:
            running = fitting.is_alive()
            for message in ray.get(mailbox.fetch.remote(watcher.should_stop() or news.error is not None)):
                if isinstance(message, _Started) and news.starts:
                    news.lost()
                news.hear(message)
            fitting.join(_LOOK)
        if failed and news.error is None:
            raise TabletopError(f"--ray {address}: {failed[0]}") from failed[0]
        return news.result()


def _room(ray: Any, workers: int | None, on_gpu: bool) -> tuple[int, int]:
    """The number of workers, and the cores of each: one, or a machine's cores divided by its GPUs."""
    resources = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if not on_gpu:
        return workers or max(1, int(sum(one.get("CPU", 0) for one in resources))), 1
    machines = [one for one in resources if one.get("GPU", 0) >= 1]
    if not machines:
        raise ConfigError("--device cuda: no machine of the cluster has a GPU")
    cores = min(int(one.get("CPU", 1) // one["GPU"]) for one in machines)
    return workers or int(sum(one["GPU"] for one in machines)), max(1, cores)


def _on_ray(told: dict[str, Any]) -> None:
    """What Ray Train runs in every worker, in the process group that it has set up."""
    import ray
    from ray.train.torch import get_device

    mailbox = told["mailbox"]
    if ray.get(mailbox.is_stopping.remote()):
        return
    with suppress(OSError):
        os.chdir(told["folder"])  # for relative paths in settings; Ray Train starts workers in a folder of its own
    use_cores(told["cores"])
    group = Ranks()
    watcher = _OverMailbox(ray, mailbox) if group.leads else Watcher()
    _work(told["work"], group, str(get_device()), watcher, lambda message: ray.get(mailbox.put.remote(message)))
