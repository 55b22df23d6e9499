"""Times calls of the Python package and prints them as Go's benchmarks are printed.

    PYTHONPATH=FOLDER python3 calls.py

FOLDER has the package, as pip install --target leaves it.
"""
import os
import time

import numpy as np

import boxsum

SIZES = {"8x8": (8, 8), "64x64": (64, 64), "1080p": (1080, 1920)}
SECONDS = float(os.environ.get("BENCH_SECONDS", "0.05"))


def report(name, call):
    call()
    runs = 1
    while True:
        start = time.perf_counter()
        for _ in range(runs):
            call()
        seconds = time.perf_counter() - start
        if seconds >= SECONDS:
            break
        runs = max(runs + 1, int(runs * min(10, 1.2 * SECONDS / max(seconds, 1e-9))))
    print(f"BenchmarkPython/{name} {runs} {1e9 * seconds / runs:.1f} ns/op", flush=True)


rng = np.random.default_rng(1)
for size, shape in SIZES.items():
    image = rng.integers(0, 256, shape, np.uint8)
    table = boxsum.integral(image)
    boxes = np.tile([[0, 0, shape[1], shape[0]]], (1000, 1))
    report(f"integral/{size}", lambda: boxsum.integral(image))
    report(f"integral-out/{size}", lambda: boxsum.integral(image, out=table))
    report(f"integral-squares/{size}", lambda: boxsum.integral(image, squares=True))
    report(f"box_sum/{size}", lambda: boxsum.box_sum(table, boxes))
    report(f"blur/{size}", lambda: boxsum.blur(image, 3))
    report(f"binarize/{size}", lambda: boxsum.binarize(image, "sauvola", window=25))
