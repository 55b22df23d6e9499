"""Makes OpenCV's tilted tables on command.

A command is a line, "pixels sums height width channels", and the bytes of an
image. The reply is the bytes of cv2.integral3's third table, in the type sums.
"""

import sys

import cv2
import numpy as np

DEPTHS = {"int32": cv2.CV_32S, "float32": cv2.CV_32F, "float64": cv2.CV_64F}

for line in sys.stdin.buffer:
    pixels, sums, *shape = line.decode().split()
    height, width, channels = map(int, shape)
    dtype = np.dtype(pixels)
    image = np.frombuffer(sys.stdin.buffer.read(height * width * channels * dtype.itemsize), dtype)
    table = cv2.integral3(image.reshape(height, width, channels), sdepth=DEPTHS[sums])[2]
    sys.stdout.buffer.write(np.ascontiguousarray(table).tobytes())
    sys.stdout.buffer.flush()
