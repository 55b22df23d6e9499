"""OpenCV's ``CascadeClassifier``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..._detect import Cascade, Detections
from ._arrays import as_array, error, raises_as_opencv
from ._filters import pair, whole


class CascadeClassifier:
    """A detector loaded from an XML file, like ``cv2.CascadeClassifier``.

    Rectangles, neighbors and weights are bit-identical to OpenCV 4.14, in an order that does
    not depend on threads.

    Parameters
    ----------
    filename : str, optional
        The file to load.

    Examples
    --------
    >>> from boxsum.compat import cv2
    >>> face = cv2.CascadeClassifier("no such file.xml")
    >>> face.empty()
    True
    """

    def __init__(self, filename: str | None = None) -> None:
        self._cascade: Cascade | None = None
        if filename is not None:
            self.load(filename)

    def load(self, filename: str) -> bool:
        """Load a cascade.

        Parameters
        ----------
        filename : str
            The file to load.

        Returns
        -------
        loaded : bool
            Whether the file is a cascade that could be read.

        Examples
        --------
        >>> from boxsum.compat import cv2
        >>> cv2.CascadeClassifier().load("no such file.xml")
        False
        """
        try:
            self._cascade = Cascade(Path(filename))  # a file: OpenCV knows no names
        except (ValueError, OSError):
            self._cascade = None
        return self._cascade is not None

    def empty(self) -> bool:
        """Report whether no cascade is loaded."""
        return self._cascade is None

    def getOriginalWindowSize(self) -> tuple[int, int]:
        """Return the width and height of the smallest window."""
        return self._loaded().window

    def getFeatureType(self) -> int:
        """Return the type of the features: 0 for Haar, 1 for local binary patterns."""
        return {"HAAR": 0, "LBP": 1}[self._loaded().kind]

    def isOldFormatCascade(self) -> bool:
        """Return False: files of the old format are loaded like current ones."""
        self._loaded()
        return False

    def _loaded(self) -> Cascade:
        if self._cascade is None:
            raise error("the cascade is empty (load one)")
        return self._cascade

    @raises_as_opencv
    def detectMultiScale(self, image: Any, scaleFactor: float = 1.1, minNeighbors: int = 3, flags: int = 0, minSize: Any = (0, 0), maxSize: Any = (0, 0)) -> Any:
        """Detect objects.

        Parameters
        ----------
        image : array_like of uint8
            Gray or BGR image.
        scaleFactor, minNeighbors, flags, minSize, maxSize
            As for ``cv2.CascadeClassifier.detectMultiScale``; `flags` is ignored.

        Returns
        -------
        objects : ndarray of int32, shape (N, 4), or empty tuple
            A row of x, y, width and height for each object; an empty tuple if there are none.

        Raises
        ------
        cv2.error
            If no cascade is loaded, or an argument is not supported.

        Examples
        --------
        >>> from boxsum.compat import cv2
        >>> from skimage import data
        >>> face = cv2.CascadeClassifier("/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml")
        >>> face.detectMultiScale(data.astronaut(), scaleFactor=1.1, minSize=(40, 40))
        array([[177,  66,  95,  95]], dtype=int32)
        """
        return _rectangles(self._found(image, scaleFactor, minNeighbors, minSize, maxSize))

    @raises_as_opencv
    def detectMultiScale2(
        self, image: Any, scaleFactor: float = 1.1, minNeighbors: int = 3, flags: int = 0, minSize: Any = (0, 0), maxSize: Any = (0, 0)
    ) -> tuple[Any, Any]:
        """Detect objects and return the number of windows of each.

        Parameters
        ----------
        image, scaleFactor, minNeighbors, flags, minSize, maxSize
            As for :meth:`detectMultiScale`.

        Returns
        -------
        objects : ndarray of int32, shape (N, 4), or empty tuple
            A row of x, y, width and height for each object; an empty tuple if there are none.
        numDetections : ndarray of int32, shape (N,), or empty tuple
            Number of windows that were grouped into each object; an empty tuple if there are no
            objects.

        Raises
        ------
        cv2.error
            If no cascade is loaded, or an argument is not supported.

        Examples
        --------
        >>> from boxsum.compat import cv2
        >>> from skimage import data
        >>> face = cv2.CascadeClassifier("/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml")
        >>> face.detectMultiScale2(data.astronaut(), scaleFactor=1.1, minSize=(40, 40))
        (array([[177,  66,  95,  95]], dtype=int32), array([36], dtype=int32))
        """
        found = self._found(image, scaleFactor, minNeighbors, minSize, maxSize)
        return _rectangles(found), _column(found, found.neighbors, np.int32)

    @raises_as_opencv
    def detectMultiScale3(
        self, image: Any, scaleFactor: float = 1.1, minNeighbors: int = 3, flags: int = 0, minSize: Any = (0, 0), maxSize: Any = (0, 0), outputRejectLevels: bool = False
    ) -> tuple[Any, Any, Any]:
        """Detect objects, and optionally return their stages and weights.

        Parameters
        ----------
        image, scaleFactor, minNeighbors, flags, minSize, maxSize
            As for :meth:`detectMultiScale`.
        outputRejectLevels : bool, default False
            Return the stages and the weights of objects. By default, an empty tuple is returned
            for each of them.

        Returns
        -------
        objects : ndarray of int32, shape (N, 4), or empty tuple
            A row of x, y, width and height for each object; an empty tuple if there are none.
        rejectLevels : ndarray of int32, shape (N,), or empty tuple
            With `outputRejectLevels`, the number of stages that each object passed.
        levelWeights : ndarray of float64, shape (N,), or empty tuple
            With `outputRejectLevels`, the sum of the last stage for each object.

        Raises
        ------
        cv2.error
            If no cascade is loaded, or an argument is not supported.
        """
        found = self._found(image, scaleFactor, minNeighbors, minSize, maxSize)
        if not outputRejectLevels:
            return _rectangles(found), (), ()
        return _rectangles(found), _column(found, found.stages, np.int32), _column(found, found.scores, np.float64)

    def _found(self, image: Any, scale: float, neighbors: int, least: Any, most: Any) -> Detections:
        cascade = self._loaded()
        pixels = image.get() if image.__class__.__name__ == "UMat" else as_array(image)
        if pixels.dtype != np.uint8 or pixels.ndim not in (2, 3):
            raise error(f"image must have type uint8, got {pixels.dtype} with shape {pixels.shape}")
        if pixels.ndim == 3 and pixels.shape[2] == 1:
            pixels = pixels[:, :, 0]
        if not isinstance(scale, (int, float, np.number)) or not scale > 1:
            raise error(f"scaleFactor must be greater than 1, got {scale}")
        count = max(whole(neighbors, "minNeighbors"), 0)
        least, most = ((0, 0) if size is None else pair(size, name) for size, name in ((least, "minSize"), (most, "maxSize")))
        return cascade.detect(pixels, scale=scale, neighbors=count, min_size=least, max_size=most, compat=True, bgr=True)


def _rectangles(found: Detections) -> Any:
    """Return rows of x, y, width and height, or an empty tuple for none, as OpenCV does."""
    if not len(found.boxes):
        return ()
    boxes = found.boxes.astype(np.int32)
    boxes[:, 2:] -= boxes[:, :2]
    return boxes


def _column(found: Detections, values: np.ndarray, dtype: Any) -> Any:
    return values.astype(dtype) if len(found.boxes) else ()
