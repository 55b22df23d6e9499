"""What scikit-image makes of images: each line of standard input has the filter, dtype, height, width, height and width of the
footprint, shifts along x and y, and three numbers; after it come the pixels, the footprint and the mask."""
import sys
import warnings

import numpy as np
from skimage.filters import rank

warnings.simplefilter("ignore")
while line := sys.stdin.buffer.readline().split():
    name, dtype = line[0].decode(), np.dtype(line[1].decode())
    height, width, down, across, x, y = (int(n) for n in line[2:8])
    fraction, below, above = float(line[8]), int(line[9]), int(line[10])

    def read(shape, dtype):
        return np.frombuffer(bytearray(sys.stdin.buffer.read(int(np.prod(shape)) * dtype.itemsize)), dtype).reshape(shape)

    image, footprint, mask = read((height, width), dtype), read((down, across), np.dtype("u1")), read((height, width), np.dtype("u1"))
    settings = {"mask": mask != 0, "shift_x": x, "shift_y": y}
    if name == "percentile":
        settings["p0"] = fraction
    elif name == "mean_bilateral":
        settings["s0"], settings["s1"] = above, below
    elif name == "windowed_histogram":
        settings["n_bins"] = above
    out = getattr(rank, name)(image, footprint, **settings)
    sys.stdout.buffer.write(np.ascontiguousarray(out).tobytes())
    sys.stdout.buffer.flush()
