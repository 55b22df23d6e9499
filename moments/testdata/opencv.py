"""Gives OpenCV's moments of boxes on command.

A command is a line, "dtype rows columns x0 y0 x1 y1", and the bytes of an image.
The reply is 31 doubles: the raw, central and normalized moments in OpenCV's
order, and the seven invariants, of the cropped box.
"""

import sys

import cv2
import numpy as np

NAMES = (
    "m00 m10 m01 m20 m11 m02 m30 m21 m12 m03 "
    "mu20 mu11 mu02 mu30 mu21 mu12 mu03 nu20 nu11 nu02 nu30 nu21 nu12 nu03"
).split()

for line in sys.stdin.buffer:
    dtype, *numbers = line.decode().split()
    rows, columns, x0, y0, x1, y1 = map(int, numbers)
    dtype = np.dtype(dtype)
    image = np.frombuffer(sys.stdin.buffer.read(rows * columns * dtype.itemsize), dtype).reshape(rows, columns)
    moments = cv2.moments(image[y0:y1, x0:x1].copy())
    values = [moments[name] for name in NAMES] + cv2.HuMoments(moments).ravel().tolist()
    sys.stdout.buffer.write(np.array(values, np.float64).tobytes())
    sys.stdout.buffer.flush()
