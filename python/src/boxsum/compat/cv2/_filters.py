"""OpenCV's ``blur``, ``boxFilter``, ``sqrBoxFilter`` and ``adaptiveThreshold``."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..._filters import box_filter, run
from ..._memory import new_image
from ..._threshold import binarize
from . import _constants as c
from ._arrays import DEPTHS, as_image, error, handed, raises_as_opencv, reuse, umats
from ._opencv import attribute

_BORDERS = {c.BORDER_CONSTANT: "constant", c.BORDER_REPLICATE: "replicate", c.BORDER_REFLECT: "reflect", c.BORDER_REFLECT_101: "reflect101"}
_PIXELS = ("u1", "u2", "i2", "i4", "f4", "f8")
_IN_PLACE = {np.dtype(t) for t in ("u1", "u2", "f4", "f8")}
_MIDDLE = (-1, -1)
_INT = 1 << 31  # beyond an int


@raises_as_opencv
def blur(src: Any, ksize: Any, dst: Any = None, anchor: Any = _MIDDLE, borderType: int = c.BORDER_DEFAULT) -> np.ndarray:
    """Compute the mean of the box around every pixel, like ``cv2.blur``.

    Parameters
    ----------
    src, ksize, dst, anchor, borderType
        As for ``cv2.blur``.

    Returns
    -------
    blurred : ndarray
        The means, of the type of `src`.

    Raises
    ------
    cv2.error
        If an argument is not supported.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> cv2.blur(np.array([[0, 90, 0, 0, 0]], np.uint8), (3, 1))
    array([[60, 30, 30,  0,  0]], dtype=uint8)
    """
    if dst is None and anchor is _MIDDLE and borderType == c.BORDER_DEFAULT and _is_usual(src, ksize):
        return box_filter(src, ksize)
    found = umats(blur, src, (dst,), ksize=ksize, anchor=anchor, borderType=borderType)
    return found[0] if found else _filter(pixels(src), -1, ksize, dst, anchor, True, borderType, c.BORDER_ISOLATED)


@raises_as_opencv
def boxFilter(
    src: Any, ddepth: int, ksize: Any, dst: Any = None, anchor: Any = _MIDDLE, normalize: bool = True, borderType: int = c.BORDER_DEFAULT
) -> np.ndarray:
    """Compute the mean or the sum of the box around every pixel, like ``cv2.boxFilter``.

    Parameters
    ----------
    src, ddepth, ksize, dst, anchor, normalize, borderType
        As for ``cv2.boxFilter``.

    Returns
    -------
    filtered : ndarray
        The means, or the sums without `normalize`, of the depth `ddepth`.

    Raises
    ------
    cv2.error
        If an argument is not supported.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> cv2.boxFilter(np.array([[0, 90, 0, 0, 200]], np.uint8), cv2.CV_32S, (3, 1), normalize=False)
    array([[180,  90,  90, 200, 200]], dtype=int32)
    """
    found = umats(boxFilter, src, (dst,), ddepth=ddepth, ksize=ksize, anchor=anchor, normalize=normalize, borderType=borderType)
    return found[0] if found else _filter(pixels(src), ddepth, ksize, dst, anchor, normalize, borderType, c.BORDER_ISOLATED)


@raises_as_opencv
def sqrBoxFilter(
    src: Any, ddepth: int, ksize: Any, dst: Any = None, anchor: Any = _MIDDLE, normalize: bool = True, borderType: int = c.BORDER_DEFAULT
) -> np.ndarray:
    """Compute the mean or the sum of the squares in the box around every pixel, like ``cv2.sqrBoxFilter``.

    Parameters
    ----------
    src, ddepth, ksize, dst, anchor, normalize, borderType
        As for ``cv2.sqrBoxFilter``.

    Returns
    -------
    filtered : ndarray
        The means of the squares, or their sums without `normalize`. If `ddepth` is
        negative, they are float32 for pixels of up to 16 bits and float64 otherwise.

    Raises
    ------
    cv2.error
        If an argument is not supported.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> cv2.sqrBoxFilter(np.array([[0, 9, 0, 0, 20]], np.uint8), -1, (3, 1))
    array([[ 54.     ,  27.     ,  27.     , 133.33333, 133.33333]],
          dtype=float32)
    """
    found = umats(sqrBoxFilter, src, (dst,), ddepth=ddepth, ksize=ksize, anchor=anchor, normalize=normalize, borderType=borderType)
    if found:
        return found[0]
    image = pixels(src)
    if image.dtype == np.int32:
        raise error("sqrBoxFilter does not support int32")
    if _depth(ddepth) is None:
        ddepth = c.CV_32F if image.itemsize < 4 else c.CV_64F
    squares = np.multiply(image, image, dtype=np.uint16 if image.itemsize == 1 else np.float64)
    return _filter(squares, ddepth, ksize, dst, anchor, normalize, borderType, -1)


@raises_as_opencv
def adaptiveThreshold(src: Any, maxValue: float, adaptiveMethod: int, thresholdType: int, blockSize: int, C: float, dst: Any = None) -> np.ndarray:
    """Binarize an image by the mean of the box around every pixel, like ``cv2.adaptiveThreshold``.

    With ADAPTIVE_THRESH_GAUSSIAN_C, this calls ``cv2.adaptiveThreshold``, which must be
    installed.

    Parameters
    ----------
    src, maxValue, adaptiveMethod, thresholdType, blockSize, C, dst
        As for ``cv2.adaptiveThreshold``.

    Returns
    -------
    page : ndarray of uint8
        The binary image.

    Raises
    ------
    cv2.error
        If an argument is not supported.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> page = np.array([[90, 90, 20, 90, 90]] * 3, np.uint8)
    >>> cv2.adaptiveThreshold(page, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 3, 10)[0]
    array([255, 255,   0, 255, 255], dtype=uint8)
    """
    named = {"maxValue": maxValue, "adaptiveMethod": adaptiveMethod, "thresholdType": thresholdType, "blockSize": blockSize, "C": C}
    found = umats(adaptiveThreshold, src, (dst,), **named)
    if found:
        return found[0]
    image = as_image(src)
    if image.dtype != np.uint8 or image.ndim != 2 or image.size == 0:
        raise error(f"image must have one channel of uint8, got {image.dtype} with shape {image.shape}")
    adaptiveMethod, thresholdType = whole(adaptiveMethod, "adaptiveMethod"), whole(thresholdType, "thresholdType")
    size, offset, most = whole(blockSize, "blockSize"), real(C, "C"), real(maxValue, "maxValue")
    if size % 2 == 0 or size <= 1:
        raise error(f"blockSize must be odd and greater than 1, got {size}")
    out = reuse(dst, image.shape, image.dtype, "dst")
    if most < 0:  # black, whatever the method
        result = new_image(image.shape, image.dtype) if out is None else out
        result[...] = 0
        return handed(result, dst, out)
    if adaptiveMethod == c.ADAPTIVE_THRESH_GAUSSIAN_C:
        try:
            theirs = attribute("cv2", "adaptiveThreshold")
        except AttributeError:
            raise error("ADAPTIVE_THRESH_GAUSSIAN_C needs OpenCV, which is not installed") from None
        return theirs(src, maxValue, adaptiveMethod, thresholdType, blockSize, C, dst)
    if adaptiveMethod != c.ADAPTIVE_THRESH_MEAN_C:
        raise error(f"adaptiveMethod must be ADAPTIVE_THRESH_MEAN_C or ADAPTIVE_THRESH_GAUSSIAN_C, got {adaptiveMethod}")
    if thresholdType not in (c.THRESH_BINARY, c.THRESH_BINARY_INV):
        raise error(f"thresholdType must be THRESH_BINARY or THRESH_BINARY_INV, got {thresholdType}")
    inverse = thresholdType == c.THRESH_BINARY_INV
    result = new_image(image.shape, image.dtype) if out is None else out
    if abs(offset) < _INT:
        binarize(image, "meanc", window=size, c=math.floor(offset) if inverse else offset, out=result)
    else:  # as in OpenCV, with either sign, and for NaN
        result[...] = 255
    white = int(min(np.rint(most), 255)) if most < _INT else 0
    if inverse:
        np.bitwise_not(result, out=result)
    if white != 255:
        np.bitwise_and(result, np.uint8(white), out=result)
    return handed(result, dst, out)


def _is_usual(src: Any, ksize: Any) -> bool:
    """Report whether the box filter needs no conversions and checks: those take longer than a small image."""
    usual = type(src) is np.ndarray and src.ndim == 2 and src.dtype in _IN_PLACE and min(src.shape) > 1
    return usual and type(ksize) is tuple and len(ksize) == 2 and all(type(n) is int and n > 0 for n in ksize)


def pixels(src: Any) -> np.ndarray:
    """Return an image of a type that OpenCV filters."""
    image = as_image(src)
    if image.size == 0:
        raise error(f"image must not be empty, got shape {image.shape}")
    native = image.dtype.newbyteorder("=")
    if native in (np.int64, np.uint64):
        native = np.dtype(np.int32)  # as in OpenCV
        if not -(1 << 31) <= image.min() <= image.max() < 1 << 31:
            raise error(f"pixels of {image.dtype} do not fit in int32, as OpenCV reads them")
    if native.str[1:] not in _PIXELS:
        raise error(f"pixels of {image.dtype} cannot be filtered, want {', '.join(np.dtype(p).name for p in _PIXELS)}")
    return image.astype(native, copy=False)


def whole(number: Any, name: str) -> int:
    """Return an argument as an int; None is 0, as in OpenCV."""
    if number is None:
        return 0
    try:
        if isinstance(number, (bool, np.bool_)):
            raise TypeError
        return operator.index(number)
    except TypeError:
        raise error(f"{name} must be an integer, got {number!r}") from None


def real(number: Any, name: str) -> float:
    """Return an argument as a float; None is 0, as in OpenCV."""
    if number is None:
        return 0.0
    if isinstance(number, (bool, np.bool_)) or not isinstance(number, (int, float, np.integer, np.floating)):
        raise error(f"{name} must be a number, got {number!r}")
    return float(number)


def pair(of: Any, name: str) -> tuple[int, int]:
    """Return an argument as two ints."""
    if not hasattr(of, "__len__") or len(of) != 2:
        raise error(f"{name} must be two numbers, got {of!r}")
    return whole(of[0], name), whole(of[1], name)


def _depth(ddepth: Any) -> np.dtype | None:
    """Return the type of a depth, or None for that of the image."""
    number = whole(ddepth, "ddepth")
    if number < 0:
        return None
    name = DEPTHS.get(number & 31)
    if name in (None, "i1"):
        raise error(f"unsupported ddepth {ddepth}")
    return np.dtype(name)


def _border(kind: int, wraps: bool) -> str:
    """Return the name of an OpenCV border type."""
    number = kind & ~c.BORDER_ISOLATED
    if wraps and number == c.BORDER_WRAP:
        return "wrap"
    name = _BORDERS.get(number)
    if name is None:
        raise error(f"borderType must be BORDER_CONSTANT, BORDER_REPLICATE, BORDER_REFLECT or BORDER_REFLECT_101, got {kind}")
    return name


def _filter(image: np.ndarray, ddepth: int, ksize: Any, dst: Any, anchor: Any, normalize: bool | None, borderType: int | None, shrinks: int) -> np.ndarray:
    """Compute the mean or sum of the box around every pixel, for a result of any depth.

    The kernel of a mean is one pixel across images of one column, and down images of one row,
    if the type of the border has a bit of `shrinks`.
    """
    size, place = pair(ksize, "ksize"), pair(_MIDDLE if anchor is None else anchor, "anchor")
    kind = c.BORDER_DEFAULT if borderType is None else whole(borderType, "borderType")
    normalize = normalize is None or bool(normalize)
    if min(size) < 1:
        raise error(f"ksize must be at least 1, got {size}")
    if normalize and kind & shrinks:
        size = (1 if image.shape[1] == 1 else size[0], 1 if image.shape[0] == 1 else size[1])
    place = (size[0] // 2 if place[0] < 0 else place[0], size[1] // 2 if place[1] < 0 else place[1])
    if not all(at < n for n, at in zip(size, place)):
        raise error(f"anchor must be inside the kernel of {size}, got {anchor}")
    shift = (size[0] // 2 - place[0], size[1] // 2 - place[1])
    wanted = _depth(ddepth) or image.dtype
    if size == (1, 1) and kind & ~c.BORDER_ISOLATED != c.BORDER_WRAP:
        outside = "replicate"  # of no effect, so OpenCV takes any other border
    elif shrinks == c.BORDER_ISOLATED:
        outside = _border(kind, wraps=image.dtype.kind == "f" and wanted == image.dtype and max(size) <= 5)
    elif kind & c.BORDER_ISOLATED:
        raise error(f"borderType must not include BORDER_ISOLATED for sqrBoxFilter, got {kind}")
    else:
        outside = _border(kind, wraps=False)
    if wanted == np.int32 and image.dtype.kind == "f":
        raise error(f"ddepth {ddepth} is not supported for pixels of {image.dtype}")
    out = reuse(dst, image.shape, wanted, "dst")
    result = new_image(image.shape, wanted) if out is None else out

    def fill(name: bytes, source: np.ndarray, target: np.ndarray, value: float = 0) -> None:
        run(name, source, target, size, outside, value, None, shift=shift)

    readable = image.dtype.kind != "i"
    if normalize and readable and wanted == image.dtype:
        fill(b"box", image, result)
    elif readable and wanted.kind == "f":
        fill(b"mean" if normalize else b"sum", image, result)
    elif normalize and image.dtype == wanted == np.int16:
        lift = np.bitwise_xor(image.view(np.uint16), np.uint16(1 << 15), order="C")  # unsigned, in the same order
        fill(b"box", lift, lift, 1 << 15)
        np.bitwise_xor(lift, np.uint16(1 << 15), out=result.view(np.uint16))
    elif not normalize and wanted == np.int32 and image.dtype == np.uint8 and 255 * size[0] * size[1] < 1 << 31:
        fill(b"sum", image, result.view(np.uint32))
    else:
        exact = np.empty(image.shape)
        fill(b"mean" if normalize else b"sum", image if readable else image.astype(np.float64), exact)
        saturate(exact, result)
    return handed(result, dst, out)


def saturate(values: np.ndarray, result: np.ndarray) -> None:
    """Write floats as another type: integers are rounded, ties to even, and clamped to their range.

    What an int cannot hold, NaN too, becomes the least number, as in OpenCV on x86.
    """
    if result.dtype.kind == "f":
        result[...] = values
        return
    limits = np.iinfo(result.dtype)
    np.rint(values, out=values)
    with np.errstate(invalid="ignore"):
        values[~(np.abs(values) < _INT)] = limits.min
    np.clip(values, limits.min, limits.max, out=values)
    np.copyto(result, values, casting="unsafe")
