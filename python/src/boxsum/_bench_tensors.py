"""Benchmarks of batches in PyTorch on a CUDA device: ``python -m boxsum.bench --tensors``.

Times are measured by CUDA events, medians of 30 runs, with the host's work hidden behind work
of the device; a copy moves as many bytes as pixels and sums have. Host times are the best of
many rounds.
"""

from __future__ import annotations

import time
from typing import Any, Callable

import torch
import torch.nn.functional as F

import boxsum
import boxsum.torch as bt


def device(work: Callable[[], Any], runs: int = 30) -> float:
    """Return the time that the device takes, in µs."""
    for _ in range(3):
        work()
    times = []
    for _ in range(runs):
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        torch.cuda.synchronize()
        torch.cuda._sleep(400_000)  # about 200 µs, in which the host finishes
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1000)
    return sorted(times)[runs // 2]


def host(work: Callable[[], Any], rounds: int = 9, runs: int = 300) -> float:
    """Return the time that a call takes on the host, in µs."""
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(runs):
            work()
        times.append((time.perf_counter() - start) / runs * 1e6)
    return min(times)


def two_sums(x: torch.Tensor) -> torch.Tensor:
    return x.cumsum(-1).cumsum(-2)


def planes(shape: tuple[int, ...]) -> None:
    x = torch.randn(shape, device="cuda")
    room, brain = torch.empty_like(x), x.bfloat16()
    copy = device(lambda: room.copy_(x))
    wants = x.clone().requires_grad_()
    made = bt.integral(wants)
    contiguous = torch.randn(made.shape, device="cuda")
    compiled = torch.compile(two_sums)
    rows: list[tuple[str, Callable[[], Any], float]] = [
        ("integral", lambda: bt.integral(x), 1),
        ("two cumsums", lambda: two_sums(x), 1),
        ("two cumsums, compiled", lambda: compiled(x), 1),
        ("its gradient", lambda: torch.autograd.grad(made, wants, contiguous, retain_graph=True), 1),
        ("bfloat16 to float32", lambda: bt.integral(brain), 0.75),
        ("float16 to float32", lambda: bt.integral(brain.view(torch.float16)), 0.75),
    ]
    print(f"\nfloat32 {shape}: a copy takes {copy:.1f} µs")
    for name, work, part in rows:
        took = device(work)
        print(f"  {name:28s} {took:8.1f} µs = {took / (copy * part):6.2f} copies of its bytes")
    for size in (3, 31, 101):
        took = device(lambda: bt.box_filter(x, size, border="constant"))  # noqa: B023
        clip = device(lambda: bt.box_filter(x, size))  # noqa: B023

        def by_table() -> torch.Tensor:
            t = bt.integral(x)
            return (t[..., size:, size:] - t[..., :-size, size:] - t[..., size:, :-size] + t[..., :-size, :-size]) / size**2  # noqa: B023

        def twice() -> torch.Tensor:
            return bt.box_filter(bt.box_filter(x, (size, 1), border="constant"), (1, size), border="constant")  # noqa: B023

        pool = device(lambda: F.avg_pool2d(x, size, 1, size // 2), 5)  # noqa: B023
        text = f"  box_filter {size:3d}×{size:<13d} {took:8.1f} µs = {took / copy:6.2f} copies; clipped {clip:.1f}, avg_pool2d {pool:.1f} = {pool / took:.1f} times"
        print(text + f", from a table {device(by_table) / took:.2f}, by two filters {device(twice) / took:.2f}")


def calls() -> None:
    x, image = torch.randn(2, 3, 64, 64, device="cuda"), torch.randn(256, 256, device="cuda")
    wants = x.clone().requires_grad_()
    table, made = torch.empty(257, 257, device="cuda"), bt.integral(wants)
    grad = torch.ones_like(made)
    rows: list[tuple[str, Callable[[], Any]]] = [
        ("x.cumsum(-1), one launch of PyTorch", lambda: x.cumsum(-1)),
        ("boxsum.integral(image, out=table)", lambda: boxsum.integral(image, out=table)),
        ("boxsum.torch.integral(x)", lambda: bt.integral(x)),
        ("torch.ops.boxsum.integral(x)", lambda: torch.ops.boxsum.integral(x)),
        ("torch.ops.boxsum.suffix(x)", lambda: torch.ops.boxsum.suffix(x)),
        ("box_filter(x, 5)", lambda: bt.box_filter(x, 5)),
        ("integral(x), x with a gradient", lambda: bt.integral(wants)),
        ("its gradient, by autograd.grad", lambda: torch.autograd.grad(made, wants, grad, retain_graph=True)),
        ("that of x.cumsum(-1)", lambda w=wants.cumsum(-1), g=torch.ones_like(wants): torch.autograd.grad(w, wants, g, retain_graph=True)),  # type: ignore[misc]
    ]
    print("\nthe host's time for a call, µs")
    for name, work in rows:
        print(f"  {name:40s} {host(work):6.1f}")


def main() -> None:
    print(f"{torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}")
    for shape in ((32, 3, 512, 512), (8, 64, 256, 256)):
        planes(shape)
    for shape in ((4, 3, 1024, 1024), (256, 1, 100, 100), (2, 1, 4096, 4096)):
        x = torch.randn(shape, device="cuda")
        room = torch.empty_like(x)
        copy, ours, brain = device(lambda: room.copy_(x)), device(lambda: bt.integral(x)), device(lambda: bt.integral(x.bfloat16()))  # noqa: B023
        print(f"\nfloat32 {shape}: copy {copy:.1f} µs, integral {ours:.1f} = {ours / copy:.2f} copies, converted to bfloat16 and summed {brain:.1f}")
    calls()
