"""Times one call of a peer for each line that it is asked, in nanoseconds: TestSpeed."""
import sys
import time

import cv2
import numpy as np
import scipy.ndimage

cv2.setNumThreads(1)
w, h = int(sys.argv[1]), int(sys.argv[2])
i = np.arange(w * h, dtype=np.int64)
a = (i * 7 + i // w * 13).astype(np.uint8).reshape(h, w)
a16, a32 = a.astype(np.uint16), a.astype(np.float32)
rgb = np.repeat(a[:, :, None], 3, 2).copy()
out, out16, out32 = np.empty_like(a), np.empty_like(a16), np.empty_like(a32)
outRGB, out2 = np.empty_like(rgb), np.empty_like(a32)


def stats(k):
    cv2.boxFilter(a, cv2.CV_32F, (k, k), dst=out32)
    cv2.sqrBoxFilter(a, cv2.CV_32F, (k, k), dst=out2)


do = {
    "u8": lambda k: cv2.blur(a, (k, k), dst=out),
    "f32": lambda k: cv2.blur(a32, (k, k), dst=out32),
    "u16": lambda k: scipy.ndimage.uniform_filter(a16, k, output=out16),
    "rgb": lambda k: cv2.blur(rgb, (k, k), dst=outRGB),
    "clip": lambda k: cv2.blur(a, (k, k), dst=out),
    "mean+std": stats,
    "gauss": lambda k: cv2.stackBlur(a, (3 * k + 3, 3 * k + 3), dst=out),
    "guided": (lambda k: cv2.ximgproc.guidedFilter(a, a, k // 2, 100, out)) if hasattr(cv2, "ximgproc") else None,
    "median": lambda k: cv2.medianBlur(a, k, dst=out),
    "half": lambda k: cv2.resize(a, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA),
}
for line in sys.stdin:
    name, k = line.split()[:2]
    f, k = do.get(name), int(k)
    if f is None:
        print(0, flush=True)
        continue
    start = time.perf_counter_ns()
    f(k)
    print(time.perf_counter_ns() - start, flush=True)
