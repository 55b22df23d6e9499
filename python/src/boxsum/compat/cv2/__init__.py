"""Functions with OpenCV's arguments, types and results.

    from boxsum.compat import cv2
    soft = cv2.blur(image, (15, 15))

integral, integral2, integral3
    Integer tables and tilted tables are bit-identical, float tables except for the order of
    additions. Large tables have gaps after their rows.
blur, boxFilter, sqrBoxFilter
    Integers are exact and rounded to nearest, ties up. OpenCV does the same for odd kernels;
    for even ones it rounds ties in two ways, and is off by one elsewhere too for sides of
    2, 4, 8 and 16.
adaptiveThreshold
    Identical pixel for pixel. ADAPTIVE_THRESH_GAUSSIAN_C calls OpenCV, which must be installed.
ximgproc.niBlackThreshold, ximgproc.guidedFilter
    Statistics are float64 where OpenCV's are float32: a threshold halfway between two gray
    levels may be rounded the other way.

createCLAHE
    Bit-identical, for uint8 and uint16.
fastNlMeansDenoising, fastNlMeansDenoisingMulti
    Bit-identical. A strength for each channel calls OpenCV, which must be installed.
matchTemplate
    Normalized scores are within 1e-5 of the formulas and never outside -1 to 1; a flat
    window scores 0.
CascadeClassifier
    Rectangles, neighbors and weights are bit-identical to OpenCV 4.14.
HOGDescriptor
    Descriptors, rectangles and weights are bit-identical to OpenCV 4.14 on a processor with
    AVX2; with grouping by mean shift, weights up to rounding. The coefficients of
    getDefaultPeopleDetector and getDaimlerPeopleDetector are OpenCV's, which must be
    installed.

The interface is that of ``cv2`` 5. The module does not require OpenCV. If OpenCV is
installed, the module is a drop-in replacement: ``error``, ``UMat`` and every other name that
is not listed here, such as ``imread``, are those of ``cv2``. Types may include a number of
channels (``CV_32SC3``), images and results may be UMat, and tuples of numbers are columns.
The masks of NumPy's masked arrays are ignored.

Differences: lists are accepted as images and None is not; arrays in another byte order are
converted; an image without columns has a table of zeros; tables may not overlap each other;
and a call without an image is a TypeError. 64-bit integer pixels must fit int32, because
OpenCV treats them as int32. CascadeClassifier has no convert and no read: load accepts
files of both formats.
"""

import typing as _typing

from . import _constants, _opencv, ximgproc
from ._arrays import error_type as _error_type
from ._cascade import CascadeClassifier
from ._clahe import createCLAHE
from ._constants import *  # noqa: F403
from ._denoise import fastNlMeansDenoising, fastNlMeansDenoisingMulti
from ._filters import adaptiveThreshold, blur, boxFilter, sqrBoxFilter
from ._hog import HOGDescriptor
from ._match import matchTemplate
from ._tables import integral, integral2, integral3

__all__ = [
    "CascadeClassifier",
    "HOGDescriptor",
    "adaptiveThreshold",
    "blur",
    "boxFilter",
    "createCLAHE",
    "fastNlMeansDenoising",
    "fastNlMeansDenoisingMulti",
    "integral",
    "integral2",
    "integral3",
    "matchTemplate",
    "sqrBoxFilter",
    "ximgproc",
]
__all__ += _constants.__all__


def __getattr__(name: str) -> _typing.Any:
    if name == "error":
        return _error_type()
    return _opencv.attribute("cv2", name)


def __dir__() -> list[str]:
    return _opencv.names("cv2", [*__all__, "error"])
