"""Object detection with OpenCV's cascades.

    >>> import boxsum, numpy as np
    >>> face = boxsum.detect.Cascade("frontalface_alt2")
    >>> face.detect(np.zeros((480, 640), np.uint8)).boxes   # of a black picture
    array([], shape=(0, 4), dtype=int64)
"""

from ._detect import Cascade, Detections

__all__ = ["Cascade", "Detections"]


def __dir__() -> list[str]:
    return __all__
