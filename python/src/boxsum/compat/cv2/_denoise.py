"""OpenCV's ``fastNlMeansDenoising`` and ``fastNlMeansDenoisingMulti``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._denoise import denoise_frame
from ..._memory import new_image
from . import _opencv
from ._arrays import as_image, error, handed, raises_as_opencv, reuse, umats
from ._filters import real, whole

_L1, _L2 = 2, 4  # cv2.NORM_L1 and NORM_L2


def _is_list(h: Any) -> bool:
    """Report whether an argument is a list of strengths."""
    return isinstance(h, (list, tuple)) or isinstance(h, np.ndarray) and h.ndim == 1


@raises_as_opencv
def fastNlMeansDenoising(src: Any, *arguments: Any, **named: Any) -> np.ndarray:
    """Remove noise by non-local means, like ``cv2.fastNlMeansDenoising``.

    There are two forms, as in OpenCV::

        fastNlMeansDenoising(src, dst=None, h=3, templateWindowSize=7, searchWindowSize=21)
        fastNlMeansDenoising(src, h, dst=None, templateWindowSize=7, searchWindowSize=21, normType=NORM_L2)

    Parameters
    ----------
    src : ndarray of uint8, or of uint16 with NORM_L1
        Input image, with up to four channels.
    arguments, named : optional
        The other arguments of either form. ``dst`` is the destination. ``h`` is the strength, 3 by
        default: a float or, in the second form, a list of floats, one for each channel. Different
        strengths require OpenCV. ``templateWindowSize`` and ``searchWindowSize`` are the sides of
        the patches that are compared, and of the area that is searched. ``normType`` is NORM_L2,
        which compares squares, or NORM_L1, which compares absolute values.

    Returns
    -------
    dst : ndarray
        The image without noise, of the type of `src`.

    Raises
    ------
    cv2.error
        If an argument is not supported.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> image = np.array([[10, 12, 11, 90, 92, 91]], np.uint8)
    >>> cv2.fastNlMeansDenoising(image, h=5, templateWindowSize=1)
    array([[11, 11, 11, 91, 91, 91]], dtype=uint8)
    """
    dst, h, patch, search, norm = _settings("fastNlMeansDenoising", src, arguments, named)
    if h is None:
        return _opencv.attribute("cv2", "fastNlMeansDenoising")(src, *arguments, **named)
    found = umats(fastNlMeansDenoising, src, (dst,), h=[h], templateWindowSize=patch, searchWindowSize=search, normType=norm)
    if found:
        return found[0]
    return _denoised([src], 0, dst, h, patch, search, norm)


@raises_as_opencv
def fastNlMeansDenoisingMulti(srcImgs: Any, imgToDenoiseIndex: int, temporalWindowSize: int, *arguments: Any, **named: Any) -> np.ndarray:
    """Remove noise from a frame of a film, like ``cv2.fastNlMeansDenoisingMulti``.

    Parameters
    ----------
    srcImgs : sequence of ndarray
        The frames, all of the same type and shape, which are those of
        :func:`fastNlMeansDenoising`.
    imgToDenoiseIndex : int
        Index of the frame to denoise.
    temporalWindowSize : int
        Number of frames to search, an odd number. The frame to denoise is the middle one, so
        there must be half as many frames, rounded down, before it and after it.
    arguments, named : optional
        The other arguments, in either form, as for :func:`fastNlMeansDenoising`.

    Returns
    -------
    dst : ndarray
        The frame without noise, of the type of the frames.

    Raises
    ------
    cv2.error
        If an argument is not supported.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> frames = [np.array([[10, 12, 11, 90, 92, 91]], np.uint8), np.array([[11, 11, 12, 91, 90, 92]], np.uint8), np.array([[12, 10, 11, 92, 91, 90]], np.uint8)]
    >>> cv2.fastNlMeansDenoisingMulti(frames, 1, 3, h=5, templateWindowSize=1)
    array([[11, 11, 11, 91, 91, 91]], dtype=uint8)
    """
    dst, h, patch, search, norm = _settings("fastNlMeansDenoisingMulti", srcImgs[0] if len(srcImgs) else None, arguments, named)
    if h is None or any(type(frame).__name__ == "UMat" for frame in srcImgs):
        return _opencv.attribute("cv2", "fastNlMeansDenoisingMulti")(srcImgs, imgToDenoiseIndex, temporalWindowSize, *arguments, **named)
    index, count = whole(imgToDenoiseIndex, "imgToDenoiseIndex"), whole(temporalWindowSize, "temporalWindowSize")
    if count < 1 or not count % 2 * (patch % 2) * (search % 2):
        raise error(f"temporalWindowSize, templateWindowSize and searchWindowSize must be odd, got {count}, {patch} and {search}")
    if not 0 <= index - count // 2 <= index + count // 2 < len(srcImgs):
        raise error(f"imgToDenoiseIndex must leave {count // 2} frames of {len(srcImgs)} on both sides, got {index}")
    return _denoised(srcImgs[index - count // 2 : index + count // 2 + 1], count // 2, dst, h, patch, search, norm)


def _settings(name: str, src: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, float | None, int, int, int]:
    """Return the arguments of either form; no strength if only OpenCV knows what to do."""
    listed = _is_list(arguments[0] if arguments and "h" not in named else named.get("h"))
    names = ["h", "dst", "templateWindowSize", "searchWindowSize", "normType"] if listed else ["dst", "h", "templateWindowSize", "searchWindowSize"]
    if len(arguments) > len(names):
        raise error(f"{name} takes at most {len(names)} arguments after the images, got {len(arguments)}")
    given = dict(zip(names, arguments))
    for key, value in named.items():
        if key in given or key not in names:
            raise error(f"{name} got an unexpected argument {key}")
        given[key] = value
    given = {key: value for key, value in given.items() if value is not None}  # None is the default, as in OpenCV
    h = given.get("h", 3)
    if listed:
        channels = src.shape[2] if isinstance(src, np.ndarray) and src.ndim == 3 else 1
        if len(h) not in (1, channels) or any(value != h[0] for value in h):
            return None, None, 0, 0, 0
        h = h[0]
    patch, search = (whole(given.get(key, usual), key) for key, usual in zip(names[2:], (7, 21)))
    return given.get("dst"), abs(real(h, "h")), patch, search, whole(given.get("normType", _L2), "normType")


def _denoised(frames: Any, index: int, dst: Any, h: float, patch: int, search: int, norm: int) -> np.ndarray:
    images = [as_image(frame) for frame in frames]
    image = images[index]
    if norm not in (_L1, _L2) or image.dtype not in (np.uint8, np.uint16) or norm == _L2 and image.dtype == np.uint16:
        raise error(f"normType {norm} is not supported for {image.dtype}, only NORM_L2 and NORM_L1 for uint8, and NORM_L1 for uint16")
    if any(other.shape != image.shape or other.dtype != image.dtype for other in images):
        raise error("the images must have the same type and size")
    if image.size == 0:
        raise error("src is empty")
    shape = image.shape[:2] if image.ndim == 3 and image.shape[2] == 1 else image.shape
    out = reuse(dst, shape, image.dtype, "dst")
    result = new_image(shape, image.dtype) if out is None else out
    stack = image.reshape(shape)[np.newaxis] if len(images) == 1 else np.stack([other.reshape(shape) for other in images])
    denoise_frame(stack, index, result, h, patch, search, norm == _L1, 0)
    return handed(result, dst, out)
