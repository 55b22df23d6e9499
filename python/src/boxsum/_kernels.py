"""Kernels that are weighted sums of boxes, and what is built on them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy import ndarray

from ._arguments import thread_count
from ._filters import border_of, call_with_copies, float_type, pixels_of, real, result_for
from ._foreign import as_given
from ._native import call
from ._types import whole
from ._typing import Image

_REACH = 1 << 14  # greatest distance of a box from its pixel


def box_kernel(kind: Any, *sizes: Any, anchor: Any = None) -> ndarray:
    """Return a kernel as boxes, for :func:`filter_boxes`.

    Parameters
    ----------
    kind : str or array_like, shape (h, w)
        Either an array of weights, or one of CenSurE's kernels, each of which is the mean of a
        ring less the mean of the area inside it:

        - ``"dob"``: squares of 4n+1 and 2n+1 pixels a side, for one size n
        - ``"octagon"``: two octagons. The size of an octagon is a pair (m, n): its
          horizontal and vertical sides have m pixels, an odd number, and it is m+2n pixels
          wide and high
        - ``"star"``: two stars. A star of size n is the union of a square of 2n+1 pixels a side
          and the same square rotated by 45°
    sizes : int or pair of int
        Sizes of the named kernels, the outer one first.
    anchor : pair of int, optional
        Column and row, in the array of weights, of the pixel whose result is computed. The
        default is the middle.

    Returns
    -------
    kernel : ndarray of float64, shape (N, 5)
        Rows of ``x0, y0, x1, y1, weight``. Coordinates are relative to the pixel whose
        result is computed.

    Raises
    ------
    ValueError
        If a size is out of range, or the weights are not finite or all 0.

    Examples
    --------
    >>> import boxsum
    >>> boxsum.box_kernel([[1, 1, 0], [1, 1, -2]])
    array([[-1., -1.,  1.,  1.,  1.],
           [ 1.,  0.,  2.,  1., -2.]])
    """
    numbers = [0] * 4
    if isinstance(kind, str):
        wanted = {"dob": (1,), "star": (1, 1), "octagon": (2, 2)}.get(kind)
        if wanted is None:
            raise ValueError(f"kind must be 'dob', 'octagon', 'star' or an array of weights, got {kind!r}")
        if len(sizes) != len(wanted) or any(np.size(size) != count for size, count in zip(sizes, wanted)):
            raise ValueError(f"sizes must be {'one number' if kind == 'dob' else 'two numbers, outer and inner,' if kind == 'star' else 'two pairs of numbers, outer and inner,'} for {kind!r}, got {sizes}")
        flat = [n for size in sizes for n in np.ravel(size).tolist()]
        numbers[: len(flat)] = [whole(n, "size", 0, _REACH) for n in flat]
        found = call("box_kernel", kind.encode(), None, 0, 0, *numbers)
    else:
        weights = np.ascontiguousarray(kind, np.float64)
        if weights.ndim != 2 or weights.size == 0:
            raise ValueError(f"kind must be a name or an array of weights with two axes, none of them empty, got shape {weights.shape}")
        if sizes:
            raise ValueError(f"sizes must be left out for an array of weights, got {sizes}")
        column, row = (weights.shape[1] // 2, weights.shape[0] // 2) if anchor is None else (whole(n, "anchor", -_REACH, _REACH) for n in anchor)
        found = call("box_kernel", b"", weights, column, row, *numbers)
    return np.array(json.loads(found), np.float64)


def filter_boxes(
    a: Image,
    kernel: Any,
    *,
    border: str = "reflect101",
    value: float = 0,
    margin: int = 0,
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
) -> ndarray:
    """Filter with a kernel that is a weighted sum of boxes.

    The time grows with the number of boxes, and does not depend on their sizes. Sums of integers
    are exact.

    Parameters
    ----------
    a : array_like, shape (H, W) or (H, W, C)
        Input image. Pixels must be finite.
    kernel : array_like, shape (N, 5)
        Rows of ``x0, y0, x1, y1, weight``. Coordinates are relative to the pixel whose
        result is computed. See :func:`box_kernel`.
    border : str, default "reflect101"
        Pixels outside the image: ``"reflect101"``, ``"reflect"``, ``"replicate"``,
        ``"constant"``, ``"wrap"`` or, to count them as 0, ``"clip"``.
    value : float, default 0
        Pixel value outside the image for ``"constant"``.
    margin : int, default 0
        Distance from the edge of the image within which results are set to 0.
    dtype : dtype, optional
        Type of the result, float32 or float64. The default is float64 for float64 images
        and for integers of 32 and 64 bits, and float32 otherwise.
    out : array, optional
        Destination, of floats and of the shape of `a`.
    workers : int, optional
        Maximum number of threads. The default is one per available CPU.

    Returns
    -------
    response : array
        The weighted sums, of the shape of `a`.

    Raises
    ------
    TypeError
        If the pixel type is not supported.
    ValueError
        If `a` does not have the shape (H, W) or (H, W, C), a box is empty, a pixel is NaN
        or infinite, or `out` has the wrong shape.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
    >>> boxsum.filter_boxes(image, [[0, 0, 1, 1, 10], [-1, 0, 0, 1, -1]], border="replicate")
    array([[ 9., 19., 28.],
           [36., 46., 55.]], dtype=float32)
    """
    rows = np.ascontiguousarray(kernel, np.float64)
    if rows.ndim != 2 or rows.shape[1] != 5 or not len(rows):
        raise ValueError(f"kernel must have shape (N, 5), with at least one box, got {rows.shape}")
    corners = rows[:, :4]
    if not np.all((corners == np.floor(corners)) & (np.abs(corners) <= _REACH)):
        raise ValueError(f"coordinates of boxes must be whole numbers from -{_REACH} to {_REACH}, got {corners[(corners != np.floor(corners)) | (np.abs(corners) > _REACH) | np.isnan(corners)][0]}")
    return _respond("sums", a, dtype, out, workers, kernel=rows, border=border, value=value, margin=margin)


def hessian(a: Image, sigma: float, *, dtype: Any = None, out: Any = None, workers: int | None = None) -> ndarray:
    """Compute the determinant of the Hessian around every pixel, from sums of boxes, as in SURF.

    It is greatest in the middle of blobs, bright or dark. The results are those of
    ``skimage.feature.hessian_matrix_det`` up to rounding, except that integers are not
    scaled to the range from 0 to 1.

    Parameters
    ----------
    a : array_like, shape (H, W) or (H, W, C)
        Input image. Pixels must be finite.
    sigma : float
        Approximate radius of the blobs in pixels, at least 1.
    dtype : dtype, optional
        float32 or float64, as for :func:`filter_boxes`.
    out : array, optional
        Destination, of floats and of the shape of `a`.
    workers : int, optional
        Maximum number of threads. The default is one per available CPU.

    Returns
    -------
    determinant : array
        The determinants, of the shape of `a`.

    Raises
    ------
    TypeError
        If the pixel type is not supported.
    ValueError
        If `a` does not have the shape (H, W) or (H, W, C), sigma is out of range, a pixel
        is NaN or infinite, or `out` has the wrong shape.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.zeros((31, 31), np.uint8)
    >>> image[13:18, 13:18] = 200
    >>> np.argwhere((found := boxsum.hessian(image, 2)) == found.max())
    array([[15, 15]])
    """
    return _respond("hessian", a, dtype, out, workers, sigma=sigma)


def targets(
    a: Image, guard: int, train: int, rate: float = 1e-6, *, amplitudes: bool = False, out: Any = None, workers: int | None = None
) -> ndarray:
    """Find pixels that stand out from the noise around them, at a constant false alarm rate.

    This is the cell-averaging detector of radar (CA-CFAR). A cell is a pixel; cells outside
    the image are ignored.

    Parameters
    ----------
    a : array_like, shape (H, W) or (H, W, C)
        Image of powers or, with `amplitudes`, of amplitudes. Pixels must be finite.
    guard : int
        Distance in pixels up to which cells are ignored, because a target may extend over them.
    train : int
        Width of the ring of cells around those, from which the noise is estimated.
    rate : float, default 1e-06
        Probability that a cell that contains only noise is found.
    amplitudes : bool, default False
        Treat pixels as amplitudes, whose squares are exponentially distributed in noise. By
        default, they are powers, which are exponentially distributed themselves.
    out : array of uint8 or bool, optional
        Destination, of the shape of `a`.
    workers : int, optional
        Maximum number of threads. The default is one per available CPU.

    Returns
    -------
    found : array of bool
        Whether each pixel is a target.

    Raises
    ------
    TypeError
        If the pixel type is not supported.
    ValueError
        If `a` does not have the shape (H, W) or (H, W, C), a number is out of range, a
        pixel is NaN or infinite, or `out` has the wrong shape.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> power = np.random.default_rng(1).exponential(1, (50, 50))
    >>> power[20, 30] = 40
    >>> np.argwhere(boxsum.targets(power, 2, 5))
    array([[20, 30]])
    """
    numbers: dict[str, Any] = {"guard": whole(guard, "guard", 0, _REACH), "train": whole(train, "train", 1, _REACH), "rate": real(rate, "rate")}
    return _respond("targets", a, np.bool_, out, workers, amplitudes=amplitudes, **numbers)


def despeckle(
    a: Image,
    method: str = "lee",
    *,
    window: int = 7,
    looks: float = 1,
    damping: float = 2,
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
) -> ndarray:
    """Remove speckle, the noise of radar and ultrasound.

    Pixels are replaced by the mean of their window where it varies no more than speckle
    does, and change less where it varies more.

    Parameters
    ----------
    a : array_like, shape (H, W) or (H, W, C)
        Image of intensities, which must not be negative.
    method : str, default "lee"
        - ``"lee"``: a weighted mean of the pixel and the mean of its window. The more the
          window varies, the larger the weight of the pixel
        - ``"kuan"``: like ``"lee"`` with a smaller weight of the pixel
        - ``"frost"``: a mean of the window whose weights decrease with the distance from the
          pixel (the greater of the horizontal and the vertical one), faster where the window
          varies more
        - ``"gamma-map"``: the most probable intensity if intensities have a gamma
          distribution
    window : int, default 7
        Side of the windows, an odd number. They end at the edges of the image.
    looks : float, default 1
        Number of independent looks that were averaged to make the image, which equals the
        squared ratio of mean and standard deviation in a flat area.
    damping : float, default 2
        How fast the weights of ``"frost"`` decrease.
    dtype : dtype, optional
        float32 or float64, as for :func:`filter_boxes`.
    out : array, optional
        Destination, of floats and of the shape of `a`.
    workers : int, optional
        Maximum number of threads. The default is one per available CPU.

    Returns
    -------
    image : array
        Intensities without speckle, of the shape of `a`.

    Raises
    ------
    TypeError
        If the pixel type is not supported.
    ValueError
        If `a` does not have the shape (H, W) or (H, W, C), a number is out of range, a
        pixel is negative, NaN or infinite, or `out` has the wrong shape.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> flat = np.random.default_rng(1).exponential(10, (50, 50))
    >>> bool(boxsum.despeckle(flat, "lee").std() < flat.std() / 3)
    True
    """
    if not isinstance(method, str):
        raise TypeError(f"method must be 'lee', 'kuan', 'frost' or 'gamma-map', got {method!r}")
    numbers = (method.encode(), whole(window, "window", 1, _REACH), real(looks, "looks"), real(damping, "damping"))
    return _respond("speckle", a, dtype, out, workers, speckle=numbers)


def _respond(
    kind: str, a: Image, dtype: Any, out: Any, workers: int | None, *, kernel: Any = None, border: str = "clip", value: float = 0, margin: int = 0,
    sigma: float = 1, guard: int = 0, train: int = 1, rate: float = 0.5, amplitudes: bool = False, speckle: tuple[Any, ...] = (),
) -> ndarray:  # fmt: skip
    image = pixels_of(a)
    if kind == "targets":
        given = out is not None and getattr(out, "dtype", None) == np.uint8
        result = result_for(image, np.dtype(np.uint8 if given else np.bool_), out)
        bytes_ = result.view(np.uint8)
    else:
        bytes_ = result = result_for(image, float_type(image, dtype, out), out)
    call_with_copies(
        (bytes_,), "weigh_boxes", kind.encode(), image, bytes_, kernel, border_of(border), real(value, "value"), whole(margin, "margin", 0, 1 << 30),
        real(sigma, "sigma"), guard, train, rate, int(bool(amplitudes)), thread_count(workers), *speckle,
    )  # fmt: skip
    return as_given(result, out, a)
