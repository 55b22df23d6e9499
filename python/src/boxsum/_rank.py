"""Filters from the histogram of the window around every pixel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from . import _valid
from ._arguments import same_type, thread_count
from ._filters import call_with_copies, native_of, on_cuda, only_there, real, result_for, run_there, sides
from ._foreign import as_given, on_host
from ._types import whole
from ._typing import Image, Pair, Sides

_LEVELS = 1 << 16  # of 16-bit pixels
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def rank_filter(
    a: Image,
    statistic: str,
    window: Sides | None = None,
    *,
    footprint: Any = None,
    shift: Pair = (0, 0),
    fraction: float = 0.5,
    below: int = 10,
    above: int = 10,
    levels: int | None = None,
    bins: int = 256,
    mask: Any = None,
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
) -> ndarray:
    """Compute a statistic of the window around every pixel, as in scikit-image's ``filters.rank``.

    Windows end at the edges of the image.

    Parameters
    ----------
    a : array_like of uint8 or uint16, shape (H, W) or (H, W, C)
        Input image. CuPy and PyTorch arrays on a CUDA device are filtered there by
        ``"mean"`` and, if they are of uint8, by ``"percentile"``, ``"minimum"``,
        ``"maximum"`` and ``"equalize"``, without `footprint` and `mask`.
    statistic : str
        The statistic to compute. Below, g is the pixel in the middle of a window, n the number
        of pixels that count, and L the number of levels.

        - ``"minimum"``, ``"maximum"``, and ``"gradient"``, their difference
        - ``"percentile"``: the smallest level such that more than `fraction` of the pixels
          do not exceed it
        - ``"majority"``: the most frequent level; if there are several, the lowest
        - ``"mean"``, rounded down, and ``"sum"``, modulo 256 or 65536
        - ``"threshold"``: 1 if g exceeds the mean, and 0 otherwise
        - ``"subtract-mean"``: (g − mean)/2 + L/2 − 1
        - ``"autolevel"``: g, after the range of the window is stretched to all levels
        - ``"equalize"``: local histogram equalization, (L - 1) c / n, where c is the number
          of pixels that do not exceed g
        - ``"otsu"``: Otsu's threshold
        - ``"bilateral-mean"``: the mean of pixels greater than g - `below` and less than g + `above`
        - ``"entropy"``: Shannon's entropy in bits, a float
        - ``"histogram"``: the fraction of pixels at each of the lowest `bins` levels, as
          floats along an additional axis
    window : int or tuple of int, optional
        Side of the windows, or a pair of sides, horizontal and vertical.
    footprint : array_like, shape (h, w), optional
        Array that is not zero for the pixels of a window. It replaces `window`.
    shift : tuple of int, default (0, 0)
        Number of pixels by which windows are shifted to the right and down.
    fraction : float, default 0.5
        Fraction for ``"percentile"``, from 0 to 1.
    below, above : int, default 10
        Distances for ``"bilateral-mean"``.
    levels : int, optional
        Number of levels of uint16 images, such as 4096. The default is one more than the
        greatest pixel, but at least 4.
    bins : int, default 256
        Number of levels of ``"histogram"``.
    mask : array_like, optional
        Pixels count only where the mask is not zero. Its shape is (H, W) or that of `a`. Masked
        elements of masked arrays do not count either. Results are computed for all pixels; they
        are 0 if no pixel of the window counts.
    dtype : dtype, optional
        Type of entropies and histograms, float64 by default, or float32.
    out : array, optional
        Destination, of the type and shape of the result; may be `a` itself.
    workers : int, optional
        Maximum number of threads. The default is one per available CPU.

    Returns
    -------
    result : array
        The statistics, of the type and shape of `a`, except for floats. Histograms have shape
        ``a.shape + (bins,)``.

    Raises
    ------
    TypeError
        If the pixel type is not supported.
    ValueError
        If `a` does not have the shape (H, W) or (H, W, C), a number is out of range, or
        `out` has the wrong shape.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.array([[10, 10, 12, 90, 91], [10, 11, 12, 90, 95]], np.uint8)
    >>> boxsum.rank_filter(image, "otsu", 3)[0]
    array([10, 10, 12, 12, 91], dtype=uint8)
    >>> boxsum.rank_filter(image, "equalize", 3)[0]
    array([191, 127, 170, 170, 191], dtype=uint8)
    """
    if not isinstance(statistic, str):
        raise TypeError(f"statistic must be the name of a statistic, such as 'percentile', got {statistic!r}")
    kind = on_cuda(a)
    if kind is not None:
        only_there(footprint=footprint, mask=mask)
        if window is None:
            raise ValueError("window is required for arrays on a CUDA device, got None")
        area = sides(window, "window")
        return run_there(kind, "rank_device", a, out, None, None, *area, *_offset(shift), real(fraction, "fraction"), before=(statistic.encode(),))
    array: Any = a
    hidden = np.ma.getmask(array)
    image = on_host(array.data if isinstance(array, np.ma.MaskedArray) else array)
    if image.ndim not in (2, 3):
        raise ValueError(f"image must have shape (H, W) or (H, W, C), got {image.shape}")
    native = native_of(image)
    if native not in (np.uint8, np.uint16):
        raise TypeError(f"pixels of {image.dtype} cannot be ranked, want uint8 or uint16")
    shown: Any = None if mask is None else _valid.as_mask(mask, image.shape)
    if hidden is not np.ma.nomask:
        counted = (~hidden).view(np.uint8)
        shown = counted if shown is None else counted * (shown.reshape(shown.shape + (1,) * (image.ndim - shown.ndim)) != 0)
    if (window is None) == (footprint is None):
        raise ValueError(f"either window or footprint must be given, got {'neither' if window is None else 'both'}")
    place: ndarray | None = None
    if window is not None:
        shape = sides(window, "window")
    else:
        given: ndarray = np.asarray(on_host(footprint))
        place = (given > 0).astype(np.uint8)
        if place.ndim != 2 or place.size == 0:
            raise ValueError(f"footprint must have two axes, none of them empty, got {place.shape}")
        shape = place.shape[1], place.shape[0]
    offset = _offset(shift)
    grays = 0 if levels is None else whole(levels, "levels", 1, _LEVELS)
    numbers = (real(fraction, "fraction"), whole(below, "below", 0, _LEVELS), whole(above, "above", 0, _LEVELS))
    result = _result(image, native, statistic, whole(bins, "bins", 1, _LEVELS), dtype, out)
    filter_ranks(statistic, image, result, shape, offset, place, shown, grays, *numbers, bins=int(bins), workers=thread_count(workers))
    return as_given(result, out, a)


def _offset(shift: Any) -> tuple[int, ...]:
    """Return the shift of a window."""
    if np.shape(shift) != (2,):
        raise ValueError(f"shift must be two numbers (horizontal, vertical), got {shift!r}")
    return tuple(whole(n, "shift", -(1 << 30), 1 << 30) for n in shift)


def _result(image: ndarray, native: np.dtype, statistic: str, bins: int, dtype: Any, out: Any) -> ndarray:
    """Return the destination of a statistic."""
    if statistic not in ("entropy", "histogram"):
        if dtype is not None and np.dtype(dtype) != native:
            raise TypeError(f"dtype must be {native} like the image, got {np.dtype(dtype)}")
        return result_for(image, native, out)
    if out is not None and hasattr(out, "dtype"):
        dtype = same_type(dtype, on_host(out).dtype)
    wanted = np.dtype(np.float64 if dtype is None else dtype)
    if wanted not in _FLOATS:
        raise TypeError(f"{'dtype' if out is None else 'the type of out'} must be float32 or float64, got {wanted}")
    return result_for(image, wanted, out, image.shape + (bins,) if statistic == "histogram" else None)


def filter_ranks(
    statistic: str, image: ndarray, result: ndarray, window: tuple[int, ...], shift: tuple[int, ...], footprint: ndarray | None, mask: ndarray | None,
    levels: int = 0, fraction: float = 0.5, below: int = 0, above: int = 0, *, bins: int = 1, wraps: bool = False, workers: int = 0,
) -> None:  # fmt: skip
    """Compute a statistic of an image into another array."""
    flat = result
    if statistic == "histogram":  # one channel for each bin
        flat = result.view()
        flat.shape = (*image.shape[:2], int(np.prod(result.shape[2:])))
    if footprint is not None:
        footprint = np.ascontiguousarray(footprint)
    call_with_copies(
        (flat,), "rank", statistic.encode(), image, flat, *window, *shift, footprint, mask, levels, fraction, below, above, bins, int(wraps), workers
    )
