"""Counts boxes with NumPy and OpenCV on command.

A command is a line, "dtype rows columns bins low high x0 y0 x1 y1", and the bytes
of an image. The reply is the counts of NumPy and those of OpenCV, whose last bin
does not hold the high end, as 64-bit integers, and OpenCV's Bhattacharyya
distance of the box from the whole image as a double.
"""

import sys

import cv2
import numpy as np

for line in sys.stdin.buffer:
    dtype, rows, columns, bins, low, high, x0, y0, x1, y1 = line.decode().split()
    rows, columns, bins, x0, y0, x1, y1 = map(int, (rows, columns, bins, x0, y0, x1, y1))
    low, high = float(low), float(high)
    dtype = np.dtype(dtype)
    image = np.frombuffer(sys.stdin.buffer.read(rows * columns * dtype.itemsize), dtype).reshape(rows, columns)
    box = image[y0:y1, x0:x1].copy()
    ours = np.histogram(box, bins, (low, high))[0]
    count = lambda pixels: cv2.calcHist([pixels], [0], None, [bins], [low, high])
    theirs = count(box)
    distance = cv2.compareHist(theirs, count(image.copy()), cv2.HISTCMP_BHATTACHARYYA)
    sys.stdout.buffer.write(ours.astype(np.int64).tobytes())
    sys.stdout.buffer.write(theirs.ravel().astype(np.int64).tobytes())
    sys.stdout.buffer.write(np.float64(distance).tobytes())
    sys.stdout.buffer.flush()
