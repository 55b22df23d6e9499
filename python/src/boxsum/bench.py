"""Benchmarks of the package beside OpenCV and scikit-image, in the same process.

    python -m boxsum.bench            # takes half a minute
    python -m boxsum.bench --batch    # many images per call, beside loops of OpenCV
    python -m boxsum.bench --cuda     # on a GPU, beside the Go library alone
    python -m boxsum.bench --tensors  # batches in PyTorch on a GPU, beside cumsum and avg_pool2d

All take turns on the same arrays, and the best of many runs is shown. Requires
opencv-contrib-python-headless and scikit-image, or CuPy and PyTorch.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import statistics
import sys
import time
import traceback
from typing import Any, Callable

import numpy as np

import boxsum

from . import _native
from ._native import call

__all__ = ["main"]


def __dir__() -> list[str]:
    return __all__


def best(turns: list[Callable[[], Any]], runs: int) -> list[float]:
    """Return the fastest of many runs of each function, in seconds; they take turns."""
    return [min(times) for times in timed(turns, runs)]


def timed(turns: list[Callable[[], Any]], runs: int) -> list[list[float]]:
    """Return the times of many runs of each function, in seconds; they take turns."""
    for turn in turns:
        for _ in range(3):
            turn()
    times: list[list[float]] = [[] for _ in turns]
    for _ in range(runs):
        for i, turn in enumerate(turns):
            start = time.perf_counter()
            turn()
            times[i].append(time.perf_counter() - start)
    return times


def tables(runs: int) -> None:
    """Compare tables with OpenCV's."""
    import cv2

    rng = np.random.default_rng(1)
    sizes = {"64x64": (64, 64), "640x480": (480, 640), "480p": (480, 854), "720p": (720, 1280), "1080p": (1080, 1920), "4096x4096": (4096, 4096)}
    cases = {
        "u8": ("u1", lambda a: cv2.integral(a), lambda a: boxsum.integral(a)),
        "f32 to f64": ("f4", lambda a: cv2.integral(a, sdepth=cv2.CV_64F), lambda a: boxsum.integral(a)),
        "u8 and squares": ("u1", lambda a: cv2.integral2(a), lambda a: boxsum.integral(a, squares=True)),
        "compat.integral2": ("u1", lambda a: cv2.integral2(a), lambda a: boxsum.compat.cv2.integral2(a)),
        "compat.integral3": ("u1", lambda a: cv2.integral3(a), lambda a: boxsum.compat.cv2.integral3(a)),
    }
    print(f"{'table':16} {'size':>10} {'boxsum ms':>10} {'OpenCV ms':>10} {'times as fast':>14} {'by the median':>14}")
    for name, (dtype, theirs, ours) in cases.items():
        for size, shape in sizes.items():
            image = rng.integers(0, 256, shape).astype(dtype)
            want, got = theirs(image), ours(image)
            for w, g in zip(want if isinstance(want, tuple) else (want,), got if isinstance(got, tuple) else (got,)):
                np.testing.assert_allclose(g, w, rtol=1e-9)
            del want, got, w, g
            all_mine, all_other = timed([lambda: ours(image), lambda: theirs(image)], runs * (1 if shape[0] > 2000 else 10 if shape[0] > 100 else 100))
            mine, other = min(all_mine), min(all_other)
            middle = statistics.median(all_other) / statistics.median(all_mine)
            print(f"{name:16} {size:>10} {1e3 * mine:10.4f} {1e3 * other:10.4f} {other / mine:14.2f} {middle:14.2f}", flush=True)


def overhead(runs: int) -> None:
    """Print how much longer a call from Python takes than the same call in Go."""
    image = np.random.default_rng(1).integers(0, 256, (480, 854), dtype=np.uint8)
    table = boxsum.integral(image)

    def go(into: np.ndarray) -> int:
        return call("time", image, into, None, 1)

    def timed(turn: Callable[[], Any]) -> int:
        start = time.perf_counter_ns()
        turn()
        return time.perf_counter_ns() - start

    best = [float("inf")] * 4
    for _ in range(20 * runs):
        fresh = boxsum.integral(image)  # in the memory of the last turn: its location matters more than the call
        turns = [lambda: go(table), lambda: timed(lambda: boxsum.integral(image, out=table)), lambda: go(fresh), lambda: timed(lambda: boxsum.integral(image))]
        for i, turn in enumerate(turns):
            if i == 3:
                del fresh
            for _ in range(5):  # consecutive, so that each finds its table in the cache
                best[i] = min(best[i], turn() / 1e3)
    print(f"480p: {best[0]:.1f} µs in Go; from Python with out= {best[1] - best[0]:.1f} µs more, with a new table {best[3] - best[2]:.1f} µs more")


def boxes(runs: int) -> None:
    """Compare box sums with scikit-image's."""
    from skimage.transform import integrate

    rng = np.random.default_rng(1)
    image = rng.integers(0, 256, (1080, 1920), dtype=np.uint8)
    corners = np.sort(rng.integers(0, (1920, 1080), (1_000_000, 2, 2)), axis=1)
    corners[:, 1] += 1
    queries = np.ascontiguousarray(corners.reshape(-1, 4))
    table = boxsum.integral(image)
    (mine,) = best([lambda: boxsum.box_sum(table, queries)], runs)
    inclusive = table[1:, 1:].astype(np.uint64)
    few = 50_000  # for scikit-image, whose time per box is constant
    start, end = queries[:few, 1::-1], queries[:few, :1:-1] - 1
    began = time.perf_counter()
    want = integrate(inclusive, start, end)
    theirs = (time.perf_counter() - began) * len(queries) / few
    np.testing.assert_array_equal(boxsum.box_sum(table, queries[:few]), want)
    np.testing.assert_array_equal(boxsum.compat.skimage.integrate(inclusive, start, end), want)
    print(f"a million boxes: {1e3 * mine:.1f} ms; scikit-image {1e3 * theirs:.0f} ms, {theirs / mine:.0f} times as long")


def resident() -> int:
    """Return the resident memory of this process in bytes, without what can be freed."""
    gc.collect()
    call("collect")
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def leaks() -> None:
    """Print how much memory the process gains in 10,000 calls."""
    rng = np.random.default_rng(1)
    image = rng.integers(0, 256, (240, 320), dtype=np.uint8)
    large = rng.integers(0, 256, (1500, 1100), dtype=np.uint8)
    queries = rng.integers(0, 240, (100, 4))

    def calls(n: int) -> None:
        for i in range(n):
            table, squares = boxsum.integral(image[:, i % 7 :], squares=True)
            boxsum.box_std(table, squares, queries)
            if i % 50 == 0:
                boxsum.rotated(image, "1/2").sum(queries)
                boxsum.moments(image).hu(queries)
                boxsum.integral(large[:, : 1000 + i % 100])
            try:
                boxsum.integral(image, out=table)
            except (TypeError, ValueError):
                pass

    calls(1000)
    before = resident()
    calls(10_000)
    print(f"10,000 calls: {(resident() - before) / 1e6:+.1f} MB of {before / 1e6:.0f} MB")


def cuda(runs: int) -> None:
    """Compare tables of CuPy and PyTorch arrays on a GPU with the Go library."""
    import cupy
    import torch

    runs = max(runs, 20)
    side = 8192
    pixels = np.random.default_rng(1).integers(0, 256, (side, side), dtype=np.uint8)
    want = boxsum.integral(pixels)
    images = {"CuPy": cupy.asarray(pixels), "PyTorch": torch.from_numpy(pixels).cuda()}
    small = {"CuPy": images["CuPy"][:64, :64], "PyTorch": images["PyTorch"][:64, :64]}
    for name, image in images.items():
        table = boxsum.integral(image)
        host = table.get() if name == "CuPy" else table.cpu().numpy()
        np.testing.assert_array_equal(host.view(np.uint32), want)
        del table
    number = call("device", b"cuda:0")
    for _ in range(3):
        go = call("time_device", side, side, number, 3 * runs) / 1e3
        alone_go = call("time_device", side, side, number, 0) / 1e3
        for name, image in images.items():
            event = cupy.cuda.Event if name == "CuPy" else lambda: torch.cuda.Event(enable_timing=True)
            elapsed = cupy.cuda.get_elapsed_time if name == "CuPy" else lambda a, b: a.elapsed_time(b)
            for _ in range(5):
                boxsum.integral(image)
            cupy.cuda.Device().synchronize()
            began = time.perf_counter()
            for _ in range(runs):
                boxsum.integral(small[name])
            queued = 1e6 * (time.perf_counter() - began) / runs
            alone = []
            for _ in range(runs):
                cupy.cuda.Device().synchronize()
                began = time.perf_counter()
                boxsum.integral(image)
                cupy.cuda.Device().synchronize()
                alone.append(1e6 * (time.perf_counter() - began))
            marks = [event()]
            marks[0].record()
            for _ in range(3 * runs):
                boxsum.integral(image)
                marks.append(event())
                marks[-1].record()
            cupy.cuda.Device().synchronize()
            # Once the device is behind the host, there are no gaps between tables.
            times = [1e3 * elapsed(a, b) for a, b in zip(marks, marks[1:])][runs:]
            took = statistics.median(times)
            print(
                f"u8 {side}x{side}: {name} {took:.1f} µs on the device, Go {go:.1f}: {took / go:.3f} times; "
                f"{statistics.median(alone):.1f} µs with the wait for one, Go {alone_go:.1f}; {queued:.1f} µs of the host to queue a small one",
                flush=True,
            )


def batch(runs: int) -> None:
    """Compare batches with loops of OpenCV."""
    import cv2

    x = np.random.default_rng(1).integers(0, 256, (64, 480, 640), dtype=np.uint8)
    out, one = boxsum.integral(x, axes=(-2, -1)), np.empty((481, 641), np.int32)

    def thrown_away() -> None:
        for p in x:
            cv2.integral(p)

    def into_one() -> None:
        for p in x:
            cv2.integral(p, one)

    rows: dict[str, Callable[[], Any]] = {
        "boxsum.integral(x, axes=(-2, -1))": lambda: boxsum.integral(x, axes=(-2, -1)),
        "the same, out=": lambda: boxsum.integral(x, axes=(-2, -1), out=out),
        "the same, one worker": lambda: boxsum.integral(x, axes=(-2, -1), out=out, workers=1),
        "[cv2.integral(p) for p in x]": lambda: [cv2.integral(p) for p in x],
        "np.stack of that": lambda: np.stack([cv2.integral(p) for p in x]),
        "for p in x: cv2.integral(p)": thrown_away,
        "for p in x: cv2.integral(p, one)": into_one,
        "out.fill(3)": lambda: out.fill(3),
    }
    took = best(list(rows.values()), runs)
    print(f"{x.shape} {x.dtype}, {out.nbytes / 1e6:.0f} MB of tables, best of {runs}, {os.cpu_count()} processors")
    for name, seconds in zip(rows, took):
        print(f"  {name:36s} {1e3 * seconds:7.2f} ms = {seconds / took[0]:5.2f} of the first")


def main() -> None:
    """Run the benchmarks that the command line selects."""
    parser = argparse.ArgumentParser(prog="python -m boxsum.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuda", action="store_true", help="measure tables on a GPU")
    parser.add_argument("--batch", action="store_true", help="measure batches of images")
    parser.add_argument("--tensors", action="store_true", help="measure batches of PyTorch tensors on a GPU")
    parser.add_argument("--runs", type=int, default=20, help="number of runs for the largest table; smaller tables get more (default 20)")
    options = parser.parse_args()
    _native.load()
    if options.batch:
        return batch(options.runs)
    if options.tensors:
        from . import _bench_tensors

        return _bench_tensors.main()
    if options.cuda:
        try:
            cuda(options.runs)
        except Exception:
            # After a failed kernel, everything that CuPy frees at exit fails too, with a page of text each.
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        return
    tables(options.runs)
    overhead(options.runs)
    boxes(options.runs)
    leaks()


if __name__ == "__main__":
    main()
