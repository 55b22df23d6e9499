"""``niBlackThreshold`` and ``guidedFilter``, as in OpenCV's extra modules.

Other names are those of ``cv2.ximgproc``, if that is installed.
"""

import typing as _typing

from . import _opencv
from ._ximgproc import (
    BINARIZATION_NIBLACK,
    BINARIZATION_NICK,
    BINARIZATION_SAUVOLA,
    BINARIZATION_WOLF,
    guidedFilter,
    niBlackThreshold,
)

__all__ = [
    "BINARIZATION_NIBLACK",
    "BINARIZATION_NICK",
    "BINARIZATION_SAUVOLA",
    "BINARIZATION_WOLF",
    "guidedFilter",
    "niBlackThreshold",
]


def __getattr__(name: str) -> _typing.Any:
    return _opencv.attribute("cv2.ximgproc", name)


def __dir__() -> list[str]:
    return _opencv.names("cv2.ximgproc", __all__)
