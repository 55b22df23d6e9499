"""Denoising by non-local means."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from numpy import ndarray

from ._arguments import thread_count
from ._filters import call_with_copies, native_of, real, result_for
from ._foreign import as_given, on_host
from ._types import whole
from ._typing import Image

_SIDE = 1 << 12  # longest side of a patch and of what is searched


def nl_means(
    a: Image,
    strength: float = 3,
    *,
    patch: int = 7,
    search: int = 21,
    absolute: bool = False,
    frames: Sequence[Image] = (),
    out: Any = None,
    workers: int | None = None,
) -> ndarray:
    """Remove noise by non-local means: average pixels whose surroundings look alike.

    The result is that of ``cv2.fastNlMeansDenoising``, to the bit.

    Parameters
    ----------
    a : array_like of uint8 or uint16, shape (H, W) or (H, W, C)
        Input image, with up to four channels.
    strength : float, optional
        How much surroundings may differ, in units of pixels: about the deviation of the noise.
    patch : int, optional
        Side of the surroundings that are compared; even sides count as the next odd number.
    search : int, optional
        Side of the area around a pixel in which others are searched. The time grows with its
        area.
    absolute : bool, optional
        Compare pixels by absolute values of differences instead of squares, as always for uint16.
    frames : sequence of array_like, optional
        Other frames of a film, of the type and shape of `a`, in which others are searched too.
    out : array, optional
        Destination, of the type and shape of `a`; may be `a` itself.
    workers : int, optional
        Maximum number of threads.

    Returns
    -------
    denoised : array
        The image, of the type and shape of `a`.

    Raises
    ------
    TypeError
        If the pixel type is not supported.
    ValueError
        If `a` is not an image, a number is out of range, or `frames` or `out` have the wrong shape.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.array([[10, 12, 11, 90, 92, 91], [12, 11, 10, 91, 90, 92]], np.uint8)
    >>> boxsum.nl_means(image, 5, patch=1)[0]
    array([11, 11, 11, 91, 91, 91], dtype=uint8)
    """
    image = on_host(a)
    if image.ndim not in (2, 3):
        raise ValueError(f"image must have shape (H, W) or (H, W, C), got {image.shape}")
    native = native_of(image)
    if native not in (np.uint8, np.uint16):
        raise TypeError(f"pixels of {image.dtype} cannot be denoised, want uint8 or uint16")
    all_frames = image[np.newaxis]
    others = [on_host(frame) for frame in frames]
    for frame in others:
        if frame.shape != image.shape or native_of(frame) != native:
            raise ValueError(f"frames must have shape {image.shape} and type {native} like the image, got {frame.shape} and {frame.dtype}")
    if others:
        all_frames = np.stack([image, *others]).astype(native, copy=False)
    numbers = real(strength, "strength"), whole(patch, "patch", 1, _SIDE), whole(search, "search", 1, _SIDE)
    result = result_for(image, native, out)
    denoise_frame(all_frames, 0, result, *numbers, bool(absolute), thread_count(workers))
    return as_given(result, out, a)


def denoise_frame(frames: ndarray, index: int, result: ndarray, strength: float, patch: int, search: int, absolute: bool, workers: int) -> None:
    """Denoise one of several frames, which are an array, into another."""
    call_with_copies((result,), "nl_means", frames, index, result, strength, patch, search, int(absolute), workers)
