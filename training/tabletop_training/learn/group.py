"""Processes that learn one network together: each plays its own games, and their gradients are averaged.

PyTorch calls such a process a rank. `tabletop_training.learn.parallel` and `torchrun` start them.
"""

from __future__ import annotations

import datetime
import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.play.batch import usable_cores, use_cores

T = TypeVar("T")

LONGEST_WAIT = datetime.timedelta(hours=2)
"""How long a rank waits for another one, which may be evaluating or saving."""
_NEW_STORE = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE"
"""With this variable each start of torchrun's processes has a store of its own, where they find each other."""


class Group:
    """The ranks that learn together; this one has the number `rank` of `size`. This class is a group of one."""

    rank, size = 0, 1

    @property
    def leads(self) -> bool:
        """Whether this rank evaluates, and writes logs and checkpoints."""
        return self.rank == 0

    def shared(self, value: T) -> list[T]:
        """The values of all ranks, in their order. Every rank must ask at the same point."""
        return [value]

    def collected(self, value: T) -> list[T]:
        """The values of all ranks for the rank that leads; nothing for the others."""
        return [value]

    def led(self, work: Callable[[], T]) -> T:
        """The result of `work`, which only the leading rank does. If it raises a TabletopError, all ranks raise it."""
        return work()

    def averaging(self, network: nn.Module) -> nn.Module:
        """A network that shares its weights with this one. Gradients through it are the means over all ranks."""
        return network


ALONE = Group()


class Ranks(Group):
    """The process group that torch has set up."""

    def __init__(self) -> None:
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()
        self._objects = distributed.new_group(backend="gloo", timeout=LONGEST_WAIT)
        self._averaging: tuple[nn.Module, nn.Module] | None = None

    def shared(self, value: T) -> list[T]:
        values: list[Any] = [None] * self.size
        distributed.all_gather_object(values, value, group=self._objects)
        return values

    def collected(self, value: T) -> list[T]:
        values: list[Any] = [None] * self.size if self.leads else []
        distributed.gather_object(value, values if self.leads else None, dst=0, group=self._objects)
        return values

    def led(self, work: Callable[[], T]) -> T:
        result: Any = None
        if self.leads:
            try:
                result = work()
            except TabletopError as error:
                result = error
        results = [result]
        distributed.broadcast_object_list(results, src=0, group=self._objects)
        if isinstance(results[0], TabletopError):
            raise results[0]
        return cast(T, results[0])

    def averaging(self, network: nn.Module) -> nn.Module:
        if self._averaging is None or self._averaging[0] is not network:
            self._averaging = network, DistributedDataParallel(network)
        return self._averaging[1]

    def leave(self) -> None:
        """Leave the process group.

        What holds it must be gone before Python ends: Gloo's threads that still run then abort the process.
        """
        self._averaging = None
        del self._objects
        distributed.destroy_process_group()
        gc.collect()  # the averaging network is in circles


def own_device(device: str, local_rank: int) -> str:
    """The device of the rank with this number on its machine: with `cuda`, one of the machine's GPUs."""
    gpus = torch.cuda.device_count() if device == "cuda" else 0
    return f"cuda:{local_rank % gpus}" if gpus else device


@contextmanager
def group_of_ranks(device: str, **options: Any) -> Iterator[Group]:
    """Join the other ranks, with NCCL for GPUs and Gloo otherwise. `options` are those of `init_process_group`.

    Raises ConfigError if they do not find each other.
    """
    if on_gpu := device.startswith("cuda"):
        torch.cuda.set_device(device)
    try:
        distributed.init_process_group("nccl" if on_gpu else "gloo", timeout=LONGEST_WAIT, **options)
    except (RuntimeError, ValueError) as error:
        raise ConfigError(f"the processes did not find each other ({error})") from None
    ranks = Ranks()
    try:
        yield ranks
    finally:
        ranks.leave()


@contextmanager
def started_by_torchrun(device: str) -> Iterator[tuple[Group, str]]:
    """The group of the processes that `torchrun` has started, and this one's device; a group of one without it."""
    if not distributed.is_torchelastic_launched():
        yield ALONE, device
        return
    if os.environ["TORCHELASTIC_MAX_RESTARTS"] != "0" and os.environ["TORCHELASTIC_USE_AGENT_STORE"] == "True":
        # Otherwise restarted processes would find the addresses of the earlier ones.
        raise ConfigError(f"torchrun --max-restarts: only with {_NEW_STORE}=1 in the environment")
    use_cores(max(1, usable_cores() // int(os.environ["LOCAL_WORLD_SIZE"])))
    device = own_device(device, int(os.environ["LOCAL_RANK"]))
    with group_of_ranks(device) as group:
        yield group, device
