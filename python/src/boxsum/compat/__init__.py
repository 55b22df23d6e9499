"""Functions with the names, arguments and results of other libraries.

``boxsum.compat.cv2`` and ``boxsum.compat.skimage`` need neither of them installed.
"""

from . import cv2, skimage

__all__ = ["cv2", "skimage"]
