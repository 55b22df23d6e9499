"""scikit-image's metrics: see :mod:`boxsum.compat.skimage`."""

from __future__ import annotations

import importlib
import math
import warnings
from typing import Any

import numpy as np

from .._quality import _compare

_TRUNCATED = 3.5  # deviations that the weights of a Gaussian cover


def structural_similarity(
    im1: Any,
    im2: Any,
    *,
    win_size: int | None = None,
    gradient: bool = False,
    data_range: Any = None,
    channel_axis: int | None = None,
    gaussian_weights: bool = False,
    full: bool = False,
    K1: float = 0.01,
    K2: float = 0.03,
    sigma: float = 1.5,
    use_sample_covariance: bool = True,
) -> Any:
    """Compute the structural similarity, like ``skimage.metrics.structural_similarity``.

    Parameters
    ----------
    im1, im2 : array_like
        Images with two or three axes, and one more with `channel_axis`. Other numbers of axes
        require scikit-image.
    win_size : int, optional
        Side of the windows, an odd number, 7 by default. With `gaussian_weights`, it
        determines only the width of the edge that the mean excludes and the number of pixels
        for sample covariances.
    gradient : bool, default False
        Also return the gradient with respect to `im2`; requires SciPy.
    data_range : float, optional
        Difference between the greatest and the smallest possible pixel; floats require it.
    channel_axis : int, optional
        Axis of the channels.
    gaussian_weights : bool, default False
        Weight the windows by a Gaussian.
    full : bool, default False
        Also return the similarity of every window.
    K1, K2 : float, default 0.01 and 0.03
        The constants of the formula.
    sigma : float, default 1.5
        Standard deviation of the Gaussian.
    use_sample_covariance : bool, default True
        Divide covariances by the number of pixels minus one.

    Returns
    -------
    mssim : float
        The mean similarity.
    grad : ndarray
        With `gradient`, the gradient.
    S : ndarray
        With `full`, the similarity of every window.

    Raises
    ------
    ValueError
        If the shapes differ, a window does not fit into the images, or `data_range` is
        missing.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import skimage
    >>> image = np.random.default_rng(0).random((40, 50))
    >>> float(skimage.structural_similarity(image, image, data_range=1))
    1.0
    """
    im1, im2 = np.asarray(im1), np.asarray(im2)
    _same_shape(im1, im2)
    kind = _float_type(im1.dtype)
    for name, value in (("K1", K1), ("K2", K2), ("sigma", sigma)):
        if value < 0:
            raise ValueError(f"{name} must be positive, got {value}")
    sample = bool(use_sample_covariance)
    spatial = im1.ndim - (channel_axis is not None)
    if spatial not in (2, 3):
        original: Any = importlib.import_module("skimage.metrics").structural_similarity
        return original(
            im1, im2, win_size=win_size, gradient=gradient, data_range=data_range, channel_axis=channel_axis, gaussian_weights=gaussian_weights,
            full=full, K1=K1, K2=K2, sigma=sigma, use_sample_covariance=use_sample_covariance,
        )  # fmt: skip
    if win_size is None:
        win_size = 2 * int(_TRUNCATED * sigma + 0.5) + 1 if gaussian_weights else 7
    shape = im1.shape if channel_axis is None else np.delete(im1.shape, channel_axis)
    if min(shape) < win_size:
        raise ValueError(f"win_size exceeds image extent: win_size is {win_size} and the shape {im1.shape} (set channel_axis if the images have channels)")
    if win_size % 2 != 1:
        raise ValueError("Window size must be odd.")
    if data_range is None:
        if im1.dtype.kind == "f" or im2.dtype.kind == "f":
            raise ValueError("Since image dtype is floating point, you must specify the data_range parameter.")
        if im1.dtype != im2.dtype:
            warnings.warn("Inputs have mismatched dtypes. Setting data_range based on im1.dtype.", stacklevel=2)
        data_range = _type_range(im1.dtype)
    if im1.dtype != im2.dtype or im1.dtype not in (np.uint8, np.uint16):
        im1, im2 = im1.astype(kind), im2.astype(kind)
    if channel_axis is not None:
        im1, im2 = np.moveaxis(im1, channel_axis, -1), np.moveaxis(im2, channel_axis, -1)
    im1, im2 = np.ascontiguousarray(im1), np.ascontiguousarray(im2)
    settings = (int(win_size), float(sigma) if gaussian_weights else 0.0, int(not sample), float(K1), float(K2), 0)
    made = _compare("ssim", im1, im2, settings, float(data_range), None, "keep", spatial == 3, full, np.empty(im1.shape, kind) if full else None, None)
    mean, similarity = made if full else (made, None)
    mean = np.float64(mean)
    if channel_axis is not None:
        mean = kind.type(mean)
        similarity = None if similarity is None else np.moveaxis(similarity, -1, channel_axis)
    result = [mean]
    if gradient:
        slope = _gradient(im1.astype(kind), im2.astype(kind), win_size, sigma if gaussian_weights else None, sample, (K1 * data_range) ** 2, (K2 * data_range) ** 2, channel_axis is not None)
        slope = slope.astype(kind)
        result.append(slope if channel_axis is None else np.moveaxis(slope, -1, channel_axis))
    if full:
        result.append(similarity)
    return tuple(result) if len(result) > 1 else mean


def _gradient(x: np.ndarray, y: np.ndarray, win_size: int, sigma: Any, sample: bool, c1: float, c2: float, channels: bool) -> np.ndarray:
    """Return the gradient with respect to y, by equations 7 and 8 of Avanaki (2009)."""
    from scipy import ndimage

    if channels:
        slopes = [_gradient(x[..., c], y[..., c], win_size, sigma, sample, c1, c2, False) for c in range(x.shape[-1])]
        return np.stack(slopes, axis=-1)

    def mean(image: np.ndarray) -> np.ndarray:
        if sigma is not None:
            return ndimage.gaussian_filter(image, sigma, truncate=_TRUNCATED)
        return ndimage.uniform_filter(image, win_size)

    x, y = x.astype(np.float64), y.astype(np.float64)
    shift = x.mean()  # so that float64 has digits left for the variances
    u, v = mean(x - shift), mean(y - shift)
    count = win_size**x.ndim
    factor = count / (count - 1) if sample else 1.0
    variances = factor * (mean((x - shift) ** 2) - u * u + mean((y - shift) ** 2) - v * v)
    covariance = factor * (mean((x - shift) * (y - shift)) - u * v)
    u, v = u + shift, v + shift
    a1, a2, b1, b2 = 2 * u * v + c1, 2 * covariance + c2, u * u + v * v + c1, variances + c2
    similarity = a1 * a2 / (b1 * b2)
    slope = mean(a1 / (b1 * b2)) * x + mean(-similarity / b2) * y + mean((u * (a2 - a1) - v * (b2 - b1) * similarity) / (b1 * b2))
    return slope * (2 / x.size)


def mean_squared_error(image0: Any, image1: Any) -> Any:
    """Compute the mean squared error, like ``skimage.metrics.mean_squared_error``.

    Parameters
    ----------
    image0, image1 : array_like
        Images of any shape.

    Returns
    -------
    mse : float
        The mean of the squared differences.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import skimage
    >>> float(skimage.mean_squared_error(np.zeros((2, 3)), np.ones((2, 3))))
    1.0
    """
    image0, image1 = np.asarray(image0), np.asarray(image1)
    _same_shape(image0, image1)
    return np.float64(_error(image0, image1))


def _error(image0: np.ndarray, image1: np.ndarray) -> float:
    _float_type(np.result_type(image0, image1))
    if image0.size == 0:
        return math.nan
    if image0.dtype != image1.dtype or image0.dtype not in (np.uint8, np.uint16):
        image0, image1 = image0.astype(np.float64), image1.astype(np.float64)
    flat = np.ascontiguousarray(image0).reshape(-1, image0.shape[-1] if image0.ndim else 1), np.ascontiguousarray(image1).reshape(-1, image1.shape[-1] if image1.ndim else 1)
    return float(_compare("mse", *flat, (0, 0.0, 1, 0.01, 0.03, 0), 1.0, None, "keep", False, False, None, None))


def peak_signal_noise_ratio(image_true: Any, image_test: Any, *, data_range: Any = None) -> Any:
    """Compute the peak signal-to-noise ratio, like ``skimage.metrics.peak_signal_noise_ratio``.

    Parameters
    ----------
    image_true, image_test : array_like
        Images of any shape.
    data_range : float, optional
        Difference between the greatest and the smallest possible pixel. The default is the
        range of the type; for floats it is 1, or 2 if there are negative pixels.

    Returns
    -------
    psnr : float
        The ratio in decibels.

    Raises
    ------
    ValueError
        If the shapes differ, or `image_true` has values that floats do not usually have.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import skimage
    >>> float(skimage.peak_signal_noise_ratio(np.zeros((2, 3)), np.full((2, 3), 0.1)))
    20.0
    """
    image_true, image_test = np.asarray(image_true), np.asarray(image_test)
    _same_shape(image_true, image_test)
    if data_range is None:
        if image_true.dtype != image_test.dtype:
            warnings.warn("Inputs have mismatched dtype.  Setting data_range based on image_true.", stacklevel=2)
        low, high = _limits(image_true.dtype)
        least, most = image_true.min(), image_true.max()
        if most > high or least < low:
            raise ValueError("image_true has intensity values outside the range expected for its data type. Please manually specify the data_range.")
        data_range = high if least >= 0 else high - low
    with np.errstate(divide="ignore"):
        return 10 * np.log10(np.float64(data_range) ** 2 / np.float64(_error(image_true, image_test)))


def _same_shape(a: np.ndarray, b: np.ndarray) -> None:
    if a.shape != b.shape:
        raise ValueError("Input images must have the same dimensions.")


def _limits(dtype: np.dtype) -> tuple[float, float]:
    """Return the values that scikit-image expects of a type."""
    if dtype.kind == "f":
        return -1, 1
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind == "c":
        raise KeyError(dtype.type)  # as in scikit-image
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _type_range(dtype: np.dtype) -> float:
    low, high = _limits(dtype)
    return high - low


def _float_type(dtype: np.dtype) -> np.dtype:
    """Return the type of scikit-image's results."""
    if dtype.kind == "c":
        raise ValueError("complex-valued input is not supported")
    return np.dtype(np.float32 if dtype.kind == "f" and dtype.itemsize <= 4 else np.float64)
