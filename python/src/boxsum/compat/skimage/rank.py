"""scikit-image's ``filters.rank``: local filters of gray levels.

    from boxsum.compat.skimage import rank
    clear = rank.equalize(image, footprint)

autolevel, equalize, gradient, majority, maximum, mean, mean_bilateral, median, minimum, modal, \
otsu, percentile, subtract_mean, sum, threshold, windowed_histogram
    Identical, for images of uint8 and uint16 with two axes, with masks and footprints. There
    are no warnings about many levels.
entropy
    Within 1e-12.

Images of other types, volumes, and results of other types require scikit-image. Every other name
of the module, such as ``pop``, is scikit-image's.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ..._rank import filter_ranks

__all__ = [
    "autolevel",
    "entropy",
    "equalize",
    "gradient",
    "majority",
    "maximum",
    "mean",
    "mean_bilateral",
    "median",
    "minimum",
    "modal",
    "otsu",
    "percentile",
    "subtract_mean",
    "sum",
    "threshold",
    "windowed_histogram",
]


def _theirs() -> Any:
    return importlib.import_module("skimage.filters.rank")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(_theirs(), name)
    except ImportError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}, and scikit-image is not installed") from None


def __dir__() -> list[str]:
    return __all__


def _filter(name: str, statistic: str, image: Any, footprint: Any, out: Any, mask: Any, shift_x: int, shift_y: int, *numbers: Any, bins: int = 0, **named: Any) -> Any:
    """Filter an image, by scikit-image if only that can."""
    if np.size(image) == 0:
        raise ValueError("image is empty")
    _check_shapes(np.shape(image), out, mask, bins if statistic == "histogram" else 0)
    result = None
    if isinstance(image, np.ndarray) and image.ndim == 2 and image.dtype in (np.uint8, np.uint16) and isinstance(footprint, (np.ndarray, list)):
        result = _ours(statistic, image, np.asarray(footprint), out, mask, shift_x, shift_y, numbers, bins)
    if result is None:
        return getattr(_theirs(), name)(image, footprint, out=out, mask=mask, shift_x=shift_x, shift_y=shift_y, **named)
    return result


def _check_shapes(shape: tuple[int, ...], out: Any, mask: Any, bins: int) -> None:
    """Raise a ValueError for arrays beyond whose end scikit-image would read or write."""
    if mask is not None and np.shape(mask) != shape:
        raise ValueError(f"mask must have shape {shape}, got {np.shape(mask)}")
    wanted = (*shape, bins) if bins else shape
    if out is not None and np.shape(out) != wanted:
        raise ValueError(f"out must have shape {wanted}, got {np.shape(out)}")


def _ours(statistic: str, image: np.ndarray, footprint: np.ndarray, out: Any, mask: Any, shift_x: int, shift_y: int, numbers: Any, bins: int) -> Any:
    """Return the result, or None for arguments that scikit-image accepts in its own way, or refuses."""
    dtype = np.dtype(np.float64) if statistic in ("entropy", "histogram") else image.dtype
    shape = image.shape + (bins,) if statistic == "histogram" else image.shape
    height, width = footprint.shape if footprint.ndim == 2 else (0, 0)
    if not (0 <= width // 2 + shift_x < width and 0 <= height // 2 + shift_y < height):
        return None
    if out is not None and (out is image or not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype or not out.flags.c_contiguous):
        return None
    if mask is not None:
        mask = np.asarray(mask)
        if mask.dtype not in (np.bool_, np.uint8):
            return None
        mask = np.ascontiguousarray(mask).view(np.uint8)
    place = (footprint > 0).view(np.uint8)
    result = np.empty(shape, dtype) if out is None else out
    whole = None if place.all() else place
    filter_ranks(statistic, image, result, (width, height), (-shift_x, -shift_y), whole, mask, 0, *numbers, bins=max(bins, 1), wraps=True)
    return result


def autolevel(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Stretch the range of each window to all levels, as ``skimage.filters.rank.autolevel``.

    Parameters
    ----------
    image : ndarray
        Input image.
    footprint : array_like
        Greater than 0 for the pixels of a window.
    out : ndarray, optional
        Destination.
    mask : ndarray, optional
        Greater than 0 for the pixels that count.
    shift_x, shift_y, shift_z : int, optional
        Shift of the footprint's center.

    Returns
    -------
    out : ndarray
        The image. Pixels beyond the range of the pixels that count wrap.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.autolevel(np.array([[10, 20, 30]], np.uint8), np.ones((3, 3)))
    array([[  0, 127, 255]], dtype=uint8)
    """
    return _filter("autolevel", "autolevel", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def _volume(image: Any, shift_z: int) -> dict[str, int]:
    """Return the argument that only scikit-image uses."""
    return {"shift_z": shift_z} if np.ndim(image) == 3 else {}


def entropy(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute Shannon's entropy of each window in bits, as ``skimage.filters.rank.entropy``.

    The parameters are those of :func:`autolevel`. The result is float64.
    """
    return _filter("entropy", "entropy", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def equalize(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Equalize the histogram around every pixel, as ``skimage.filters.rank.equalize``.

    The parameters are those of :func:`autolevel`.
    """
    return _filter("equalize", "equalize", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def gradient(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the maximum of each window less its minimum, as ``skimage.filters.rank.gradient``.

    The parameters are those of :func:`autolevel`.
    """
    return _filter("gradient", "gradient", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def majority(image: Any, footprint: Any, *, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the most frequent level of each window, as ``skimage.filters.rank.majority``.

    The parameters are those of :func:`autolevel`. The result is the lowest of several levels.
    """
    return _filter("majority", "majority", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def maximum(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the maximum of each window, as ``skimage.filters.rank.maximum``.

    The parameters are those of :func:`autolevel`.
    """
    return _filter("maximum", "maximum", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def mean(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the mean of each window, rounded down, as ``skimage.filters.rank.mean``.

    The parameters are those of :func:`autolevel`.
    """
    return _filter("mean", "mean", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def mean_bilateral(
    image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, s0: int = 10, s1: int = 10
) -> Any:
    """Compute the mean of the similar pixels of each window, as ``skimage.filters.rank.mean_bilateral``.

    The parameters are those of :func:`autolevel`. Pixels greater than that in the middle less
    `s1` and less than that plus `s0` count.
    """
    limits = [int(min(max(s, 0), 1 << 16)) for s in (s1, s0)]
    return _filter("mean_bilateral", "bilateral-mean", image, footprint, out, mask, shift_x, shift_y, 0.0, *limits, s0=s0, s1=s1)


def median(image: Any, footprint: Any = None, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the median of each window, the upper one of two, as ``skimage.filters.rank.median``.

    The parameters are those of :func:`autolevel`. Without `footprint`, windows have a side of 3.
    """
    if footprint is None:
        footprint = np.ones((3,) * np.ndim(image), np.uint8)
    return _filter("median", "percentile", image, footprint, out, mask, shift_x, shift_y, 0.5, **_volume(image, shift_z))


def minimum(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the minimum of each window, as ``skimage.filters.rank.minimum``.

    The parameters are those of :func:`autolevel`.
    """
    return _filter("minimum", "minimum", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def modal(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the most frequent level of each window, as ``skimage.filters.rank.modal``.

    The parameters are those of :func:`autolevel`. The result is the lowest of several levels.
    """
    return _filter("modal", "majority", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def otsu(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute Otsu's threshold of each window, as ``skimage.filters.rank.otsu``.

    The parameters are those of :func:`autolevel`.
    """
    return _filter("otsu", "otsu", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def percentile(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, p0: float = 0) -> Any:
    """Compute a percentile of each window, as ``skimage.filters.rank.percentile``.

    The parameters are those of :func:`autolevel`. `p0` is the fraction, from 0 to 1.
    """
    return _filter("percentile", "percentile", image, footprint, out, mask, shift_x, shift_y, float(p0), p0=p0)


def subtract_mean(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Subtract the mean of each window, as ``skimage.filters.rank.subtract_mean``.

    The parameters are those of :func:`autolevel`. The difference is halved, and half of the
    levels are added.
    """
    return _filter("subtract_mean", "subtract-mean", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def sum(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the sum of each window, modulo what a pixel holds, as ``skimage.filters.rank.sum``.

    The parameters are those of :func:`autolevel`.
    """
    return _filter("sum", "sum", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def threshold(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compare each pixel with the mean of its window, as ``skimage.filters.rank.threshold``.

    The parameters are those of :func:`autolevel`. The result is 1 where the pixel is greater.
    """
    return _filter("threshold", "threshold", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def windowed_histogram(
    image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, n_bins: int | None = None
) -> Any:
    """Compute the histogram of each window, as ``skimage.filters.rank.windowed_histogram``.

    The parameters are those of :func:`autolevel`, and `n_bins`, the number of levels, by default
    one more than the greatest pixel. The result has an axis for them.
    """
    if n_bins is None:
        n_bins = int(image.max()) + 1
    return _filter("windowed_histogram", "histogram", image, footprint, out, mask, shift_x, shift_y, bins=n_bins, n_bins=n_bins)
