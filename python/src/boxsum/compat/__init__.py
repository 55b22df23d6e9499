"""Drop-in functions with the names, arguments and results of other libraries.

``boxsum.compat.cv2``, ``boxsum.compat.skimage`` and ``boxsum.compat.scipy`` do not require
these libraries.
"""

from . import cv2, scipy, skimage

__all__ = ["cv2", "scipy", "skimage"]


def __dir__() -> list[str]:
    return __all__
