"""Counts values with NumPy on command.

A command is a line, "dtype count bins low high", and the bytes of the values. The
reply is the counts, as 64-bit integers, and the edges, as doubles.
"""

import sys

import numpy as np

for line in sys.stdin.buffer:
    dtype, count, bins, low, high = line.decode().split()
    dtype = np.dtype(dtype)
    values = np.frombuffer(sys.stdin.buffer.read(int(count) * dtype.itemsize), dtype)
    counts, edges = np.histogram(values, int(bins), (float(low), float(high)))
    sys.stdout.buffer.write(counts.astype(np.int64).tobytes())
    sys.stdout.buffer.write(edges.astype(np.float64).tobytes())
    sys.stdout.buffer.flush()
