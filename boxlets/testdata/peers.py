"""What scikit-image makes of images: each line of standard input has the filter, the height and width, and three numbers that it needs; after
it come the pixels as float64."""
import sys

import numpy as np
from skimage.feature import censure, hessian_matrix_det

while line := sys.stdin.buffer.readline().split():
    name, height, width = line[0].decode(), int(line[1]), int(line[2])
    image = np.frombuffer(sys.stdin.buffer.read(8 * height * width)).reshape(height, width)
    if name == "hessian":
        out = hessian_matrix_det(image, float(line[3]), approximate=True)
    else:
        scale = int(line[3])
        out = censure._filter_image(image, scale, scale, name)[:, :, 0]
    sys.stdout.buffer.write(np.ascontiguousarray(out).tobytes())
    sys.stdout.buffer.flush()
