"""Object detection with OpenCV's cascades, and by histograms of oriented gradients.

    >>> import boxsum, numpy as np
    >>> face = boxsum.detect.Cascade("frontalface_alt2")
    >>> face.detect(np.zeros((480, 640), np.uint8)).boxes   # of a black picture
    array([], shape=(0, 4), dtype=int64)
    >>> hog = boxsum.detect.HOG(np.zeros(3780))
    >>> hog.detect(np.zeros((480, 640), np.uint8), threshold=1).boxes
    array([], shape=(0, 4), dtype=int64)
"""

from ._detect import Cascade, Detections
from ._hog import HOG

__all__ = ["HOG", "Cascade", "Detections"]


def __dir__() -> list[str]:
    return __all__
