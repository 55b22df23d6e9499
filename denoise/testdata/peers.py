"""What OpenCV makes of images: each line of standard input has the dtype, frames, their height, width and channels, the frame to
denoise, strength, patch, search, and 1 for absolute values; after it come the pixels."""
import sys

import cv2
import numpy as np

cv2.setNumThreads(1)
while line := sys.stdin.buffer.readline().split():
    dtype = np.dtype(line[0].decode())
    count, height, width, channels, index = (int(n) for n in line[1:6])
    strength, patch, search, absolute = float(line[6]), int(line[7]), int(line[8]), int(line[9])
    size = height * width * channels
    frames = [np.frombuffer(sys.stdin.buffer.read(size * dtype.itemsize), dtype).reshape(height, width, channels) for _ in range(count)]
    norm = cv2.NORM_L1 if absolute else cv2.NORM_L2
    if count == 1:
        out = cv2.fastNlMeansDenoising(frames[0], [strength], None, patch, search, norm)
    else:
        out = cv2.fastNlMeansDenoisingMulti(frames, index, count, [strength], None, patch, search, norm)
    sys.stdout.buffer.write(out.tobytes())
    sys.stdout.buffer.flush()
