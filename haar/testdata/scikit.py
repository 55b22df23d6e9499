"""Evaluates scikit-image's Haar-like features on command.

A command is a line, "do dtype rows columns r c width height", and the bytes of
an inclusive table. The reply to "values" is the number of features, their
values as doubles and the corners of their boxes as 32-bit integers; to "time",
the nanoseconds that all features took, and those that they took with their
coordinates at hand.
"""

import sys
import time

import numpy as np
from skimage.feature import haar_like_feature, haar_like_feature_coord

for line in sys.stdin.buffer:
    do, dtype, *numbers = line.decode().split()
    rows, columns, r, c, width, height = map(int, numbers)
    dtype = np.dtype(dtype)
    table = np.frombuffer(sys.stdin.buffer.read(rows * columns * dtype.itemsize), dtype).reshape(rows, columns)
    out = sys.stdout.buffer
    if do == "values":
        values = haar_like_feature(table, r, c, width, height)
        boxes, kinds = haar_like_feature_coord(width, height)
        corners = [np.array(b, np.int32).ravel() for b in boxes]
        out.write(b"%d\n" % len(values))
        out.write(values.astype(np.float64).tobytes())
        out.write(np.concatenate(corners).tobytes() if corners else b"")
    else:
        start = time.perf_counter_ns()
        haar_like_feature(table, r, c, width, height)
        middle = time.perf_counter_ns()
        boxes, kinds = haar_like_feature_coord(width, height)
        again = time.perf_counter_ns()
        haar_like_feature(table, r, c, width, height, kinds, boxes)
        out.write(b"%d %d\n" % (middle - start, time.perf_counter_ns() - again))
    out.flush()
