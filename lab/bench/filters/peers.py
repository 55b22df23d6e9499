"""Does what each line of its input says, and prints how long that took in nanoseconds: the mean of several calls.

Lines are Python expressions; the names below are what they may use. One thread each.
"""
import os
import sys
import time

import numpy as np

w, h, calls, folder, clock = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], getattr(time, sys.argv[5])


def optional(name):
    try:
        return __import__(name, fromlist=["_"])
    except ImportError:
        return None


def read(name):
    return np.fromfile(os.path.join(folder, name), np.uint8).reshape(h, w)


cv2, doxapy, pyvips = optional("cv2"), optional("doxapy"), optional("pyvips")
ndimage, skimage = optional("scipy.ndimage"), optional("skimage")
filters, feature, rank = optional("skimage.filters"), optional("skimage.feature"), optional("skimage.filters.rank")
metrics, restoration = optional("skimage.metrics"), optional("skimage.restoration")
PIL, ImageFilter = optional("PIL.Image"), optional("PIL.ImageFilter")
if cv2:
    cv2.setNumThreads(1)

a, page = read("photo"), read("page")
a16, a32 = a.astype(np.uint16) * 257, a + (np.arange(w * h, dtype=np.uint32) * np.uint32(2654435761)).reshape(h, w).astype(np.float32) / np.float32(2**32)
a64 = a32.astype(np.float64)
b = np.ascontiguousarray(a[::-1])
rgb = np.repeat(a[:, :, None], 3, 2)
out, out16, out32, other32 = np.empty_like(a), np.empty_like(a16), np.empty_like(a32), np.empty_like(a32)
out64, out_rgb = np.empty_like(a64), np.empty_like(rgb)
template32, template128 = a[40:72, 40:72].copy(), a[40:168, 40:168].copy()
pil = PIL.fromarray(a) if PIL else None
vips = pyvips.Image.new_from_memory(a.tobytes(), w, h, 1, "uchar") if pyvips else None


def stats(k):
    cv2.boxFilter(a, cv2.CV_32F, (k, k), dst=out32)
    cv2.sqrBoxFilter(a, cv2.CV_32F, (k, k), dst=other32)


def square(k):
    return np.ones((k, k), np.uint8)


def lncc(x, y, k):
    """The mean of the squared correlations in windows, as VoxelMorph computes it."""
    x, y = x.astype(np.float32), y.astype(np.float32)
    sx, sy, sxx, syy, sxy = (ndimage.uniform_filter(v, k, mode="constant") * (k * k) for v in (x, y, x * x, y * y, x * y))
    c, vx, vy = (np.maximum(v, 1e-5) for v in (sxy - sx * sy / (k * k), sxx - sx * sx / (k * k), syy - sy * sy / (k * k)))
    return np.mean(c / vx * (c / vy))


methods = {}  # of Doxa, with the page in them


def doxa(method, **parameters):
    """Binarizes the page: doxa("SAUVOLA", window=25, k=0.2)."""
    if method not in methods:
        methods[method] = doxapy.Binarization(getattr(doxapy.Binarization.Algorithms, method))
        methods[method].initialize(page)
    methods[method].to_binary(out, parameters)


code = {}
for line in sys.stdin:
    try:
        if line not in code:
            code[line] = compile(f"for _ in range(calls): {line.strip()}", "peer", "exec")
            exec(code[line])  # to warm up
        start = clock()
        exec(code[line])
        print((clock() - start) // calls, flush=True)
    except Exception as e:
        print("missing:", type(e).__name__, str(e).replace("\n", " ")[:60], flush=True)
