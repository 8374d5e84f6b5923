"""Starts processes that learn together, on this machine or on a Ray cluster, and watches them.

torch starts and stops the processes of this machine, Ray Train those of a cluster. The first process writes how far the
run is into a file of the run's folder, which the command reads; to stop them, the command writes another one. If a
process dies, all start again and go on from the last `resume.zip`, without a user's help.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import platform
import signal
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from torch.multiprocessing.spawn import ProcessExitedException, ProcessRaisedException, spawn

from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.extras import needed
from tabletop_engine.files import whole_file
from tabletop_engine.play.batch import usable_cores, use_cores
from tabletop_training.learn.group import LONGEST_WAIT, Group, Ranks, group_of_ranks, own_device
from tabletop_training.measure.cluster import joined
from tabletop_training.measure.workers import serve_parent, without_ctrl_c

TRIES = 5
"""How often the workers may start without reaching the next save."""
PROGRESS, STOP = "progress.json", "stop"
"""Files of a run's folder, while several processes learn: what the first one has done, and that all should stop."""
_LOOK = 0.2
"""Seconds between two looks at the workers."""


class Progress(NamedTuple):
    """How far a run is. `saved_steps` is 0 until a state after an update was saved; `results` are None until its end.

    `best` is the best evaluation in words, and `results` are those of `how_good`.
    """

    text: str
    fraction: float
    saved_steps: int
    best: str = ""
    results: dict[str, Any] | None = None


Work = Callable[[Group, str, Callable[[], bool], Callable[[Progress], None]], Progress]
"""What every worker does, as one of a group, on a device. It can be pickled.

It asks the first function whether to stop, shows its progress to the second, and returns the last progress.
"""


class _WorkersFailed(Exception):
    """Workers died, or had an error that is not their user's. The text is a traceback, or empty."""


Workers = Callable[[], AbstractContextManager[Callable[[], bool]]]
"""Starts workers in a context, at whose end they are gone.

The function that it gives waits a moment, and says whether they have all ended. It raises `_WorkersFailed`, or the
TabletopError of a worker.
"""


def _work(work: Work, group: Group, device: str, folder: Path) -> None:
    """Do the work as one worker of several, whose command reads the files in the run's folder."""
    if not folder.is_dir():
        raise ConfigError(f"{folder}: {platform.node()} does not see this folder; give one that all machines share")
    start = time.time_ns()

    def write(progress: Progress | None) -> None:
        if group.leads:
            note = {"start": start, "workers": group.size, "progress": None if progress is None else progress._asdict()}
            with whole_file(folder / PROGRESS) as unfinished:
                unfinished.write_text(json.dumps(note), encoding="utf-8")

    write(None)
    write(work(group, device, (folder / STOP).exists, write))


def _watch(
    start: Workers,
    workers: int,
    folder: Path,
    should_stop: Callable[[], bool],
    show: Callable[[Progress], None],
    tell: Callable[[str], None],
) -> Progress:
    """Start workers, again if they fail, until the work is done; returns the last progress.

    Arguments:
        workers: the usual number.
        folder: of the run.
        show, tell: are called with every progress, and with a text when something happened to the workers.

    Raises the TabletopError of a worker, and another if workers fail again and again.
    """
    last: Progress | None = None
    started = saved = tries = 0

    def look() -> None:
        nonlocal last, started, saved, tries
        try:
            note = json.loads((folder / PROGRESS).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # not there yet; a shared folder may give a file in parts
            return
        if note["start"] != started:
            here = f"{note['workers']} of {workers} workers"
            if started:
                tell(f"The workers start again: {here} go on from step {saved:,}.")
            elif note["workers"] < workers:
                tell(f"{here} start; the others join them when the cluster has room.")
            started = note["start"]
        if note["progress"] is not None:
            last = Progress(**note["progress"])
            if last.saved_steps != saved:
                saved, tries = last.saved_steps, 0
            show(last)

    def remove_files() -> None:
        for name in (PROGRESS, STOP):
            (folder / name).unlink(missing_ok=True)

    remove_files()
    try:
        while True:
            failure = ""
            try:
                with start() as have_ended:
                    while not have_ended():
                        look()
                        if should_stop():
                            (folder / STOP).touch()
            except _WorkersFailed as error:
                failure = str(error).strip()
            look()
            if last is not None and last.results is not None:
                return last
            tries += 1
            if tries == TRIES:
                if failure:
                    tell(failure)
                why = failure.splitlines()[-1] if failure else "is there memory enough?"
                raise TabletopError(f"the workers failed {TRIES} times without saving in between: {why}")
    finally:
        remove_files()


# --- This machine -----------------------------------------------------------------------------------------------------


def in_processes(work: Work, folder: Path, workers: int, device: str, **screen: Any) -> Progress:
    """Do the work in processes of this machine, which share its cores and GPUs. `screen` is as for `_watch`."""

    @contextmanager
    def start() -> Iterator[Callable[[], bool]]:
        # Its words about processes that it ends would be in the middle of the progress bar.
        logging.getLogger("torch.multiprocessing.spawn").setLevel(logging.ERROR)
        with tempfile.TemporaryDirectory() as meeting:
            cores = max(1, usable_cores() // workers)
            with without_ctrl_c():
                given = (work, folder, workers, cores, device, Path(meeting))
                started = spawn(_process, given, workers, join=False)

            def have_ended() -> bool:
                try:
                    return bool(started.join(_LOOK, grace_period=0))
                except ProcessExitedException:
                    raise _WorkersFailed from None
                except ProcessRaisedException as error:
                    for problem in Path(meeting).glob("error-*"):
                        raise pickle.loads(problem.read_bytes()) from None
                    raise _WorkersFailed(error.msg) from None

            try:
                yield have_ended
            finally:
                for process in started.processes:
                    process.kill()
                    process.join()

    return _watch(start, workers, folder, **screen)


def _process(rank: int, work: Work, folder: Path, size: int, cores: int, device: str, meeting: Path) -> None:
    """What torch runs in every process. They find each other, and leave their errors, in the folder `meeting`."""
    serve_parent()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # schedulers send it to all processes; the parent decides
    use_cores(cores)
    device = own_device(device, rank)
    options: dict[str, Any] = {"init_method": (meeting / "ranks").as_uri(), "rank": rank, "world_size": size}
    try:
        with group_of_ranks(device, **options) as group:
            _work(work, group, device, folder)
    except TabletopError as error:
        (meeting / f"error-{rank}").write_bytes(pickle.dumps(error))
        raise


# --- A Ray cluster ----------------------------------------------------------------------------------------------------


def check_address(address: str) -> None:
    """Raise TabletopError if Ray is missing, and ConfigError for the address of a Ray client, which can't train."""
    needed("ray", "--ray", "ray")
    if address.startswith("ray://"):
        raise ConfigError(f"--ray {address}: start training on a machine of the cluster, with --ray auto or HOST:PORT")


def on_ray(work: Work, folder: Path, address: str, workers: int | None, device: str, **screen: Any) -> Progress:
    """Do the work in processes that Ray Train starts on a cluster.

    Arguments:
        folder: of the run; all machines must see it.
        address: as for `cluster.joined`, but not of a Ray client (`check_address`).
        workers: None for as many as the cluster has cores or, with `cuda`, GPUs. If the cluster has fewer, so many
            start, and the others when it has more.
        screen: as for `_watch`.
    """
    with joined(address) as ray:
        from ray import train
        from ray.train.torch import TorchConfig, TorchTrainer

        on_gpu = device.startswith("cuda")
        number, cores = _room(ray, workers, on_gpu)
        given = {"work": work, "device": device, "cores": cores, "here": os.getcwd(), "folder": folder}
        resources = {"CPU": cores, **({"GPU": 1} if on_gpu else {})}

        @contextmanager
        def start() -> Iterator[Callable[[], bool]]:
            trainer = TorchTrainer(
                _on_ray,
                train_loop_config=given,
                torch_config=TorchConfig(timeout_s=int(LONGEST_WAIT.total_seconds())),
                scaling_config=train.ScalingConfig(
                    num_workers=(1, number), use_gpu=on_gpu, resources_per_worker=resources
                ),
                run_config=train.RunConfig(
                    storage_path=str(Path(tempfile.gettempdir(), "ray", "train")),  # Ray Train keeps nothing there
                    logging_config=train.LoggingConfig("ERROR"),
                ),
            )
            failed: list[Exception] = []

            def fit() -> None:
                try:
                    trainer.fit()
                except Exception as error:
                    failed.append(error)

            fitting = threading.Thread(target=fit, daemon=True)  # in the main thread Ray Train would take Ctrl-C
            fitting.start()

            def have_ended() -> bool:
                fitting.join(_LOOK)
                if fitting.is_alive() or not failed:
                    return not fitting.is_alive()
                if not isinstance(failed[0], train.TrainingFailedError):
                    raise TabletopError(f"--ray {address}: {failed[0]}") from failed[0]
                problems = list(getattr(failed[0], "worker_failures", {}).values())
                for problem in problems:
                    if isinstance(problem, TabletopError):
                        raise problem from None
                # An error of Ray itself only tells that a worker died.
                faults = [problem for problem in problems if type(problem).__module__.partition(".")[0] != "ray"]
                raise _WorkersFailed("".join(traceback.format_exception(faults[0])) if faults else "")

            yield have_ended

        return _watch(start, number, folder, **screen)


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


def _on_ray(given: dict[str, Any]) -> None:
    """What Ray Train runs in every worker, in the process group that it has set up."""
    from ray.train.torch import get_device

    with suppress(OSError):
        os.chdir(given["here"])  # for relative paths in settings; Ray Train starts workers in a folder of its own
    use_cores(given["cores"])
    _work(given["work"], Ranks(), str(get_device()), given["folder"])
