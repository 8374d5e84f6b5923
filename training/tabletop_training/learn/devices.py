"""Torch's global options while something is learned: threads, precision, and the device."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from tabletop_agents.networks import Network
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.batch import usable_cores
from tabletop_training.files.settings import Settings

MAX_THREADS = 4


@contextmanager
def torch_settings(settings: Settings) -> Iterator[None]:
    """Set torch's global options as the settings say, and restore them afterwards."""
    threads = torch.get_num_threads()
    try:
        with matmul_precision("medium" if settings.bfloat16 else "highest"):
            yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def matmul_precision(wanted: str) -> Iterator[None]:
    """Set the precision of float32 matrix products, in torch's terms: "highest" is float32, "medium" bfloat16."""
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(wanted)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(precision)


def check_device(device: str) -> None:
    """Raise ConfigError for a device that torch does not have here."""
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"device={device!r}: torch has no such device here ({reason})") from None


def fastest_threads(network: Network, minibatch: int) -> int:
    """The number of torch's threads that updates the network fastest, at the present load of the machine.

    Torch's threads wait for each other by spinning. Two threads are nearly twice as fast as one on idle cores, but many
    times slower if another process needs the cores. Measuring takes a fraction of a second.
    """
    observations = torch.zeros(minibatch, network.inputs)

    def seconds(passes: int) -> float:
        start = time.monotonic()
        for _ in range(passes):
            features = network.trunk(observations)
            (network.policy(features).mean() + network.value(features).mean()).backward()
            network.zero_grad()
        return (time.monotonic() - start) / passes

    best, shortest = 1, float("inf")
    for threads in range(1, min(usable_cores(), MAX_THREADS) + 1):
        torch.set_num_threads(threads)
        if seconds(1) < 2 * shortest:  # the first pass also wakes the threads
            now = seconds(4)
            if now < 0.9 * shortest:
                best, shortest = threads, now
    return best


def random_state(device: str) -> dict[str, torch.Tensor]:
    """The state of torch's generators that work on this device uses."""
    state = {"cpu": torch.get_rng_state()}
    return state if device == "cpu" else state | {"device": torch.cuda.get_rng_state(device)}


def set_random_state(state: dict[str, torch.Tensor], device: str) -> None:
    """Restore the result of `random_state`."""
    torch.set_rng_state(state["cpu"])
    if device != "cpu" and "device" in state:
        torch.cuda.set_rng_state(state["device"], device)
