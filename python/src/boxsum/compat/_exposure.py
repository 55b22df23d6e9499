"""scikit-image's exposure: see :mod:`boxsum.compat.skimage`."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from .._filters import call_with_copies

_GRAYS = 1 << 14
_TYPES = [np.dtype(t) for t in ("?", "u1", "u2", "f4", "f8")]


def equalize_adapthist(image: Any, kernel_size: Any = None, clip_limit: float = 0.01, nbins: int = 256) -> np.ndarray:
    """Equalize contrast locally, like ``skimage.exposure.equalize_adapthist``.

    Parameters
    ----------
    image : array_like
        Gray image of bool, uint8, uint16, float32 or float64, the latter between -1 and 1. Other
        types and other numbers of axes, RGB among them, require scikit-image.
    kernel_size : int or sequence of int, optional
        Size of the tiles; by default an eighth of the image.
    clip_limit : float, default 0.01
        Limit of a histogram bin as a fraction of the pixels of a tile; 0 means no limit.
    nbins : int, default 256
        Number of bins.

    Returns
    -------
    equalized : ndarray
        The image, of values from 0 to 1: float32 for float32, and float64 otherwise.

    Raises
    ------
    ValueError
        If the image is empty or has other values, or a number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import skimage
    >>> image = np.linspace(0.4, 0.6, 400).reshape(20, 20)
    >>> made = skimage.equalize_adapthist(image)
    >>> float(made.min()), float(made.max())
    (0.0, 1.0)
    """
    image = np.asarray(image)
    if image.ndim == 3 and image.shape[2] in (3, 4) and image.dtype in _TYPES:
        return _colors(image, kernel_size, clip_limit, nbins)
    if image.ndim != 2 or image.dtype not in _TYPES:
        from skimage.exposure import equalize_adapthist as original

        made: np.ndarray = original(image, kernel_size, clip_limit, nbins)
        return made
    if image.size == 0:
        raise ValueError(f"image of shape {image.shape} is empty")
    kind = np.dtype(np.float32 if image.dtype == np.float32 else np.float64)
    grays = np.ascontiguousarray(np.round(_rescaled(_as_uint16(image), 0, _GRAYS - 1)), np.uint16)
    if kernel_size is None:
        kernel_size = tuple(max(n // 8, 1) for n in image.shape)
    elif isinstance(kernel_size, numbers.Number):
        kernel_size = (kernel_size,) * 2
    elif len(kernel_size) != 2:
        raise ValueError(f"Incorrect value of `kernel_size`: {kernel_size}")
    height, width = (int(n) for n in kernel_size)
    made = np.empty_like(grays)
    call_with_copies((made,), "adapt_histogram", grays, made, width, height, float(clip_limit), int(nbins), 0)
    return _rescaled(made.astype(kind), 0, 1)


def _as_uint16(image: np.ndarray) -> np.ndarray:
    """Return the image as scikit-image's img_as_uint does."""
    if image.dtype == np.uint16:
        return image
    if image.dtype == np.uint8:
        return image.astype(np.uint16) * 257
    if image.dtype.kind == "b":
        return image.astype(np.uint16) * 65535
    if not (image.min() >= -1 and image.max() <= 1):
        raise ValueError("Images of type float must be between -1 and 1.")
    return np.clip(np.rint(image * image.dtype.type(65535)), 0, 65535).astype(np.uint16)


def _rescaled(image: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the image scaled to a range, like ``skimage.exposure.rescale_intensity``."""
    least, most = (image.min().astype(float), image.max().astype(float)) if image.dtype.kind == "u" else (image.min(), image.max())
    if least == most:
        return np.clip(image, low, high)
    return (image - least) / (most - least) * (high - low) + low


def _colors(image: np.ndarray, kernel_size: Any, clip_limit: float, nbins: int) -> np.ndarray:
    """Equalize V of HSV, as scikit-image does."""
    from skimage.color.adapt_rgb import adapt_rgb, hsv_value

    def plane(values: np.ndarray) -> np.ndarray:
        size = kernel_size[:2] if np.ndim(kernel_size) else kernel_size
        return equalize_adapthist(values, size, clip_limit, nbins)

    adapted: Any = adapt_rgb(hsv_value)  # type: ignore[no-untyped-call]
    return adapted(plane)(image)
