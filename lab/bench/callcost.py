"""What a call costs on the host: boxsum.integral(image, out=table) on a CUDA device.

    python lab/bench/callcost.py [--runs 1000]

Prints, for PyTorch and CuPy, at 256x256, 1024x1024 and 1080p, on the default stream and on one of
their own: microseconds of the host per call (1000 calls without waiting), the same by CUDA events,
of a replayed CUDA graph with 20 calls in it, and where the time of the host goes.
"""
import argparse
import cProfile
import io
import pstats
import statistics
import sys
import time

import numpy as np

import boxsum
from boxsum import _cuda, _foreign, _native

SIZES = {"256x256": (256, 256), "1024x1024": (1024, 1024), "1080p": (1080, 1920)}


def micro(f, runs):
    for _ in range(50):
        f()
    best = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(runs):
            f()
        best.append(1e6 * (time.perf_counter() - start) / runs)
    return min(best), statistics.median(best)


class Torch:
    name = "PyTorch"

    def __init__(self):
        import torch

        self.t = torch
        print("PyTorch", torch.__version__, torch.cuda.get_device_name())

    def pair(self, shape):
        t = self.t
        image = t.randint(0, 255, shape, dtype=t.uint8, device="cuda")
        return image, t.empty((shape[0] + 1, shape[1] + 1), dtype=t.int32, device="cuda")

    def wait(self):
        self.t.cuda.synchronize()

    def side(self):
        return self.t.cuda.stream(self.t.cuda.Stream())

    def event(self):
        e = self.t.cuda.Event(enable_timing=True)
        e.record()
        return e

    def elapsed(self, a, b):
        return 1e3 * a.elapsed_time(b)

    def graph(self, f, count):
        g = self.t.cuda.CUDAGraph()
        with self.t.cuda.graph(g):
            for _ in range(count):
                f()
        return g.replay

    def stages(self, image, out):
        kind = _foreign.find(image)
        return {
            "find": lambda: _foreign.find(image),
            "parts of the image": lambda: kind.parts(image),
            "parts of the table": lambda: kind.parts(out),
            "index": lambda: kind.index(image),
            "stream": lambda: kind.stream(image),
            "number": lambda: kind.number(0),
            "again": lambda: _foreign.again(image, out),
            "key of the plan": lambda: kind.key(image, out),
        }


class Cupy(Torch):
    name = "CuPy"

    def __init__(self):
        import cupy

        self.t = cupy
        print("CuPy", cupy.__version__)

    def pair(self, shape):
        c = self.t
        image = c.random.randint(0, 255, shape, dtype=c.uint8)
        return image, c.empty((shape[0] + 1, shape[1] + 1), c.uint32)

    def wait(self):
        self.t.cuda.Device().synchronize()

    def side(self):
        return self.t.cuda.Stream(non_blocking=True)

    def event(self):
        e = self.t.cuda.Event()
        e.record()
        return e

    def elapsed(self, a, b):
        return 1e3 * self.t.cuda.get_elapsed_time(a, b)

    def graph(self, f, count):
        stream = self.t.cuda.Stream(non_blocking=True)
        with stream:
            f()
            stream.synchronize()
            stream.begin_capture()
            for _ in range(count):
                f()
            g = stream.end_capture()
        self._stream = stream
        return lambda: g.launch(stream)


def events(lib, f, runs):
    """The time between the events before and after each of many calls, and around all of them."""
    lib.wait()
    one = []
    for _ in range(min(runs, 200)):
        lib.wait()
        a = lib.event()
        f()
        b = lib.event()
        lib.wait()
        one.append(lib.elapsed(a, b))
    a = lib.event()
    for _ in range(runs):
        f()
    b = lib.event()
    lib.wait()
    return statistics.median(one), lib.elapsed(a, b) / runs


def measure(lib, runs):
    for size, shape in SIZES.items():
        image, out = lib.pair(shape)
        call = lambda: boxsum.integral(image, out=out)
        for where in ("default stream", "own stream"):
            context = lib.side() if where == "own stream" else None
            if context:
                context.__enter__()
            call()
            lib.wait()
            best, middle = micro(call, runs)
            lib.wait()
            each, row = events(lib, call, runs)
            print(f"{lib.name} {size:>9} {where:14}: host {best:6.1f} us best, {middle:6.1f} median; events: one call {each:6.1f}, in a row {row:6.1f}", flush=True)
            if context:
                context.__exit__(None, None, None)
        try:
            call()
            lib.wait()
            replay = lib.graph(call, 20)
            lib.wait()
            for _ in range(5):
                replay()
            lib.wait()
            start = time.perf_counter()
            for _ in range(100):
                replay()
            lib.wait()
            print(f"{lib.name} {size:>9} CUDA graph    : {1e6 * (time.perf_counter() - start) / 2000:6.2f} us for each of 20 calls of a graph", flush=True)
        except Exception as error:
            print(f"{lib.name} {size:>9} CUDA graph    : {type(error).__name__}: {error}", flush=True)


def profile(lib, runs):
    image, out = lib.pair((1024, 1024))
    print(f"{lib.name}: stages at 1024x1024, us")
    for name, f in lib.stages(image, out).items():
        try:
            print(f"  {name:24} {micro(f, runs)[0]:7.2f}")
        except Exception as error:
            print(f"  {name:24} {error}")
    kind = _foreign.find(image)
    try:
        flat = _native.flat_array(*kind.parts(image)) + _native.flat_array(*kind.parts(out))
        number, stream = kind.number(0), kind.stream(image)
        print(f"  {'the library, all of it':24} {micro(lambda: _native.call('on_device', flat, 0, number, stream), runs)[0]:7.2f}")
    except Exception as error:
        print("  the library:", error)
    lib.wait()
    try:
        print(f"  {'an empty call':24} {micro(lambda: _native.call('room', 1), runs)[0]:7.2f}")
        plan = kind._plans[kind.key(image, out)]
        one, two = kind.parts(image)[0], kind.parts(out)[0]
        print(f"  {'by its plan alone':24} {micro(lambda: _foreign.queue(plan, one, two, stream), runs)[0]:7.2f}")
    except Exception as error:
        print("  by its plan:", error)
    lib.wait()
    p = cProfile.Profile()
    p.enable()
    for _ in range(runs):
        boxsum.integral(image, out=out)
    p.disable()
    lib.wait()
    text = io.StringIO()
    pstats.Stats(p, stream=text).sort_stats("tottime").print_stats(14)
    print("\n".join(line for line in text.getvalue().splitlines() if line.strip()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    for make in (Torch, Cupy):
        if options.only and options.only.lower() != make.name.lower():
            continue
        try:
            lib = make()
        except ImportError as error:
            print(error)
            continue
        measure(lib, options.runs)
        profile(lib, options.runs)


main()
