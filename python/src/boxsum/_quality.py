"""Comparisons of two images: SSIM, MS-SSIM, local cross-correlation, MSE and PSNR."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from . import _types
from ._arguments import thread_count
from ._filters import as_filtered, call_with_copies, new_there, on_cuda, only_there, real, result_for
from ._foreign import as_given, on_host
from ._native import LayoutError, call, flat_array
from ._types import whole
from ._typing import Image


def ssim(
    a: Image,
    b: Image,
    *,
    window: int | None = None,
    sigma: float | None = None,
    population: bool = False,
    data_range: float | None = None,
    k1: float = 0.01,
    k2: float = 0.03,
    mask: Any = None,
    nan: Literal["keep", "skip"] = "keep",
    volume: bool = False,
    full: bool = False,
    out: Any = None,
    workers: int | None = None,
) -> Any:
    """Compute the structural similarity of two images: 1 if they are equal.

    The result is that of ``skimage.metrics.structural_similarity``. Sums of integers are
    exact and sums of floats are float64, so a constant offset does no harm.

    Parameters
    ----------
    a, b : array_like, shape (H, W) or (H, W, C)
        Images of the same shape and type. Several channels are compared one by one, and the
        result is their mean. CuPy and PyTorch arrays of uint8 or uint16 on a CUDA device are
        compared there, without `sigma`, `mask`, `nan` and `volume`, and maps are of float32.
    window : int, optional
        Side of the windows, an odd number, 7 by default. Images must be at least as large.
    sigma : float, optional
        Weight the pixels of a window by a Gaussian with this standard deviation, truncated
        at 3.5 standard deviations: 1.5 means 11 pixels on a side. Only one of `window` and
        `sigma` may be given.
    population : bool, default False
        Divide variances by the number of pixels in a window instead of that number minus
        one.
    data_range : float, optional
        Difference between the greatest and the smallest possible pixel. The default for
        integers is the range of their type; floats require it.
    k1, k2 : float, default 0.01 and 0.03
        The constants of the formula.
    mask : array_like, shape (H, W) or (H, W, C), optional
        Pixels count only where the mask is not zero.
    nan : {"keep", "skip"}, default "keep"
        With ``"skip"``, pixels that are NaN in either image do not count.
    volume : bool, default False
        Treat the arrays as volumes, of shape (D, H, W) or (D, H, W, C), with windows that
        extend along all three axes.
    full : bool, default False
        Also return the similarity of the window around every pixel.
    out : array, optional
        Destination for the map, of float32 or float64 and the shape of `a`; implies `full`.
    workers : int, optional
        Maximum number of threads. The default is one per available CPU.

    Returns
    -------
    score : float
        The mean over the windows inside the image. With a mask or ``nan="skip"``, it is over
        the windows around pixels that count.
    map : array
        With `full`, the similarity of the window around every pixel, as float64, or as
        float32 for float32 images. Images are mirrored at their edges.

    Raises
    ------
    TypeError
        If the types of the images differ or are not supported.
    ValueError
        If the shapes differ, an image is smaller than the window, a number is out of range,
        or `data_range` is missing.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.random.default_rng(0).integers(0, 256, (40, 50), dtype=np.uint8)
    >>> boxsum.ssim(image, image)
    1.0
    >>> round(boxsum.ssim(image, boxsum.blur(image, 1)), 3)
    0.204
    """
    settings = (_side(window), _deviation(sigma, window), int(bool(population)), real(k1, "k1"), real(k2, "k2"), 0)
    return _compare("ssim", a, b, settings, data_range, mask, nan, volume, full, out, workers)


def lncc(
    a: Image,
    b: Image,
    *,
    window: int | None = None,
    signed: bool = False,
    mask: Any = None,
    nan: Literal["keep", "skip"] = "keep",
    volume: bool = False,
    full: bool = False,
    out: Any = None,
    workers: int | None = None,
) -> Any:
    """Compute the local normalized cross-correlation of two images, a measure for registration.

    It is 1 where the windows of both images differ only in brightness and contrast. As in
    VoxelMorph, it is the squared covariance divided by both variances. Pixels outside the
    image are 0, and a variance times the number of pixels in the window counts as at least
    1e-5.

    Parameters
    ----------
    a, b, mask, nan, volume, full, out, workers
        As for :func:`ssim`.
    window : int, optional
        Side of the windows, an odd number, 9 by default.
    signed : bool, default False
        Compute the correlation, -1 to 1, instead of its square.

    Returns
    -------
    score : float
        The mean over all pixels.
    map : array
        With `full`, the correlation of the window around every pixel, of the type that
        :func:`ssim` returns.

    Raises
    ------
    TypeError, ValueError
        As for :func:`ssim`.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.random.default_rng(0).random((40, 50))
    >>> round(boxsum.lncc(image, 2 * image), 3)
    1.0
    """
    settings = (_side(window), 0.0, 1, 0.01, 0.03, int(bool(signed)))
    return _compare("lncc", a, b, settings, 1.0, mask, nan, volume, full, out, workers)


def ms_ssim(a: Image, b: Image, *, data_range: float | None = None, workers: int | None = None) -> float:
    """Compute the structural similarity of two images over five scales.

    Each scale is half as large as the one before; see Wang, Simoncelli and Bovik, "Multiscale
    structural similarity for image quality assessment". If a side is odd, its last row or
    column is repeated before it is halved, as in TensorFlow.

    Parameters
    ----------
    a, b, data_range, workers
        As for :func:`ssim`. Sides must have at least 161 pixels.

    Returns
    -------
    score : float
        The similarity, which is 1 for equal images; the mean over the channels if there are
        several.

    Raises
    ------
    TypeError, ValueError
        As for :func:`ssim`.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.random.default_rng(0).integers(0, 256, (200, 180), dtype=np.uint8)
    >>> boxsum.ms_ssim(image, image)
    1.0
    """
    return float(_compare("ms_ssim", a, b, (0, 0.0, 1, 0.01, 0.03, 0), data_range, None, "keep", False, False, None, workers))


def mse(a: Image, b: Image, *, mask: Any = None, nan: Literal["keep", "skip"] = "keep", volume: bool = False, workers: int | None = None) -> float:
    """Compute the mean squared error between two images, over all pixels and channels.

    Parameters
    ----------
    a, b, mask, nan, volume, workers
        As for :func:`ssim`.

    Returns
    -------
    error : float
        The mean of ``(a - b) ** 2``. Sums of integers are exact.

    Raises
    ------
    TypeError, ValueError
        As for :func:`ssim`.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> boxsum.mse(np.array([[1, 2]], np.uint8), np.array([[1, 4]], np.uint8))
    2.0
    """
    return float(_compare("mse", a, b, (0, 0.0, 1, 0.01, 0.03, 0), 1.0, mask, nan, volume, False, None, workers))


def psnr(
    a: Image, b: Image, *, data_range: float | None = None, mask: Any = None, nan: Literal["keep", "skip"] = "keep", volume: bool = False, workers: int | None = None
) -> float:
    """Compute the peak signal-to-noise ratio of two images in decibels.

    Parameters
    ----------
    a, b, data_range, mask, nan, volume, workers
        As for :func:`ssim`.

    Returns
    -------
    ratio : float
        ``10 * log10(data_range ** 2 / mse)``, which is infinite for equal images.

    Raises
    ------
    TypeError, ValueError
        As for :func:`ssim`.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> round(boxsum.psnr(np.array([[1, 2]], np.uint8), np.array([[1, 4]], np.uint8)), 2)
    45.12
    """
    span = range_of(on_host(a).dtype, data_range)
    error = mse(a, b, mask=mask, nan=nan, volume=volume, workers=workers)
    return math.inf if error == 0 else 10 * math.log10(span * span / error)


def range_of(dtype: np.dtype, data_range: Any) -> float:
    """Return the data range of pixels."""
    if data_range is not None:
        span = real(data_range, "data_range")
        if not 0 < span < math.inf:
            raise ValueError(f"data_range must be finite and greater than 0, got {data_range}")
        return span
    if dtype.kind == "b":
        return 1.0
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return float(int(limits.max) - int(limits.min))
    raise ValueError(f"data_range must be given for pixels of {dtype}: the difference between the greatest and the smallest possible value")


def _side(window: Any) -> int:
    return 0 if window is None else whole(window, "window", 1)


def _deviation(sigma: Any, window: Any) -> float:
    if sigma is None:
        return 0.0
    if window is not None:
        raise ValueError(f"only one of window and sigma may be given, got {window} and {sigma} (sigma determines its own window)")
    deviation = real(sigma, "sigma")
    if not deviation > 0:
        raise ValueError(f"sigma must be greater than 0, got {sigma}")
    return deviation


def _compare_there(kind: Any, a: Any, b: Any, settings: tuple[Any, ...], data_range: Any, full: bool, out: Any) -> Any:
    """Compare two images on a device by SSIM."""
    if on_cuda(b) is not kind:
        raise TypeError(f"images on a device must be arrays of one library, got {type(a).__name__} and {type(b).__name__}")
    arrays = [kind.read(a), kind.read(b)]
    _, size, _, pixel = kind.parts(arrays[0])
    _, other, _, _ = kind.parts(arrays[1])
    index = kind.index(arrays[0])
    if tuple(size) != tuple(other) or len(size) not in (2, 3):
        raise ValueError(f"images must have the same shape, (H, W) or (H, W, C), got {tuple(size)} and {tuple(other)}")
    if pixel.kind != "u" or pixel.itemsize > 2:
        raise TypeError(f"pixels must be uint8 or uint16 on a device, got {pixel} (copy the images to the host first)")
    window, _, population, k1, k2, _ = settings
    numbers = (window, population, range_of(pixel, data_range), k1, k2)
    if full or out is not None:
        made = kind.outs(out, 1)[0]
        arrays.append(new_there(kind, tuple(size), np.dtype(np.float32), arrays[0]) if made is None else made)
        if tuple(kind.parts(arrays[2])[1]) != tuple(size):
            raise ValueError(f"out must have shape {tuple(size)}, got {tuple(kind.parts(arrays[2])[1])}")
    if any(kind.index(array) != index for array in arrays):
        raise ValueError(f"images and out must be on one device, got {', '.join(f'cuda:{kind.index(array)}' for array in arrays)}")
    score, number, stream = np.empty(1), kind.number(index), kind.stream(arrays[0])
    try:
        call("compare_device", b"".join(flat_array(*kind.parts(array)) for array in arrays), number, stream, *numbers, score)
    except LayoutError:
        arrays[:2] = [kind.contiguous(array) for array in arrays[:2]]
        call("compare_device", b"".join(flat_array(*kind.parts(array)) for array in arrays), number, stream, *numbers, score)
    if len(arrays) == 2:
        return float(score[0])
    return float(score[0]), kind.hand_out(arrays[2]) if out is None else out


def _compare(
    kind: str, a: Any, b: Any, settings: tuple[Any, ...], data_range: Any, mask: Any, nan: Any, volume: bool, full: bool, out: Any, workers: Any
) -> Any:  # fmt: skip
    """Compare two images. The settings are the window, sigma, population, k1, k2 and signed."""
    there = on_cuda(a)
    if there is not None:
        only_there(**{kind: kind != "ssim"}, sigma=settings[1] != 0, mask=mask, nan=nan != "keep", volume=volume)
        return _compare_there(there, a, b, settings, data_range, full, out)
    first, second = on_host(a), on_host(b)
    axes = 3 if volume else 2
    if first.ndim not in (axes, axes + 1):
        what = "volumes must have shape (D, H, W) or (D, H, W, C)" if volume else "images must have shape (H, W) or (H, W, C)"
        raise ValueError(f"{what}, got {first.shape}")
    if first.shape != second.shape:
        raise ValueError(f"images must have the same shape, got {first.shape} and {second.shape}")
    if first.dtype.newbyteorder("=") != second.dtype.newbyteorder("="):
        raise TypeError(f"images must have the same type, got {first.dtype} and {second.dtype} (use .astype)")
    if nan not in ("keep", "skip"):
        raise ValueError(f"nan must be 'keep' or 'skip', got {nan!r}")
    span = range_of(first.dtype, data_range)
    pixels, others = as_filtered(first), as_filtered(second)
    cover = None
    if mask is not None:
        cover = on_host(mask)
        if cover.shape not in (first.shape, first.shape[:axes]):
            raise ValueError(f"mask must have shape {first.shape[:axes]} like the images, got {cover.shape}")
        cover = _types.as_bytes(cover != 0)
    made = None
    if full or out is not None:
        dtype = np.dtype(np.float32 if pixels.dtype.itemsize == 4 else np.float64)
        if out is not None and hasattr(out, "dtype") and on_host(out).dtype in (np.float32, np.float64):
            dtype = on_host(out).dtype
        made = result_for(first, dtype, out)
    size, sigma, population, k1, k2, signed = settings
    score = np.empty(1)
    outs = (score,) if made is None else (score, made)
    call_with_copies(
        outs, "compare", kind.encode(), pixels, others, made, cover, int(nan == "skip"), axes - 2, size, sigma, population, span, k1, k2, signed,
        thread_count(workers), score,
    )  # fmt: skip
    return float(score[0]) if made is None else (float(score[0]), as_given(made, out, a))
