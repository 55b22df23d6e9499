"""OpenCV's ``matchTemplate``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._filters import run
from ..._match import match
from ..._memory import new_image
from . import _constants as c
from ._arrays import as_image, error, handed, raises_as_opencv, reuse, umats
from ._filters import whole

_DIRECT = {c.TM_SQDIFF: "ssd", c.TM_CCORR_NORMED: "ncc", c.TM_CCOEFF_NORMED: "zncc"}
_FLOAT = np.dtype(np.float32)


@raises_as_opencv
def matchTemplate(image: Any, templ: Any, method: int, result: Any = None, mask: Any = None) -> np.ndarray:
    """Score a template at every position, like ``cv2.matchTemplate``.

    Parameters
    ----------
    image, templ : array_like of uint8 or float32
        Image and template. Without a mask, the smaller one is searched for in the other.
    method : int
        One of ``TM_SQDIFF``, ``TM_SQDIFF_NORMED``, ``TM_CCORR``, ``TM_CCORR_NORMED``,
        ``TM_CCOEFF`` and ``TM_CCOEFF_NORMED``.
    result : ndarray, optional
        Destination, which is written if it has the shape and type of the result.
    mask : array_like of uint8 or float32, optional
        Weights of the template's pixels. uint8 masks count where they are not zero.

    Returns
    -------
    scores : ndarray of float32, shape (H - h + 1, W - w + 1)
        ``scores[y, x]`` is the score of the template with its first pixel at ``image[y, x]``,
        for an image of shape (H, W) and a template of shape (h, w).

    Raises
    ------
    cv2.error
        If types, channels or sizes do not match.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> image = np.random.default_rng(0).integers(0, 256, (40, 50), dtype=np.uint8)
    >>> scores = cv2.matchTemplate(image, image[10:18, 20:30], cv2.TM_CCOEFF_NORMED)
    >>> np.unravel_index(scores.argmax(), scores.shape)
    (np.int64(10), np.int64(20))
    """
    given = [array for array in (image, templ, result, mask) if array.__class__.__name__ == "UMat"]
    if given:
        pixels, part, cover = (array.get() if array.__class__.__name__ == "UMat" else array for array in (image, templ, mask))
        found = umats(lambda _: matchTemplate(pixels, part, method, mask=cover), given[0], (result,))
        assert found
        return found[0]
    pixels, part = as_image(image), as_image(templ)
    kind = whole(method, "method")
    if not c.TM_SQDIFF <= kind <= c.TM_CCOEFF_NORMED:
        raise error(f"method must be one from TM_SQDIFF to TM_CCOEFF_NORMED, got {method}")
    if pixels.dtype != part.dtype or pixels.dtype not in (np.uint8, np.float32) or pixels.shape[2:] != part.shape[2:]:
        raise error(f"image and templ must both be uint8 or float32 with the same channels, got {pixels.dtype} with shape {pixels.shape} and {part.dtype} with shape {part.shape}")
    if part.size == 0 or pixels.size == 0:
        raise error(f"image and templ must not be empty, got shapes {pixels.shape} and {part.shape}")
    if mask is None and all(m >= n for n, m in zip(pixels.shape[:2], part.shape[:2])):
        pixels, part = part, pixels  # the smaller one is searched for
    if any(m > n for n, m in zip(pixels.shape[:2], part.shape[:2])):
        raise error(f"templ must fit in the image of shape {pixels.shape}, got shape {part.shape}")
    many = pixels.ndim == 3 and pixels.shape[2] > 4
    if many and (kind in (c.TM_CCOEFF, c.TM_CCOEFF_NORMED) or mask is None and kind != c.TM_CCORR):
        raise error(f"image must have at most 4 channels, except for TM_CCORR, or with a mask for all but TM_CCOEFF and TM_CCOEFF_NORMED, got {pixels.shape[2]}")
    shape = tuple(n - m + 1 for n, m in zip(pixels.shape[:2], part.shape[:2]))
    out = reuse(result, shape, _FLOAT, "result")
    scores = new_image(shape, _FLOAT) if out is None else out
    cover = None if mask is None else _mask(mask, part)
    if cover is not None and (many or kind not in _DIRECT or cover.dtype != np.uint8):
        scores[...] = _weighted(pixels, part, cover, kind)
        return handed(scores, result, out)
    if many:
        scores[...] = _weighted(pixels, part, np.ones(part.shape[:2], np.uint8), kind)
        return handed(scores, result, out)
    counted = part if cover is None else part[cover != 0]
    axes = (0, 1) if cover is None else (0,)
    if kind == c.TM_CCOEFF_NORMED and (counted.max(axes, initial=0) == counted.min(axes, initial=255 if counted.size == 0 else counted.max())).all():
        scores[...] = 1  # as in OpenCV, for a flat template
    elif kind == c.TM_CCORR_NORMED and not counted.any():
        scores[...] = 0
    elif kind in _DIRECT:
        match(pixels, part, _DIRECT[kind], mask=cover, out=scores)
    else:
        scores[...] = _correlation(pixels, part, kind)
    return handed(scores, result, out)


def _mask(mask: Any, part: np.ndarray) -> np.ndarray:
    cover = as_image(mask)
    if cover.shape[:2] != part.shape[:2] or cover.shape != part.shape and cover.ndim != 2:
        raise error(f"mask must have the shape of the template, {part.shape}, got {cover.shape}")
    if cover.dtype not in (np.uint8, np.float32):
        raise error(f"mask must have type uint8 or float32, got {cover.dtype}")
    same = cover.ndim == 2 or bool((cover == cover[:, :, :1]).all())
    if not same or cover.dtype == np.float32 and not np.isin(cover, (0, 1)).all():
        return cover.astype(np.float64) if cover.dtype == np.float32 else (cover != 0).astype(np.float64)
    return np.ascontiguousarray((cover if cover.ndim == 2 else cover[:, :, 0]) != 0).view(np.uint8)


def _weighted(pixels: np.ndarray, part: np.ndarray, weights: np.ndarray, kind: int) -> np.ndarray:
    """Return the scores with a mask of any weights, in float64, as OpenCV computes them."""
    h, w = part.shape[:2]
    shape = (pixels.shape[0] - h + 1, pixels.shape[1] - w + 1)
    image, templ = (np.atleast_3d(a).astype(np.float64) for a in (pixels, part))
    m = np.broadcast_to(np.atleast_3d(weights), templ.shape).astype(np.float64)
    if not np.isfinite(m).all() or not np.isfinite(templ[m != 0]).all():
        raise error("templ and mask must be finite")
    templ = np.where(m != 0, templ, 0)
    whole_numbers = pixels.dtype == np.uint8 and not (m % 1).any()

    def correlated(values: np.ndarray, pattern: np.ndarray) -> np.ndarray:
        """Return the sums of products at every position, by channel."""
        size = values.shape[:2]
        spectrum = np.fft.rfft2(values, axes=(0, 1)) * np.fft.rfft2(pattern, size, (0, 1)).conj()
        sums = np.fft.irfft2(spectrum, size, (0, 1))[: shape[0], : shape[1]]
        return np.rint(sums) if whole_numbers and not (pattern % 1).any() and not (values % 1).any() else sums

    odd = ~np.isfinite(image)
    if odd.any():  # a transform would spread it from its own windows to all
        scores = _weighted(np.where(odd, 0, image).reshape(pixels.shape), part, weights, kind)
        return np.where((correlated(odd.astype(np.float64), (m != 0).astype(np.float64)) > 0.5).any(-1), np.nan, scores)

    def ratio(over: np.ndarray, under: np.ndarray) -> np.ndarray:
        """Return a score, or 0 where there is nothing to divide by."""
        return np.clip(np.divide(over, under, out=np.zeros_like(over), where=under > tiny), -1, 1)

    norm, tiny = ((templ * m) ** 2).sum(), 1e-7
    if kind in (c.TM_CCOEFF, c.TM_CCOEFF_NORMED):
        all_weights = m.sum((0, 1))
        means = np.divide((m * templ).sum((0, 1)), all_weights, out=np.zeros_like(all_weights), where=all_weights != 0)
        pattern = m * (templ - means)
        center = image.mean((0, 1))  # scores do not depend on it
        image = image - center
        sums = correlated(image, m)
        inside = np.divide(sums, all_weights, out=np.zeros_like(sums), where=all_weights != 0)
        products = (correlated(image, pattern * m) - (pattern * m).sum((0, 1)) * inside).sum(-1)
        if kind == c.TM_CCOEFF:
            return products
        spread = correlated(image * image, m * m) - 2 * correlated(image, m * m) * inside + (m * m).sum((0, 1)) * inside**2
        return ratio(products, np.sqrt((pattern**2).sum() * np.maximum(spread.sum(-1), 0)))
    products = correlated(image, templ * m * m).sum(-1)
    if kind == c.TM_CCORR:
        return products
    squares = np.maximum(correlated(image * image, m * m).sum(-1), 0)
    if kind == c.TM_CCORR_NORMED:
        return ratio(products, np.sqrt(norm * squares))
    differences = np.maximum(squares - 2 * products + norm, 0)
    if kind == c.TM_SQDIFF:
        return differences
    scale = np.sqrt(norm * squares)
    return np.divide(differences, scale, out=np.ones_like(scale), where=scale > tiny)


def _correlation(pixels: np.ndarray, part: np.ndarray, kind: int) -> np.ndarray:
    """Derive scores from squared differences and sums of windows."""
    h, w = part.shape[:2]
    inside = (slice(h // 2, h // 2 + pixels.shape[0] - h + 1), slice(w // 2, w // 2 + pixels.shape[1] - w + 1))

    def sums(values: np.ndarray) -> np.ndarray:
        total = np.empty(values.shape)
        run(b"sum", values, total, (w, h), "clip", 0, None)
        return total[inside]

    exact = part.astype(np.float64)
    differences = match(pixels, part, "ssd").astype(np.float64)
    squares = sums(np.multiply(pixels, pixels, dtype=np.uint16 if pixels.itemsize == 1 else np.float64))
    squares = squares if squares.ndim == 2 else squares.sum(-1)
    if kind == c.TM_SQDIFF_NORMED:
        scale = np.sqrt(squares * (exact * exact).sum())
        # OpenCV returns at most 1, and 1 where the window is black.
        return np.minimum(np.divide(differences, scale, out=np.ones_like(scale), where=scale > 0), 1)
    products = (squares + (exact * exact).sum() - differences) / 2
    if kind == c.TM_CCOEFF:
        both = sums(pixels) * exact.mean((0, 1))
        products -= both if both.ndim == 2 else both.sum(-1)
    return products
