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

They are those of ``cv2`` 5. The module does not need OpenCV; where that is installed,
errors are ``cv2.error``. Types may have a number of channels (``CV_32SC3``), images and
results may be UMat, and tuples of numbers are columns. Masks are ignored.

What is different: lists are taken for images, None is not, bytes in foreign order
are read as what they stand for, an image of no columns has a table of zeros, tables
do not lie in the memory of one another, and a call without an image is a TypeError.
"""

from . import ximgproc
from ._constants import *  # noqa: F403
from ._filters import adaptiveThreshold, blur, boxFilter, sqrBoxFilter
from ._tables import integral, integral2, integral3

__all__ = ["adaptiveThreshold", "blur", "boxFilter", "integral", "integral2", "integral3", "sqrBoxFilter", "ximgproc"]
