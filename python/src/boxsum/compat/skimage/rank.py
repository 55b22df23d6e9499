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
        raise ValueError(f"image of shape {np.shape(image)} is empty")
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
    """Stretch the range of each window to all levels, like ``skimage.filters.rank.autolevel``.

    Parameters
    ----------
    image : ndarray
        Image of uint8 or uint16 with two axes. Others require scikit-image.
    footprint : array_like
        The shape of the window: its pixels are those where `footprint` is greater than 0.
    out : ndarray, optional
        Destination, of the type and shape of the result. By default, a new array is allocated.
    mask : ndarray, optional
        Only pixels where `mask` is greater than 0 count. By default, all do.
    shift_x, shift_y, shift_z : int, default 0
        Shift of the footprint's center.

    Returns
    -------
    out : ndarray
        The stretched image, of the type and shape of `image`. If a pixel that does not count
        lies outside the range of those that count, its result wraps.

    Raises
    ------
    ValueError
        If the image is empty, or `mask` or `out` has the wrong shape.
    ImportError
        If only scikit-image supports the arguments, and it is not installed.

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
    """Compute Shannon's entropy of each window in bits, like ``skimage.filters.rank.entropy``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y, shift_z
        As for :func:`autolevel`.

    Returns
    -------
    out : ndarray
        The entropies, of float64.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.entropy(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3))).round(2)
    array([[2.  , 2.25, 1.79, 0.81],
           [2.  , 2.25, 1.79, 0.81]])
    """
    return _filter("entropy", "entropy", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def equalize(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Equalize the histogram around every pixel, like ``skimage.filters.rank.equalize``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y, shift_z
        As for :func:`autolevel`.

    Returns
    -------
    out : ndarray
        The equalized image.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.equalize(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3)))
    array([[ 63, 127, 212, 191],
           [127, 170, 212, 255]], dtype=uint8)
    """
    return _filter("equalize", "equalize", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def gradient(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the maximum of each window less its minimum, like ``skimage.filters.rank.gradient``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y, shift_z
        As for :func:`autolevel`.

    Returns
    -------
    out : ndarray
        The differences of maximum and minimum.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.gradient(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3)))
    array([[12, 20, 70, 60],
           [12, 20, 70, 60]], dtype=uint8)
    """
    return _filter("gradient", "gradient", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def majority(image: Any, footprint: Any, *, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the most frequent level of each window, like ``skimage.filters.rank.majority``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y, shift_z
        As for :func:`autolevel`.

    Returns
    -------
    out : ndarray
        The most frequent level of each window; if there are several, the lowest.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.majority(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3)))
    array([[10, 30, 30, 30],
           [10, 30, 30, 30]], dtype=uint8)
    """
    return _filter("majority", "majority", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def maximum(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the maximum of each window, like ``skimage.filters.rank.maximum``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y, shift_z
        As for :func:`autolevel`.

    Returns
    -------
    out : ndarray
        The maxima.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.maximum(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3)))
    array([[22, 30, 90, 90],
           [22, 30, 90, 90]], dtype=uint8)
    """
    return _filter("maximum", "maximum", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def mean(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the mean of each window, rounded down, like ``skimage.filters.rank.mean``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y, shift_z
        As for :func:`autolevel`.

    Returns
    -------
    out : ndarray
        The means.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.mean(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3)))
    array([[16, 20, 37, 45],
           [16, 20, 37, 45]], dtype=uint8)
    """
    return _filter("mean", "mean", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def mean_bilateral(
    image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, s0: int = 10, s1: int = 10
) -> Any:
    """Compute the mean of similar pixels in each window, like ``skimage.filters.rank.mean_bilateral``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y
        As for :func:`autolevel`.
    s0, s1 : int, default 10
        Only pixels greater than the middle one less `s1`, and less than the middle one plus `s0`,
        are averaged.

    Returns
    -------
    out : ndarray
        The means, rounded down.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.mean_bilateral(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3)))
    array([[11, 18, 28, 30],
           [14, 25, 28, 90]], dtype=uint8)
    """
    limits = [int(min(max(s, 0), 1 << 16)) for s in (s1, s0)]
    return _filter("mean_bilateral", "bilateral-mean", image, footprint, out, mask, shift_x, shift_y, 0.0, *limits, s0=s0, s1=s1)


def median(image: Any, footprint: Any = None, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the median of each window, like ``skimage.filters.rank.median``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y, shift_z
        As for :func:`autolevel`.
        The default footprint has 3 pixels on a side.

    Returns
    -------
    out : ndarray
        The medians. If the number of pixels is even, they are the upper of the two middle values.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.median(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3)))
    array([[20, 22, 30, 30],
           [20, 22, 30, 30]], dtype=uint8)
    """
    if footprint is None:
        footprint = np.ones((3,) * np.ndim(image), np.uint8)
    return _filter("median", "percentile", image, footprint, out, mask, shift_x, shift_y, 0.5, **_volume(image, shift_z))


def minimum(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the minimum of each window, like ``skimage.filters.rank.minimum``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y, shift_z
        As for :func:`autolevel`.

    Returns
    -------
    out : ndarray
        The minima.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.minimum(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3)))
    array([[10, 10, 20, 30],
           [10, 10, 20, 30]], dtype=uint8)
    """
    return _filter("minimum", "minimum", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def modal(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the most frequent level of each window, like ``skimage.filters.rank.modal``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y, shift_z
        As for :func:`autolevel`.

    Returns
    -------
    out : ndarray
        The most frequent level of each window; if there are several, the lowest.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.modal(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3)))
    array([[10, 30, 30, 30],
           [10, 30, 30, 30]], dtype=uint8)
    """
    return _filter("modal", "majority", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def otsu(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute Otsu's threshold of each window, like ``skimage.filters.rank.otsu``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y, shift_z
        As for :func:`autolevel`.

    Returns
    -------
    out : ndarray
        The thresholds, of the type and shape of `image`.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.otsu(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3)))
    array([[12, 12, 30, 30],
           [12, 12, 30, 30]], dtype=uint8)
    """
    return _filter("otsu", "otsu", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def percentile(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, p0: float = 0) -> Any:
    """Compute a percentile of each window, like ``skimage.filters.rank.percentile``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y
        As for :func:`autolevel`.
    p0 : float, default 0
        The percentile as a fraction, from 0 to 1.

    Returns
    -------
    out : ndarray
        The percentiles.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.percentile(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3)), p0=0.5)
    array([[20, 22, 30, 30],
           [20, 22, 30, 30]], dtype=uint8)
    """
    return _filter("percentile", "percentile", image, footprint, out, mask, shift_x, shift_y, float(p0), p0=p0)


def subtract_mean(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Subtract the mean of each window, like ``skimage.filters.rank.subtract_mean``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y, shift_z
        As for :func:`autolevel`.

    Returns
    -------
    out : ndarray
        The differences between each pixel and its mean, halved, plus half of the number of levels.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.subtract_mean(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3)))
    array([[124, 126, 123, 119],
           [125, 127, 123, 149]], dtype=uint8)
    """
    return _filter("subtract_mean", "subtract-mean", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def sum(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compute the sum of each window, modulo the range of a pixel, like ``skimage.filters.rank.sum``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y, shift_z
        As for :func:`autolevel`.

    Returns
    -------
    out : ndarray
        The sums, modulo 256 for uint8 and 65536 for uint16.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.sum(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3)))
    array([[ 64, 124, 222, 180],
           [ 64, 124, 222, 180]], dtype=uint8)
    """
    return _filter("sum", "sum", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def threshold(image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, shift_z: int = 0) -> Any:
    """Compare each pixel with the mean of its window, like ``skimage.filters.rank.threshold``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y, shift_z
        As for :func:`autolevel`.

    Returns
    -------
    out : ndarray
        1 where the pixel is greater than the mean, and 0 elsewhere.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.threshold(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3)))
    array([[0, 0, 0, 0],
           [0, 1, 0, 1]], dtype=uint8)
    """
    return _filter("threshold", "threshold", image, footprint, out, mask, shift_x, shift_y, **_volume(image, shift_z))


def windowed_histogram(
    image: Any, footprint: Any, out: Any = None, mask: Any = None, shift_x: int = 0, shift_y: int = 0, n_bins: int | None = None
) -> Any:
    """Compute the histogram of each window, like ``skimage.filters.rank.windowed_histogram``.

    Parameters
    ----------
    image, footprint, out, mask, shift_x, shift_y
        As for :func:`autolevel`.
    n_bins : int, optional
        Number of levels. The default is one more than the greatest pixel.

    Returns
    -------
    out : ndarray of float64, shape (H, W, n_bins)
        The fraction of the window's pixels at each level.

    Raises
    ------
    ValueError, ImportError
        As for :func:`autolevel`.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat.skimage import rank
    >>> rank.windowed_histogram(np.array([[10, 20, 30, 30], [12, 22, 30, 90]], np.uint8), np.ones((3, 3))).shape
    (2, 4, 91)
    """
    if n_bins is None:
        n_bins = int(image.max()) + 1
    return _filter("windowed_histogram", "histogram", image, footprint, out, mask, shift_x, shift_y, bins=n_bins, n_bins=n_bins)
