"""What Doxa makes of images: each line of standard input is an algorithm, the height and the
width of an image and the parameters that follow, and after it come the pixels. The answer is
the binary image. "performance" is about two images: F-measure, PSNR and DRD as text."""
import sys

import doxapy
import numpy as np

assert doxapy.Binarization.Algorithms.ISAUVOLA is not None

while line := sys.stdin.buffer.readline().split():
    what, height, width = line[0].decode(), int(line[1]), int(line[2])

    def image():
        data = sys.stdin.buffer.read(height * width)
        return np.frombuffer(data, np.uint8).reshape(height, width).copy()

    first = image()
    if what == "performance":
        p = doxapy.calculate_performance(first, image())
        print(*(repr(float(p[k])) for k in ("fm", "psnr", "drdm", "recall", "precision", "accuracy", "mcc", "nrm")), flush=True)
        continue
    parameters = {}
    for pair in line[3:]:
        name, value = pair.decode().split("=")
        parameters[name] = float(value) if name in "kpq" else int(value)
    out = np.empty_like(first)
    method = doxapy.Binarization(getattr(doxapy.Binarization.Algorithms, what.upper()))
    method.initialize(first)
    method.to_binary(out, parameters)
    sys.stdout.buffer.write(out.tobytes())
    sys.stdout.buffer.flush()
