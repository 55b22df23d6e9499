"""Functions of OpenCV's extra modules: see :mod:`boxsum.compat.cv2.ximgproc`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._filters import guided, local_mean_std
from ..._memory import new_image
from ..._threshold import threshold_map
from . import _constants as c
from ._arrays import as_image, error, handed, raises_as_opencv, reuse, umats
from ._filters import _depth, pixels, saturate, whole

BINARIZATION_NIBLACK, BINARIZATION_SAUVOLA, BINARIZATION_WOLF, BINARIZATION_NICK = range(4)

_METHODS = {BINARIZATION_NIBLACK: "niblack", BINARIZATION_SAUVOLA: "sauvola", BINARIZATION_WOLF: "wolf"}


@raises_as_opencv
def niBlackThreshold(
    _src: Any, maxValue: float, type: int, blockSize: int, k: float, _dst: Any = None, binarizationMethod: int = BINARIZATION_NIBLACK, r: float = 128
) -> np.ndarray:
    """Threshold an image by the local mean and deviation, like ``cv2.ximgproc.niBlackThreshold``.

    Parameters
    ----------
    _src : array_like of uint8, uint16, int16, float32 or float64
        Gray image.
    maxValue, type, blockSize, k, _dst, binarizationMethod, r
        As for ``cv2.ximgproc.niBlackThreshold``.

    Returns
    -------
    page : ndarray
        The thresholded image, of the type of `_src`.

    Raises
    ------
    cv2.error
        If an argument is not supported.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> page = np.array([[90, 90, 20, 90, 90]] * 3, np.uint8)
    >>> cv2.ximgproc.niBlackThreshold(page, 255, cv2.THRESH_BINARY, 3, -0.2, binarizationMethod=cv2.ximgproc.BINARIZATION_NICK)[0]
    array([255, 255,   0, 255, 255], dtype=uint8)
    """
    named = {"maxValue": maxValue, "type": type, "blockSize": blockSize, "k": k, "binarizationMethod": binarizationMethod, "r": r}
    found = umats(niBlackThreshold, _src, (_dst,), **named)
    if found:
        return found[0]
    image = as_image(_src)
    if image.ndim != 2 or image.dtype not in (np.uint8, np.uint16, np.int16, np.float32, np.float64):
        raise error(f"image must have one channel of uint8, uint16, int16, float32 or float64, got {image.dtype} with shape {image.shape}")
    if image.size == 0:
        raise error("image is empty")
    size, kind = whole(blockSize, "blockSize"), whole(type, "type") & 7
    if size % 2 == 0 or size <= 1:
        raise error(f"blockSize must be odd and greater than 1, got {size}")
    if kind > c.THRESH_TOZERO_INV:
        raise error(f"type must be THRESH_BINARY, THRESH_BINARY_INV, THRESH_TRUNC, THRESH_TOZERO or THRESH_TOZERO_INV, got {type}")
    factor = float(np.float32(k))
    if binarizationMethod in _METHODS:
        spread = float(r) if binarizationMethod == BINARIZATION_SAUVOLA else None
        source = image if image.dtype.kind != "i" else image.astype(np.float32)
        thresholds = threshold_map(source, _METHODS[binarizationMethod], window=size, k=factor, r=spread, border="replicate", dtype=np.float32)
    elif binarizationMethod == BINARIZATION_NICK:  # uses the mean of squares where others use the square of the mean
        means, deviations = local_mean_std(image, size, border="replicate", dtype=np.float32)
        np.square(deviations, out=deviations)
        thresholds = np.square(means)
        thresholds += deviations
        thresholds += deviations
        np.sqrt(thresholds, out=thresholds)
        thresholds *= np.float32(factor)
        thresholds += means
    else:
        raise error(f"binarizationMethod must be BINARIZATION_NIBLACK, BINARIZATION_SAUVOLA, BINARIZATION_WOLF or BINARIZATION_NICK, got {binarizationMethod}")
    out = reuse(_dst, image.shape, image.dtype, "_dst")
    result = new_image(image.shape, image.dtype) if out is None else out
    if np.may_share_memory(result, image):
        raise error("_dst must not share memory with the image")
    level = thresholds if image.dtype == np.float32 else new_image(image.shape, image.dtype)
    if level is not thresholds:
        saturate(thresholds, level)
    chosen = image <= level if kind in (c.THRESH_BINARY_INV, c.THRESH_TOZERO_INV) else image > level  # neither, if one of them is NaN
    if kind in (c.THRESH_BINARY, c.THRESH_BINARY_INV):
        white = np.empty(1)
        white[0] = maxValue
        one = np.empty(1, image.dtype)
        saturate(white, one)
        np.multiply(chosen, one[0], out=result)
    elif kind == c.THRESH_TRUNC:
        result[...] = np.where(chosen, level, image)
    else:
        result[...] = np.where(chosen, image, 0)
    return handed(result, _dst, out)


@raises_as_opencv
def guidedFilter(guide: Any, src: Any, radius: int, eps: float, dst: Any = None, dDepth: int = -1, scale: float = 1.0) -> np.ndarray:
    """Smooth an image with the guided filter of He, Sun and Tang, like ``cv2.ximgproc.guidedFilter``.

    Parameters
    ----------
    guide, src, radius, eps, dst, dDepth
        As for ``cv2.ximgproc.guidedFilter``.
    scale : float, default 1.0
        Must be 1: the filter works at full size.

    Returns
    -------
    smooth : ndarray
        The filtered image, of the shape of `src` and the depth `dDepth`; by default, of the type
        of `src`.

    Raises
    ------
    cv2.error
        If an argument is not supported.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> image = np.array([[10, 12, 10, 200, 202, 200]] * 3, np.uint8)
    >>> cv2.ximgproc.guidedFilter(image, image, 1, 100)[0]
    array([ 11,  11,  11, 199, 201, 201], dtype=uint8)
    """
    given = [array for array in (src, guide, dst) if array.__class__.__name__ == "UMat"]
    if given:
        leader, image = (array.get() if array.__class__.__name__ == "UMat" else array for array in (guide, src))
        found = umats(lambda _: guidedFilter(leader, image, radius, eps, dDepth=dDepth, scale=scale), given[0], (dst,))
        assert found
        return found[0]
    image, leader = pixels(src), pixels(guide)
    if "i" in (image.dtype.kind, leader.dtype.kind):
        raise error(f"image and guide must be uint8, uint16, float32 or float64, got {image.dtype} and {leader.dtype}")
    if scale != 1:
        raise error(f"scale is not supported, as filtering is at full size, got {scale}")
    if leader.ndim == 3 and leader.shape[2] == 2:
        leader = np.dstack([leader, np.zeros_like(leader[:, :, :1])])  # a zero channel changes nothing
    wanted = _depth(dDepth) or image.dtype
    out = reuse(dst, image.shape, wanted, "dst")
    result = new_image(image.shape, wanted) if out is None else out
    if wanted == image.dtype:
        guided(image, radius, eps, guide=leader, border="reflect", out=result)
    else:
        saturate(guided(image.astype(np.float64), radius, eps, guide=leader, border="reflect"), result)
    return handed(result, dst, out)
