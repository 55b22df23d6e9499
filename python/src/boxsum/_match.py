"""Template matching."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from ._arguments import thread_count
from ._filters import call_with_copies, on_cuda, only_there, pixels_of, result_for, run_there
from ._foreign import as_given, on_host
from ._types import as_bytes, whole
from ._typing import Image

_SCORES = np.dtype(np.float32)


def match(
    image: Image,
    template: Image,
    method: str = "zncc",
    *,
    mask: Any = None,
    out: Any = None,
    workers: int | None = None,
) -> ndarray:
    """Score a template at every position in an image.

    Parameters
    ----------
    image : array_like, shape (H, W) or (H, W, C)
        Input image, of uint8, uint16, float32 or float64, with up to four channels. CuPy
        and PyTorch arrays on a CUDA device are processed there if they are gray and of
        uint8; templates may then have up to 66051 pixels, and no mask.
    template : array_like, shape (h, w) or (h, w, C)
        Template, of the type of the image and no larger than it.
    method : {"zncc", "ncc", "ssd"}, default "zncc"
        ``"zncc"`` is the zero-mean normalized cross-correlation, from -1 to 1 and
        independent of brightness and contrast; ``"ncc"`` is the normalized
        cross-correlation, from -1 to 1 and independent of exposure; ``"ssd"`` is the sum of
        squared differences, where the lowest score is the best. In OpenCV they are
        TM_CCOEFF_NORMED, TM_CCORR_NORMED and TM_SQDIFF.
    mask : array_like, shape (h, w), optional
        Pixels of the template are compared only where the mask is not zero.
    out : array of float32, optional
        Destination, of the shape of the result. By default, a new array is allocated.
    workers : int, optional
        Maximum number of threads. The default is one per available CPU.

    Returns
    -------
    scores : array of float32, shape (H - h + 1, W - w + 1)
        ``scores[y, x]`` is the score of the template with its first pixel at
        ``image[y, x]``. Normalized scores are within 1e-5 of the formula and never outside
        -1 to 1. A window without contrast has the ``"zncc"`` score 0, and a window of zeros
        the ``"ncc"`` score 0.

    Raises
    ------
    TypeError
        If the types of image and template differ or are not supported.
    ValueError
        If the template does not fit in the image, is flat for ``"zncc"`` or zero for ``"ncc"``,
        the method is unknown, or `mask` or `out` has the wrong shape.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.random.default_rng(0).integers(0, 256, (40, 50), dtype=np.uint8)
    >>> scores = boxsum.match(image, image[10:18, 20:30])
    >>> scores.shape, np.unravel_index(scores.argmax(), scores.shape)
    ((33, 41), (np.int64(10), np.int64(20)))
    """
    kind = on_cuda(image)
    if kind is not None:
        only_there(mask=mask)
        part = _arguments(np.empty((0, 0), np.uint8), _fetched(template), method, None)[1]
        size = kind.parts(kind.read(image))[1]
        shape = tuple(max(0, n - m + 1) for n, m in zip(size[:2], part.shape[:2]))
        return run_there(kind, "match_device", image, out, _SCORES, shape, np.ascontiguousarray(part), method.encode())
    pixels, part, cover = _arguments(image, template, method, mask)
    shape = tuple(max(0, n - m + 1) for n, m in zip(pixels.shape[:2], part.shape[:2]))
    result = result_for(pixels, _SCORES, out, shape)
    call_with_copies((result,), "match", pixels, part, cover, result, method.encode(), thread_count(workers))
    return as_given(result, out, image)


def _fetched(template: Any) -> Any:
    """Return a template in host memory."""
    if on_cuda(template) is None:
        return template
    if hasattr(template, "get"):  # CuPy
        return template.get()
    if hasattr(template, "cpu"):  # PyTorch
        return template.detach().cpu()
    raise TypeError(f"template must be in host memory, got {type(template).__name__} (copy it first)")


def find(
    image: Image,
    template: Image,
    count: int = 1,
    *,
    method: str = "zncc",
    mask: Any = None,
    subpixel: bool = False,
    workers: int | None = None,
) -> tuple[ndarray, ndarray]:
    """Find the positions in an image that match a template best.

    Positions are at least half of the template apart, across or down.

    Parameters
    ----------
    image, template, method, mask, workers
        As for :func:`match`.
    count : int, default 1
        Maximum number of positions.
    subpixel : bool, default False
        Return boxes with fractional coordinates, as floats.

    Returns
    -------
    boxes : ndarray of int64, or of float64 with `subpixel`, shape (N, 4)
        The boxes as ``x0, y0, x1, y1``, the best first. There may be fewer than `count`.
    scores : ndarray of float64, shape (N,)
        The scores of `boxes`.

    Raises
    ------
    TypeError, ValueError
        As for :func:`match`, and if `count` is negative.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.random.default_rng(0).integers(0, 256, (40, 50), dtype=np.uint8)
    >>> boxes, scores = boxsum.find(image, image[10:18, 20:30])
    >>> boxes, scores.round(3)
    (array([[20, 10, 30, 18]]), array([1.]))
    """
    pixels, part, cover = _arguments(image, template, method, mask)
    n = min(whole(count, "count", 0), max(1, pixels.shape[0] * pixels.shape[1]))
    peaks = np.empty((n, 5))
    found = call_with_copies((peaks,), "find", pixels, part, cover, peaks, method.encode(), thread_count(workers))
    peaks = peaks[:found]
    corners = peaks[:, 3:5] if subpixel else peaks[:, :2].astype(np.int64)
    size = np.array(part.shape[1::-1])
    return np.concatenate([corners, corners + size], axis=1), peaks[:, 2].copy()


def _arguments(image: Any, template: Any, method: Any, mask: Any) -> tuple[ndarray, ndarray, ndarray | None]:
    if not isinstance(method, str):
        raise TypeError(f"method must be 'zncc', 'ncc' or 'ssd', got {method!r}")
    pixels, part = pixels_of(image), pixels_of(template)
    if part.dtype.newbyteorder("=") != pixels.dtype.newbyteorder("="):
        raise TypeError(f"template must have type {pixels.dtype} like the image, got {part.dtype} (use .astype)")
    if mask is None:
        return pixels, part, None
    cover = on_host(mask)
    if cover.shape != part.shape[:2]:
        raise ValueError(f"mask must have shape {part.shape[:2]} like the template, got {cover.shape}")
    if cover.dtype != np.uint8:
        cover = as_bytes(cover != 0)
    return pixels, part, cover
