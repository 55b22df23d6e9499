"""OpenCV's ``createCLAHE``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._enhance import equalize
from ..._memory import new_image
from ._arrays import as_image, error, error_type, handed, raises_as_opencv, reuse, umats
from ._filters import pair, real, whole


class CLAHE:
    """Contrast-limited adaptive histogram equalization, like ``cv2.CLAHE``. Results are bit-identical.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> clahe = cv2.createCLAHE(0, (1, 1))
    >>> clahe.apply(np.array([[10, 20], [30, 40]], np.uint8))
    array([[ 64, 128],
           [191, 255]], dtype=uint8)
    """

    def __init__(self, clip: float, tiles: tuple[int, int]) -> None:
        self._clip, self._tiles, self._shift = clip, tiles, 0

    @raises_as_opencv
    def apply(self, src: Any, dst: Any = None) -> np.ndarray:
        """Equalize an image.

        Parameters
        ----------
        src : array_like of uint8 or uint16
            Gray image.
        dst : ndarray, optional
            Destination, which is written if it has the shape and type of the result.

        Returns
        -------
        dst : ndarray
            The equalized image, of the type of `src`.

        Raises
        ------
        cv2.error
            If the image is empty, or not a gray image of uint8 or uint16.

        Examples
        --------
        >>> import numpy as np
        >>> from boxsum.compat import cv2
        >>> ramp = np.linspace(100, 150, 128 * 128).reshape(128, 128).astype(np.uint8)
        >>> clear = cv2.createCLAHE(3, (4, 4)).apply(ramp)
        >>> int(clear.max()) - int(clear.min())
        80
        """
        found = umats(self.apply, src, (dst,))
        if found:
            return found[0]
        image = as_image(src)
        if image.dtype not in (np.uint8, np.uint16) or image.ndim == 3 and image.shape[2] != 1:
            raise error(f"src must be a gray image of uint8 or uint16, got {image.dtype} with shape {image.shape}")
        if image.size == 0:
            raise error("src is empty")
        out = reuse(dst, image.shape[:2], image.dtype, "dst")
        result = new_image(image.shape[:2], image.dtype) if out is None else out
        plane = image.reshape(image.shape[:2])
        equalize(plane, result, *self._tiles, max(self._clip, 0.0) if self._clip == self._clip else 0.0, self._shift, 0)
        return handed(result, dst, out)

    def getClipLimit(self) -> float:
        """Return the limit of a bin as a multiple of the mean."""
        return self._clip

    def setClipLimit(self, clipLimit: float) -> None:
        """Set the limit of a bin as a multiple of the mean; 0 or less removes it."""
        self._clip = _clip(clipLimit)

    def getTilesGridSize(self) -> tuple[int, int]:
        """Return the numbers of columns and rows of tiles."""
        return self._tiles

    def setTilesGridSize(self, tileGridSize: Any) -> None:
        """Set the numbers of columns and rows of tiles."""
        self._tiles = _tiles(tileGridSize)

    def getBitShift(self) -> int:
        """Return the number of low bits that are ignored."""
        return self._shift

    @raises_as_opencv
    def setBitShift(self, bitShift: int) -> None:
        """Set the number of low bits that are ignored."""
        self._shift = whole(bitShift, "bitShift")

    def collectGarbage(self) -> None:
        """Do nothing: no memory is kept for this object."""


def _tiles(size: Any) -> tuple[int, int]:
    try:
        across, down = pair(size, "tileGridSize")
    except error_type() as wrong:
        raise TypeError(str(wrong)) from None  # as OpenCV does
    if across < 1 or down < 1:
        raise error(f"tileGridSize must be positive, got {size}")
    return across, down


def _clip(limit: Any) -> float:
    try:
        return real(limit, "clipLimit")
    except error_type() as wrong:
        raise TypeError(str(wrong)) from None


def createCLAHE(clipLimit: float = 40.0, tileGridSize: Any = (8, 8)) -> CLAHE:
    """Return an object that equalizes images, like ``cv2.createCLAHE``.

    Parameters
    ----------
    clipLimit : float, default 40.0
        Limit of a bin as a multiple of the mean; 0 or less means no limit.
    tileGridSize : tuple of int, default (8, 8)
        Numbers of columns and rows of tiles.

    Returns
    -------
    clahe : CLAHE
        The object; ``apply`` equalizes an image.

    Raises
    ------
    cv2.error
        If the tiles are not positive.
    TypeError
        If an argument is not a number.

    Examples
    --------
    >>> from boxsum.compat import cv2
    >>> cv2.createCLAHE(tileGridSize=(4, 2)).getTilesGridSize()
    (4, 2)
    """
    # None is the default, as in OpenCV.
    return CLAHE(40.0 if clipLimit is None else _clip(clipLimit), (8, 8) if tileGridSize is None else _tiles(tileGridSize))
