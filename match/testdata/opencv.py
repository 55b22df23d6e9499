"""cv2.matchTemplate, for TestPeers: a line of words, then the pixels of image and
template; the answer is the scores as float32."""
import sys

import cv2
import numpy as np

METHODS = {"zncc": cv2.TM_CCOEFF_NORMED, "ncc": cv2.TM_CCORR_NORMED, "ssd": cv2.TM_SQDIFF}
cv2.setNumThreads(1)
while True:
    words = sys.stdin.buffer.readline().split()
    if not words:
        break
    h, w, th, tw, c = (int(v) for v in words[1:])

    def read(h, w):
        return np.frombuffer(sys.stdin.buffer.read(h * w * c), np.uint8).reshape(h, w, c)

    a, t = read(h, w), read(th, tw)
    out = cv2.matchTemplate(a, t, METHODS[words[0].decode()])
    sys.stdout.buffer.write(np.ascontiguousarray(out).tobytes())
    sys.stdout.buffer.flush()
