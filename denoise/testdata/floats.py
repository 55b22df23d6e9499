"""What scikit-image makes of images: each line of standard input has the dtype, depth, or 0 for an image, height, width, channels, patch,
distance, strength and noise; after it come the pixels."""
import sys

import numpy as np
from skimage.restoration import denoise_nl_means

while line := sys.stdin.buffer.readline().split():
    dtype = np.dtype(line[0].decode())
    depth, height, width, channels, patch, distance = (int(n) for n in line[1:7])
    shape = ((depth,) if depth else ()) + (height, width, channels)
    image = np.frombuffer(sys.stdin.buffer.read(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)
    out = denoise_nl_means(image, patch, distance, float(line[7]), sigma=float(line[8]), channel_axis=-1, preserve_range=True)
    sys.stdout.buffer.write(np.ascontiguousarray(out.astype(dtype)).tobytes())
    sys.stdout.buffer.flush()
