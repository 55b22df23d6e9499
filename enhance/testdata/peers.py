"""What OpenCV makes of images: each line of standard input has the dtype, height, width, tiles across and down, and the
clip limit, and after it come the pixels."""
import sys

import cv2
import numpy as np

while line := sys.stdin.buffer.readline().split():
    dtype = np.dtype(line[0].decode())
    height, width, across, down = (int(n) for n in line[1:5])
    image = np.frombuffer(sys.stdin.buffer.read(height * width * dtype.itemsize), dtype).reshape(height, width)
    out = cv2.createCLAHE(float(line[5]), (across, down)).apply(image)
    sys.stdout.buffer.write(out.tobytes())
    sys.stdout.buffer.flush()
