"""Functions of OpenCV, with its arguments, types and results.

    from boxsum.compat import cv2 as fast
    soft = fast.blur(image, (15, 15))

integral, integral2, integral3
    Integer tables and tilted tables are the same to the bit, float tables but for the
    order of additions. Large tables have gaps behind their rows.
blur, boxFilter, sqrBoxFilter
    Integers are exact and rounded to nearest, ties up. So are OpenCV's for odd kernels; for even ones it
    rounds ties in two ways, and is off by one elsewhere too at sides of 2, 4, 8 and 16.
adaptiveThreshold
    With ADAPTIVE_THRESH_MEAN_C: the same pixel for pixel.
ximgproc.niBlackThreshold, ximgproc.guidedFilter
    Statistics are float64 where OpenCV's are float32: a threshold that lies half way
    between two gray levels may be rounded the other way.

matchTemplate
    Normalised scores are within 1e-5 of the formulas, and never outside of -1 to 1; a flat window has 0.
CascadeClassifier
    The rectangles, neighbours and weights of OpenCV 4.14, to the bit.

They are those of ``cv2`` 5. The module does not need OpenCV; where that is installed,
``error`` and ``UMat`` are those of ``cv2``. Types may have a number of channels (``CV_32SC3``), images and
results may be UMat, and tuples of numbers are columns. Masks are ignored.

What is different: lists are taken for images, None is not, bytes in foreign order
are read as what they stand for, an image of no columns has a table of zeros, tables
do not lie in the memory of one another, and a call without an image is a TypeError. Pixels of 64-bit integers,
which OpenCV takes for int32, must fit that. CascadeClassifier has no convert and no read: load takes files of both formats.
"""

from typing import Any

from . import ximgproc
from ._arrays import error_type
from ._cascade import CascadeClassifier
from ._constants import *  # noqa: F403
from ._filters import adaptiveThreshold, blur, boxFilter, sqrBoxFilter
from ._match import matchTemplate
from ._tables import integral, integral2, integral3

__all__ = [
    "CascadeClassifier",
    "adaptiveThreshold",
    "blur",
    "boxFilter",
    "integral",
    "integral2",
    "integral3",
    "matchTemplate",
    "sqrBoxFilter",
    "ximgproc",
]


def __getattr__(name: str) -> Any:
    if name == "error":
        return error_type()
    if name == "UMat":
        try:
            from cv2 import UMat
        except ImportError:
            raise AttributeError("UMat is OpenCV's, which is not installed") from None
        return UMat
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
