"""scikit-image's functions: see :mod:`boxsum.compat.skimage`."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any

import numpy as np

from .. import _host
from .._arguments import UPRIGHT, VOLUME, as_boxes
from .._filters import local_mean_std
from .._match import match
from .._native import LayoutError, call
from .._threshold import threshold_map
from ._scipy import uniform_filter


def integral_image(image: Any, *, dtype: Any = None) -> np.ndarray:
    """Compute the inclusive integral image, like ``skimage.transform.integral_image``.

    Entry ``[y, x]`` is the sum of ``image[: y + 1, : x + 1]``.

    Parameters
    ----------
    image : array_like
        Input image; three axes are a volume. NumPy computes the result for other numbers of
        axes, for subclasses such as masked arrays, and for types that only ``numpy.cumsum``
        supports.
    dtype : dtype, optional
        Type of the sums. The default is float64 for floats of up to 64 bits, and that of
        ``numpy.cumsum`` for integers.

    Returns
    -------
    table : ndarray
        A new array of the shape of `image`, without gaps.

    Raises
    ------
    TypeError
        If NumPy cannot add up the elements.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import skimage
    >>> skimage.integral_image(np.ones((2, 3), np.uint8))
    array([[1, 2, 3],
           [2, 4, 6]], dtype=uint64)
    """
    image = np.asanyarray(image)
    wanted = _sum_type(image, dtype)
    kind = {2: UPRIGHT, 3: VOLUME}.get(image.ndim)
    if kind is not None and image.size and type(image) in (np.ndarray, np.memmap):
        try:
            table = _host.tables(image, kind, wanted, False, False, None, None, None)
        except TypeError:
            pass  # a pair of types that this package does not support
        else:
            inclusive = np.empty_like(image, table.dtype, subok=False)  # axes in the image's memory order, without gaps
            inclusive[...] = table[(slice(1, None),) * image.ndim]
            return inclusive
    for axis in range(image.ndim):
        image = image.cumsum(axis=axis, dtype=dtype if dtype is not None else wanted)
    return image


def _sum_type(image: np.ndarray, dtype: Any) -> np.dtype:
    if dtype is not None:
        return np.dtype(dtype)
    if image.dtype.kind in "fc":
        return np.promote_types(image.dtype, np.float64)
    return np.zeros((), image.dtype).reshape(1).cumsum().dtype


def integrate(ii: Any, start: Any, end: Any) -> np.ndarray:
    """Sum the pixels of windows, like ``skimage.transform.integrate``.

    Parameters
    ----------
    ii : array_like
        Integral image, from :func:`integral_image`.
    start, end : array_like of int
        First and last pixel of each window, both included, rows first. Negative numbers
        count from the end.

    Returns
    -------
    sums : ndarray of float64
        The sums, one for each window.

    Raises
    ------
    IndexError
        If a window ends before it starts or outside the table.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import skimage
    >>> ii = skimage.integral_image(np.ones((5, 6)))
    >>> skimage.integrate(ii, [(1, 0), (3, 3)], [(1, 2), (4, 5)])
    array([3., 6.])
    """
    ii = np.asarray(ii)
    start, end = _corners(start, ii), _corners(end, ii)
    if len(start) != len(end) and 1 not in (len(start), len(end)):
        raise ValueError(f"start and end must have the same number of points, got {len(start)} and {len(end)}")
    if len(start) == 1 and len(end) == 0:
        raise IndexError(f"start and end must have the same number of windows, got {len(start)} and {len(end)}")
    if np.any(end < start):
        raise IndexError("end coordinates must be greater or equal to start")
    if len(start) != len(end):
        end = np.ascontiguousarray(np.broadcast_to(end, start.shape)) if len(end) == 1 else end[:1]
    wraps = end < 0  # as array indices do, once; anything before that is outside
    start, end = np.where(wraps, 0, start), np.where(wraps, end + np.array(ii.shape), end)
    if len(end) and (end.min() < 0 or np.any(end >= ii.shape)):
        raise IndexError(f"windows must end inside the table of shape {ii.shape}")
    if ii.dtype.newbyteorder("=").str[1:] not in ("i4", "u4", "i8", "u8", "f4", "f8"):
        ii = ii.astype(np.float64)
    sums = np.empty(len(start))
    try:
        call("windows", ii, start, end, sums, 0)
    except LayoutError:
        call("windows", ii.astype(ii.dtype.newbyteorder("=")), start, end, sums, 0)
    return sums


def _corners(points: Any, ii: np.ndarray) -> np.ndarray:
    """Return corners as rows of int64, counted from the beginning."""
    points = np.atleast_2d(points)
    if points.dtype.kind == "b":
        points = points.astype(np.int64)
    if points.size and points.dtype.kind not in "iu":
        raise TypeError(f"start and end must be integers, got {points.dtype}")
    if points.shape == (1, 0) and ii.ndim == 1:  # with more axes, this is a ValueError
        raise TypeError("start and end must hold integers, got an empty list")
    points = as_boxes(points, ii.ndim)
    if points.ndim != 2:
        raise ValueError(f"start and end must be lists of points, got shape {points.shape}")
    if len(points) and points.min() < 0:
        points = np.where(points < 0, points + np.array(ii.shape), points)
    return points


def threshold_niblack(image: Any, window_size: Any = 15, k: Any = 0.2) -> np.ndarray:
    """Return Niblack thresholds ``m - k s``, like ``skimage.filters.threshold_niblack``.

    Here m and s are the mean and standard deviation of the window around the pixel.

    Parameters
    ----------
    image : array_like
        Input image.
    window_size : int or sequence of int, default 15
        Size of the window, odd along each axis.
    k : float, default 0.2
        Weight of the standard deviation.

    Returns
    -------
    thresholds : ndarray
        The thresholds, float32 for floats of up to 32 bits and float64 otherwise.

    Raises
    ------
    ValueError
        If a side of the window is even or negative, the number of sides differs from the
        number of axes, or the image is empty or complex.
    TypeError
        If a side of the window is not an integer.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import skimage
    >>> skimage.threshold_niblack(np.full((5, 6), 70, np.uint8), 3)[0, 0]
    np.float64(70.0)
    """
    image = np.asarray(image)
    sizes = _windows(image, window_size)
    if _has_map(image, k):
        return _map(image, "niblack", sizes, k=-k)
    m, s = _mean_std(image, sizes)
    return m - k * s


def threshold_sauvola(image: Any, window_size: Any = 15, k: Any = 0.2, r: Any = None) -> np.ndarray:
    """Return Sauvola thresholds ``m (1 + k (s/r - 1))``, like ``skimage.filters.threshold_sauvola``.

    Here m and s are the mean and standard deviation of the window around the pixel.

    Parameters
    ----------
    image : array_like
        Input image.
    window_size : int or sequence of int, default 15
        Size of the window, odd along each axis.
    k : float, default 0.2
        Weight of the standard deviation.
    r : float, optional
        Dynamic range of the standard deviation. The default is half the range of an
        integer type, 0.5 for bool and 1 for floats.

    Returns
    -------
    thresholds : ndarray
        The thresholds, float32 for floats of up to 32 bits and float64 otherwise.

    Raises
    ------
    TypeError, ValueError
        As for :func:`threshold_niblack`.
    KeyError
        If `r` is not given and the type of the image has no range.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import skimage
    >>> skimage.threshold_sauvola(np.full((5, 6), 70, np.uint8), 3)[0, 0]
    np.float64(56.0)
    """
    image = np.asarray(image)
    if r is None:
        r = _half_range(image.dtype)
    sizes = _windows(image, window_size)
    if _has_map(image, k, r) and r > 0:
        return _map(image, "sauvola", sizes, k=k, r=r)
    m, s = _mean_std(image, sizes)
    return m * (1 + k * ((s / r) - 1))


def threshold_local(
    image: Any, block_size: Any = 3, method: str = "gaussian", offset: float = 0, mode: str = "reflect", param: Any = None, cval: float = 0
) -> np.ndarray:
    """Compute a threshold for each pixel from the block around it.

    Parameters
    ----------
    image : array_like
        Input image.
    block_size : int or sequence of int, default 3
        Size of the block around a pixel, odd along each axis.
    method : {"gaussian", "mean", "median", "generic"}, default "gaussian"
        Statistic of the block: the mean weighted by a Gaussian, the mean, the median, or
        the function `param`. All but ``"mean"`` require SciPy.
    offset : float, default 0
        Subtracted from every threshold.
    mode, param, cval
        As for ``skimage.filters.threshold_local``.

    Returns
    -------
    thresholds : ndarray
        The thresholds, float32 for floats of up to 32 bits and float64 otherwise.

    Raises
    ------
    ValueError
        If a side of the block is even, the number of sides differs from the number of axes,
        `method` is unknown, or the image is complex.
    RuntimeError
        If `mode` is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import skimage
    >>> skimage.threshold_local(np.array([[0, 6, 9]], np.uint8), (1, 3), method="mean", offset=1)
    array([[1., 4., 7.]])
    """
    image = np.asarray(image)
    sizes = (block_size,) * image.ndim if np.isscalar(block_size) else tuple(block_size)
    if len(sizes) != image.ndim:
        raise ValueError("len(block_size) must equal image.ndim.")
    if any(size % 2 == 0 for size in sizes):
        raise ValueError(f"block_size must be odd! Given block_size {sizes} contains even values.")
    pixels = image.astype(_float_type(image.dtype), copy=False)
    if method == "mean":
        given = image if image.dtype in (np.uint8, np.uint16) else pixels  # the same result in less time
        return uniform_filter(given, sizes, output=pixels.dtype, mode=mode, cval=cval) - offset
    if method not in ("generic", "gaussian", "median"):
        raise ValueError("Invalid method specified. Please use `generic`, `gaussian`, `mean`, or `median`.")
    from scipy import ndimage

    thresholds = np.zeros(image.shape, pixels.dtype)
    if method == "generic":
        ndimage.generic_filter(pixels, param, sizes, output=thresholds, mode=mode, cval=cval)
    elif method == "median":
        ndimage.median_filter(pixels, sizes, output=thresholds, mode=mode, cval=cval)
    else:
        sigma = tuple((size - 1) / 6 for size in sizes) if param is None else param
        if np.any(np.asarray(sigma) < 0):
            raise ValueError("Sigma values less than zero are not valid")
        ndimage.gaussian_filter(pixels, sigma, output=thresholds, mode=mode, cval=cval, truncate=4)
    return thresholds - offset


def _float_type(dtype: np.dtype) -> np.dtype:
    """Return the type of results: float32 for floats of up to 32 bits, otherwise float64."""
    if dtype.kind == "c":
        raise ValueError("complex valued input is not supported")
    return np.dtype(np.float32 if dtype.kind == "f" and dtype.itemsize <= 4 else np.float64)


def _half_range(dtype: np.dtype) -> float:
    """Return half of the range of a type; scikit-image has a KeyError for those without one."""
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise KeyError(dtype.type)
    if dtype.kind == "f":
        return 1.0
    if dtype.kind == "b":
        return 0.5
    limits = np.iinfo(dtype)
    return 0.5 * (limits.max - limits.min)


def _windows(image: np.ndarray, size: Any) -> tuple[int, ...]:
    sizes = tuple(size) if hasattr(size, "__iter__") else (size,) * image.ndim
    for n in sizes:
        if n % 2 == 0:
            raise ValueError(f"Window size for `threshold_sauvola` or `threshold_niblack` must not be even on any dimension. Got {sizes}")
    _float_type(image.dtype)
    sizes = tuple(operator.index(n) for n in sizes)
    if image.size == 0:
        raise ValueError(f"image of shape {image.shape} is empty")
    if len(sizes) != image.ndim:
        raise (RuntimeError if len(sizes) == 1 else ValueError)(f"window_size is {sizes}, and the image has {image.ndim} axes")
    return sizes


def _has_map(image: np.ndarray, *numbers: Any) -> bool:
    """Report whether the library computes these thresholds.

    Arrays of numbers, and float64 numbers with a float32 image, give results of another type.
    """
    if image.ndim != 2 or image.dtype not in (np.uint8, np.uint16, np.float32, np.float64):
        return False
    return all(np.ndim(n) == 0 and math.isfinite(n) and not (image.dtype == np.float32 and isinstance(n, np.float64)) for n in numbers)


def _map(image: np.ndarray, method: str, sizes: tuple[int, ...], k: float, r: Any = None) -> np.ndarray:
    return threshold_map(image, method, window=(sizes[1], sizes[0]), k=k, r=r, border="reflect101", dtype=_float_type(image.dtype))


def _mean_std(image: np.ndarray, sizes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and standard deviation of windows with any number of axes."""
    dtype = _float_type(image.dtype)
    pixels = image.astype(dtype, copy=False)
    if image.ndim == 2:
        return local_mean_std(pixels, (sizes[1], sizes[0]), dtype=dtype)
    padded = np.pad(pixels, [(n // 2, n // 2) for n in sizes], mode="reflect").astype(np.float64)
    shift = float(pixels.flat[0])  # deviations do not depend on it
    padded -= shift
    mean, squares = (_window_sums(values, sizes) / math.prod(sizes) for values in (padded, padded * padded))
    return (mean + shift).astype(dtype), np.sqrt(np.maximum(squares - mean * mean, 0)).astype(dtype)


def _window_sums(values: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """Return the sums of all windows of a size inside an array with any number of axes."""
    table = np.pad(values, [(1, 0)] * values.ndim)
    for axis in range(values.ndim):
        table = table.cumsum(axis)
    shape = tuple(n - size + 1 for n, size in zip(values.shape, sizes))
    total = np.zeros(shape)
    for corner in itertools.product((0, 1), repeat=values.ndim):
        part = table[tuple(slice(far * size, far * size + length) for far, size, length in zip(corner, sizes, shape))]
        if (values.ndim - sum(corner)) % 2:
            total -= part
        else:
            total += part
    return total


def _stays(dtype: np.dtype, mode: str, constant_values: Any) -> bool:
    """Report whether the padding of an integer image is of its type."""
    if mode == "constant":
        values, limits = np.asarray(constant_values), np.iinfo(dtype)
        return values.dtype.kind in "iu" and bool(np.all((limits.min <= values) & (values <= limits.max)))
    return mode in ("edge", "maximum", "minimum", "reflect", "symmetric", "wrap")


def _pad_values(mode: str, constant_values: Any) -> dict[str, Any]:
    """Return the arguments that ``numpy.pad`` takes in this mode."""
    return {"constant_values": constant_values} if mode == "constant" else {}


def _padded(image: np.ndarray, size: tuple[int, ...], mode: str, constant_values: Any) -> np.ndarray:
    """Return an image with the padding for a template of this size.

    It is first padded by the whole size on each side, on which ramps depend.
    """
    padded = np.pad(image, [(n, n) for n in size], mode, **_pad_values(mode, constant_values))  # type: ignore[call-overload]
    return np.ascontiguousarray(padded[tuple(slice(n - n // 2, m + 2 * n - 1 - n // 2) for n, m in zip(size, image.shape))])


def match_template(image: Any, template: Any, pad_input: bool = False, mode: str = "constant", constant_values: Any = 0) -> np.ndarray:
    """Return the correlation with a template at every position, like ``skimage.feature.match_template``.

    Parameters
    ----------
    image : array_like
        Input image, with two or three axes. Three axes require SciPy.
    template : array_like
        Template, no larger than the image.
    pad_input : bool, default False
        If True, pad the image so that `scores` has the shape of `image`, and each score belongs
        to the center of the template. If False, each score belongs to the corner of the
        template with the lowest indices.
    mode : str, default "constant"
        How to pad, as for ``numpy.pad``.
    constant_values : scalar or sequence, default 0
        Values of the padding if `mode` is "constant".

    Returns
    -------
    scores : ndarray
        The correlation coefficients, float32 for floats of up to 32 bits and float64
        otherwise. They are NaN wherever the template covers a NaN or infinity in the image.

    Raises
    ------
    ValueError
        If the image is empty or has neither two nor three axes, if the template is larger than
        the image, has another number of axes than the image, or contains NaN or infinity, or
        if `mode` is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import skimage
    >>> image = np.random.default_rng(0).random((40, 50))
    >>> scores = skimage.match_template(image, image[10:18, 20:30])
    >>> np.unravel_index(scores.argmax(), scores.shape)
    (np.int64(10), np.int64(20))
    """
    image, template = np.asarray(image), np.asarray(template)
    if image.ndim not in (2, 3):
        raise ValueError("The parameter `image` must be a 2- or 3-dimensional array")
    if template.ndim != image.ndim:
        raise ValueError(f"template must have {image.ndim} axes, as the image has, got {template.ndim}")
    if np.any(np.less(image.shape, template.shape)):
        raise ValueError("Image must be larger than template.")
    dtype = _float_type(image.dtype)
    if image.size == 0:
        raise ValueError("The parameter `image` cannot be an empty array")
    if template.shape[0] == 0:
        raise IndexError("template has no rows")
    if template.dtype.kind == "c":
        raise TypeError(f"template must have real numbers, got {template.dtype}")
    np.pad(np.zeros((1,) * image.ndim), 1, mode, **_pad_values(mode, constant_values))  # type: ignore[call-overload] # raises ValueError for an unknown mode
    if not np.isfinite(template).all():
        raise ValueError("template must not contain NaN or infinity")
    if pad_input:
        image = _padded(image if image.dtype in (np.uint8, np.uint16) and _stays(np.dtype(image.dtype), mode, constant_values) else image.astype(dtype), template.shape, mode, constant_values)
    flat = template.size == 0 or bool((template == template.flat[0]).all())
    if flat:
        return np.zeros(tuple(n - m + 1 for n, m in zip(image.shape, template.shape)), dtype)
    if image.ndim == 2:
        same = image.dtype == template.dtype and image.dtype in (np.uint8, np.uint16, np.float32, np.float64)
        pixels, part = (image, template) if same else (image.astype(np.float64), template.astype(np.float64))
        return match(pixels, part).astype(dtype)
    from scipy.signal import fftconvolve

    values, part = image.astype(np.float64), template.astype(np.float64)
    unknown = ~np.isfinite(values)
    values[unknown] = 0  # one NaN would spread over all products
    values, part = values - values.mean(), part - part.mean()
    sizes = template.shape
    variance = _window_sums(values * values, sizes) - _window_sums(values, sizes) ** 2 / template.size
    scale = np.sqrt(np.maximum(variance, 0) * (part * part).sum())
    products = fftconvolve(values, part[::-1, ::-1, ::-1], mode="valid")
    scores = np.divide(products, scale, out=np.zeros_like(products), where=scale > np.finfo(dtype).eps)
    if unknown.any():
        scores[_window_sums(unknown.astype(np.float64), sizes) > 0] = np.nan
    return scores.astype(dtype)
