"""Local equalization of contrast."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from ._arguments import thread_count
from ._filters import call_with_copies, native_of, on_cuda, only_there, real, result_for, run_there, sides
from ._foreign import as_given, on_host
from ._typing import Image, Sides

_TILES = 1 << 12  # most tiles along an axis


def clahe(a: Image, clip: float = 2.0, tiles: Sides = 8, *, color: bool = False, out: Any = None, workers: int | None = None) -> ndarray:
    """Equalize the contrast of an image locally, up to a limit (CLAHE).

    The result is bit-identical to that of ``cv2.createCLAHE``.

    Parameters
    ----------
    a : array_like of uint8 or uint16, shape (H, W) or (H, W, C)
        Input image. CuPy and PyTorch arrays on a CUDA device are equalized there, without
        `color`.
    clip : float, default 2.0
        Limit of a histogram bin, as a multiple of the mean of all bins, which also limits
        the amplification of contrast. 0 means no limit.
    tiles : int or tuple of int, default 8
        Number of tiles along each side of the image, or the numbers of columns and rows of
        tiles.
    color : bool, default False
        For images with three or four channels, equalize the brightest of the first three
        channels of each pixel, and scale all three by the same factor. By default, channels
        are equalized one by one, which changes colors.
    out : array, optional
        Destination, of the type and shape of `a`; may be `a` itself.
    workers : int, optional
        Maximum number of threads. The default is one per available CPU.

    Returns
    -------
    equalized : array
        The image, of the type and shape of `a`.

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
    >>> image = np.arange(100, 164, dtype=np.uint8).reshape(8, 8)
    >>> boxsum.clahe(image, tiles=1)[0]
    array([ 4,  8, 12, 16, 20, 24, 28, 32], dtype=uint8)
    """
    limit = real(clip, "clip")
    if not limit >= 0:
        raise ValueError(f"clip must be 0 or more, got {clip}")
    across, down = sides(tiles, "tiles", 1, _TILES)
    kind = on_cuda(a)
    if kind is not None:
        only_there(color=color)
        return run_there(kind, "clahe_device", a, out, None, None, across, down, limit)
    image = on_host(a)
    if image.ndim not in (2, 3):
        raise ValueError(f"image must have shape (H, W) or (H, W, C), got {image.shape}")
    native = native_of(image)
    if native not in (np.uint8, np.uint16):
        raise TypeError(f"pixels of {image.dtype} cannot be equalized, want uint8 or uint16")
    result = result_for(image, native, out)
    equalize(image, result, across, down, limit, 0, thread_count(workers), color)
    return as_given(result, out, a)


def equalize(image: ndarray, result: ndarray, across: int, down: int, clip: float, shift: int, workers: int, color: bool = False) -> None:
    """Equalize an image into another."""
    call_with_copies((result,), "clahe", image, result, across, down, clip, shift, workers, int(bool(color)))
