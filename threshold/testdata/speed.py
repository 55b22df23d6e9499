"""Times one call of a peer for each line that it is asked, in nanoseconds: TestSpeed. The
image is a file of bytes."""
import sys
import time

import numpy as np

try:
    import doxapy
except ImportError:
    import cv2
    import skimage.filters

    cv2.setNumThreads(1)
    doxapy = None

w, h = int(sys.argv[1]), int(sys.argv[2])
a = np.fromfile(sys.argv[3], np.uint8).reshape(h, w)
out = np.empty_like(a)


def doxa(name, window):
    method = doxapy.Binarization(getattr(doxapy.Binarization.Algorithms, name.upper()))
    method.initialize(a)
    parameters = {"window": window} if window else {}
    start = time.perf_counter_ns()
    method.to_binary(out, parameters)
    return time.perf_counter_ns() - start


def timed(f):
    start = time.perf_counter_ns()
    f()
    return time.perf_counter_ns() - start


for line in sys.stdin:
    name, window = line.split()[0], int(line.split()[1])
    if name == "meanc":
        print(timed(lambda: cv2.adaptiveThreshold(a, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, window, 10, dst=out)), flush=True)
    elif name == "map":
        print(timed(lambda: skimage.filters.threshold_sauvola(a, window)), flush=True)
    else:
        print(doxa(name, window), flush=True)
