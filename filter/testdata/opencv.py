"""The same filters in OpenCV, SciPy and scikit-image, for TestPeers: a line of words, then
the pixels; the answer is the result as bytes."""
import sys

import cv2
import numpy as np
import scipy.ndimage

CV = {"reflect101": cv2.BORDER_REFLECT_101, "reflect": cv2.BORDER_REFLECT, "replicate": cv2.BORDER_REPLICATE, "constant": cv2.BORDER_CONSTANT}
ND = {"reflect101": "mirror", "reflect": "reflect", "replicate": "nearest", "constant": "constant", "wrap": "wrap"}
cv2.setNumThreads(1)
while True:
    words = sys.stdin.buffer.readline().split()
    if not words:
        break
    what, dtype, border = (w.decode() for w in words[:3])
    h, w, c, kx, ky = (int(v) for v in words[3:8])
    dtype = np.dtype(dtype)
    a = np.frombuffer(sys.stdin.buffer.read(h * w * c * dtype.itemsize), dtype).reshape(h, w, c)
    if c == 1:
        a = a[:, :, 0]
    if what == "blur":
        out = cv2.blur(a, (kx, ky), borderType=CV[border])
    elif what == "sum":
        out = cv2.boxFilter(a, cv2.CV_64F, (kx, ky), normalize=False, borderType=CV[border])
    elif what == "std":
        m = cv2.boxFilter(a, cv2.CV_64F, (kx, ky), borderType=CV[border])
        q = cv2.sqrBoxFilter(a, cv2.CV_64F, (kx, ky), borderType=CV[border])
        out = np.sqrt(np.maximum(q - m * m, 0))
    elif what == "uniform":
        out = scipy.ndimage.uniform_filter(a.astype(np.float64), (ky, kx), mode=ND[border])
    elif what == "median":
        out = scipy.ndimage.median_filter(a, (ky, kx), mode=ND[border])
    elif what == "area":
        out = cv2.resize(a.astype(np.float64), (w // kx, h // ky), interpolation=cv2.INTER_AREA)
    elif what == "gaussian":
        out = scipy.ndimage.gaussian_filter(a.astype(np.float64), (ky, kx), mode=ND[border], truncate=6)
    elif what == "gaussian4":  # of thousandths
        out = scipy.ndimage.gaussian_filter(a.astype(np.float64), (ky / 1000, kx / 1000), mode=ND[border], truncate=4)
    sys.stdout.buffer.write(np.ascontiguousarray(out).tobytes())
    sys.stdout.buffer.flush()
