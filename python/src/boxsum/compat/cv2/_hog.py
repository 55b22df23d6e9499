"""OpenCV's ``HOGDescriptor``."""

from __future__ import annotations

import math
import os
import re
from typing import Any

import numpy as np

from ..._detect import Detections
from ..._hog import HOG, PEOPLE
from ._arrays import as_array, error, handed, raises_as_opencv, reuse
from ._filters import pair, real, whole
from ._opencv import attribute

_FINITE = np.finfo(np.float64).max


class HOGDescriptor:
    """Histograms of oriented gradients and a detector that uses them, like ``cv2.HOGDescriptor``.

    Descriptors, scores and rectangles are bit-identical to those of OpenCV 4.14 on a processor
    with AVX2. Its arguments are those of OpenCV's constructor: none, the name of a file, or the
    sizes.

    Differences: arguments that OpenCV refuses later, or not at all, are an error here; every
    descriptor has its own L2-Hys threshold; windows that do not fit in the image are not found.
    The derivation aperture and the type of norm are ignored, as in OpenCV.

    Examples
    --------
    >>> import numpy as np
    >>> from boxsum.compat import cv2
    >>> hog = cv2.HOGDescriptor((32, 64), (16, 16), (8, 8), (8, 8), 9)
    >>> hog.getDescriptorSize()
    756
    >>> hog.compute(np.zeros((64, 40), np.uint8)).shape  # two windows
    (1512,)
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        if not arguments and not named:
            self._set(HOG(), -1.0)
        elif len(arguments) + len(named) == 1 and (arguments or "filename" in named):
            self.load(arguments[0] if arguments else named["filename"])
        else:
            self._configure(*arguments, **named)

    @raises_as_opencv
    def _configure(
        self, _winSize: Any, _blockSize: Any, _blockStride: Any, _cellSize: Any, _nbins: int, _derivAperture: int = 1, _winSigma: float = -1,
        _histogramNormType: int = 0, _L2HysThreshold: float = 0.2, _gammaCorrection: bool = False, _nlevels: int = 64, _signedGradient: bool = False,
    ) -> None:  # fmt: skip
        if whole(_histogramNormType, "_histogramNormType") != 0:
            raise error(f"_histogramNormType must be HOGDESCRIPTOR_L2HYS, got {_histogramNormType}")
        sigma = real(_winSigma, "_winSigma")
        hog = HOG(
            window=pair(_winSize, "_winSize"), block=pair(_blockSize, "_blockSize"), stride=pair(_blockStride, "_blockStride"), cell=pair(_cellSize, "_cellSize"),
            bins=whole(_nbins, "_nbins"), sigma=max(sigma, 0.0) if sigma == sigma else sigma, clip=real(_L2HysThreshold, "_L2HysThreshold"),
            linear=not _gammaCorrection, levels=max(whole(_nlevels, "_nlevels"), 1), signed=bool(_signedGradient),
        )  # fmt: skip
        self._set(hog, sigma, whole(_derivAperture, "_derivAperture"))

    def _set(self, hog: HOG, sigma: float, aperture: int = 1) -> None:
        self._hog = hog
        self._sigma, self._aperture = sigma, aperture

    winSize = property(lambda self: self._hog.window)
    blockSize = property(lambda self: self._hog.block)
    blockStride = property(lambda self: self._hog.stride)
    cellSize = property(lambda self: self._hog.cell)
    nbins = property(lambda self: self._hog.bins)
    derivAperture = property(lambda self: self._aperture)
    winSigma = property(lambda self: self._sigma)
    histogramNormType = property(lambda self: 0)
    L2HysThreshold = property(lambda self: self._hog.clip)
    gammaCorrection = property(lambda self: not self._hog.linear)
    nlevels = property(lambda self: self._hog.levels)
    signedGradient = property(lambda self: self._hog.signed)
    svmDetector = property(lambda self: self._hog.coefficients.copy() if len(self._hog.coefficients) else ())

    def getDescriptorSize(self) -> int:
        """Return the length of a window's descriptor."""
        return self._hog.size

    def getWinSigma(self) -> float:
        """Return the standard deviation of the Gaussian that weights the pixels of a block."""
        return self._hog.sigma

    def checkDetectorSize(self) -> bool:
        """Return True: the number of coefficients is always right."""
        return True

    @raises_as_opencv
    def setSVMDetector(self, svmdetector: Any) -> None:
        """Set the coefficients of the linear classifier.

        Parameters
        ----------
        svmdetector : array_like of float, or None
            One coefficient for each value of a descriptor and, optionally, a constant that is
            added to the score. None or an empty array removes the coefficients.

        Returns
        -------
        None

        Raises
        ------
        cv2.error
            If the number of coefficients is wrong, or one is not finite.

        Examples
        --------
        >>> import numpy as np
        >>> from boxsum.compat import cv2
        >>> hog = cv2.HOGDescriptor()
        >>> hog.setSVMDetector(np.zeros(hog.getDescriptorSize() + 1, np.float32))
        """
        numbers = np.zeros(0) if svmdetector is None else svmdetector.get() if type(svmdetector).__name__ == "UMat" else np.asarray(svmdetector)
        self._set(HOG(numbers if numbers.size else None, **self._hog.settings()), self._sigma, self._aperture)

    @staticmethod
    def getDefaultPeopleDetector() -> np.ndarray:
        """Return OpenCV's coefficients for people in windows of 64×128 pixels, from ``cv2``.

        Returns
        -------
        coefficients : ndarray of float32, shape (3781,)
            The coefficients.

        Raises
        ------
        cv2.error
            If no OpenCV with these coefficients is installed.
        """
        return _people("people")

    @staticmethod
    def getDaimlerPeopleDetector() -> np.ndarray:
        """Return OpenCV's coefficients for people in windows of 48×96 pixels, from ``cv2``.

        Returns
        -------
        coefficients : ndarray of float32, shape (1981,)
            The coefficients.

        Raises
        ------
        cv2.error
            If no OpenCV with these coefficients is installed.
        """
        return _people("daimler")

    @raises_as_opencv
    def load(self, filename: str, objname: str = "") -> bool:
        """Load a descriptor and its coefficients.

        Parameters
        ----------
        filename : str
            A file that :meth:`save` wrote.
        objname : str, optional
            Name of the descriptor in the file. The default is the first one.

        Returns
        -------
        loaded : bool
            True.

        Raises
        ------
        cv2.error
            If the file cannot be read or has no such descriptor.

        Examples
        --------
        >>> import os, tempfile
        >>> from boxsum.compat import cv2
        >>> path = os.path.join(tempfile.mkdtemp(), "hog.yml")
        >>> cv2.HOGDescriptor().save(path)
        >>> hog = cv2.HOGDescriptor()
        >>> hog.load(path)
        True
        """
        try:
            hog = HOG.load(os.path.abspath(filename), objname)  # a file: OpenCV knows no names
        except OSError as missing:
            raise error(f"cannot read {filename}: {missing.strerror}") from None
        if not len(hog.coefficients) and hasattr(self, "_hog") and len(self._hog.coefficients) in (hog.size, hog.size + 1):
            hog = HOG(self._hog.coefficients, **hog.settings())  # as in OpenCV, the old ones stay
        self._set(hog, hog.sigma)
        return True

    @raises_as_opencv
    def save(self, filename: str, objname: str = "") -> None:
        """Write the descriptor and its coefficients to a file that OpenCV reads.

        Parameters
        ----------
        filename : str
            The file: XML or JSON if its extension is .xml or .json, YAML otherwise.
        objname : str, optional
            Name of the descriptor in the file. The default is the file's.

        Returns
        -------
        None

        Raises
        ------
        cv2.error
            If the file cannot be written, or the name is not allowed.

        Examples
        --------
        >>> import os, tempfile
        >>> from boxsum.compat import cv2
        >>> path = os.path.join(tempfile.mkdtemp(), "hog.yml")
        >>> cv2.HOGDescriptor().save(path)
        >>> cv2.HOGDescriptor().load(path)
        True
        """
        name = objname or re.sub(r"[^A-Za-z0-9_-]", "_", os.path.splitext(os.path.basename(filename))[0])
        if not objname and not re.match("[A-Za-z_]", name):
            name = "_" + name
        form = os.path.splitext(filename)[1].lower()
        if form == ".gz":
            raise error(f"cannot write {filename}: compressed files are not supported")
        try:
            self._hog.save_as(filename, name, "hog" + (form if form in (".xml", ".json") else ".yml"))
        except OSError as failed:
            raise error(f"cannot write {filename}: {failed.strerror}") from None

    @raises_as_opencv
    def compute(self, img: Any, winStride: Any = None, padding: Any = None, locations: Any = None) -> np.ndarray:
        """Compute the descriptors of windows.

        Parameters
        ----------
        img, winStride, padding, locations
            As for ``cv2.HOGDescriptor.compute``.

        Returns
        -------
        descriptors : ndarray of float32, shape (N,)
            The descriptors of all windows, one after the other: N is the number of windows times
            :meth:`getDescriptorSize`.

        Raises
        ------
        cv2.error
            If an argument is not supported.

        Examples
        --------
        >>> import numpy as np
        >>> from boxsum.compat import cv2
        >>> cv2.HOGDescriptor().compute(np.zeros((128, 64), np.uint8)).shape
        (3780,)
        """
        at = _locations(locations)
        return self._hog.compute(_image(img), step=self._stride(winStride, self._hog.cell), padding=_padding(padding), at=at, bgr=True).ravel()

    @raises_as_opencv
    def computeGradient(self, img: Any, grad: Any, angleOfs: Any, paddingTL: Any = None, paddingBR: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Compute the votes of each pixel in the histograms.

        Parameters
        ----------
        img, grad, angleOfs, paddingTL, paddingBR
            As for ``cv2.HOGDescriptor.computeGradient``. The arrays `grad` and `angleOfs` are
            written if they fit.

        Returns
        -------
        grad : ndarray of float32, shape (H, W, 2)
            What each pixel of the padded image adds to two bins. H and W are the height and the
            width of the padded image.
        angleOfs : ndarray of uint8, shape (H, W, 2)
            The two bins, from 0 to ``nbins - 1``.

        Raises
        ------
        cv2.error
            If an argument is not supported.

        Examples
        --------
        >>> import numpy as np
        >>> from boxsum.compat import cv2
        >>> grad, angles = cv2.HOGDescriptor().computeGradient(np.zeros((128, 64), np.uint8), None, None)
        >>> grad.shape, angles.shape
        ((128, 64, 2), (128, 64, 2))
        """
        made = self._hog.gradients(_image(img), before=_padding(paddingTL), after=_padding(paddingBR), bgr=True)
        return _handed(made[0], grad, "grad"), _handed(made[1], angleOfs, "angleOfs")

    @raises_as_opencv
    def detect(self, img: Any, hitThreshold: float = 0, winStride: Any = None, padding: Any = None, searchLocations: Any = None) -> tuple[Any, Any]:
        """Detect objects of the window's size.

        Parameters
        ----------
        img, hitThreshold, winStride, padding, searchLocations
            As for ``cv2.HOGDescriptor.detect``.

        Returns
        -------
        foundLocations : ndarray of int32, shape (N, 2), or empty tuple
            A row of x and y for each window whose score is at least `hitThreshold`: the
            position of its upper left pixel in `img`, negative in the padding. Empty tuple if
            no window is found or no coefficients are set.
        weights : ndarray of float64, shape (N,), or empty tuple
            The scores of the windows in `foundLocations`, or an empty tuple if that is one.

        Raises
        ------
        cv2.error
            If an argument is not supported.

        Examples
        --------
        >>> import numpy as np
        >>> from boxsum.compat import cv2
        >>> hog = cv2.HOGDescriptor()
        >>> hog.setSVMDetector(np.append(np.zeros(3780), 0.5))  # every window has the score 0.5
        >>> locations, weights = hog.detect(np.zeros((128, 64), np.uint8))
        >>> locations.tolist(), weights.tolist()
        ([[0, 0]], [0.5])
        """
        image, at, least = _image(img), _locations(searchLocations), real(hitThreshold, "hitThreshold")
        step, border = self._stride(winStride, self._hog.cell), _padding(padding)
        if not len(self._hog.coefficients):
            return (), ()
        scores = self._hog.scores(image, step=step, padding=border, at=at, bgr=True)
        found = (scores >= least) & (scores != -math.inf)
        if not found.any():
            return (), ()
        points = self._hog.windows(image.shape, step=step, padding=border) if at is None else np.asarray(at)
        return points[found].astype(np.int32), scores[found]

    @raises_as_opencv
    def detectMultiScale(
        self, img: Any, hitThreshold: float = 0, winStride: Any = None, padding: Any = None, scale: float = 1.05, groupThreshold: float = 2.0, useMeanshiftGrouping: bool = False
    ) -> tuple[Any, Any]:  # fmt: skip
        """Detect objects of all sizes.

        Parameters
        ----------
        img, hitThreshold, winStride, padding, scale, groupThreshold, useMeanshiftGrouping
            As for ``cv2.HOGDescriptor.detectMultiScale``.

        Returns
        -------
        foundLocations : ndarray of int32, shape (N, 4), or empty tuple
            A row of x, y, width and height for each object. Empty tuple if no object is found
            or no coefficients are set.
        foundWeights : ndarray of float64, shape (N,), or empty tuple
            The greatest score of the windows grouped into each object, or the density at the
            object if `useMeanshiftGrouping` is true. Empty tuple if `foundLocations` is one.

        Raises
        ------
        cv2.error
            If an argument is not supported.

        Examples
        --------
        >>> import numpy as np
        >>> from boxsum.compat import cv2
        >>> hog = cv2.HOGDescriptor()
        >>> hog.setSVMDetector(np.append(np.zeros(3780), 0.5))  # every window has the score 0.5
        >>> boxes, weights = hog.detectMultiScale(np.zeros((128, 64), np.uint8), groupThreshold=0)
        >>> boxes.tolist(), weights.tolist()
        ([[0, 0, 64, 128]], [0.5])
        """
        image, least, group = _image(img), real(hitThreshold, "hitThreshold"), real(groupThreshold, "groupThreshold")
        step, border, ratio = self._stride(winStride, self._hog.stride), _padding(padding), real(scale, "scale")
        if not math.isfinite(group):
            raise error(f"groupThreshold must be a finite number, got {groupThreshold}")
        if not len(self._hog.coefficients) or not least <= _FINITE:  # nothing reaches NaN and infinity
            return (), ()
        found = self._hog.detect(
            image, threshold=max(least, -_FINITE), step=step, padding=border, scale=ratio if 1 <= ratio < 1e30 else 1, neighbors=min(max(int(group), 0), 1 << 30),
            mean_shift=bool(useMeanshiftGrouping), density=group, bgr=True,
        )  # fmt: skip
        return _rectangles(found)

    def _stride(self, given: Any, usual: tuple[int, int]) -> tuple[int, int]:
        step = (0, 0) if given is None or isinstance(given, tuple) and not given else pair(given, "winStride")
        return usual if step == (0, 0) else step


def _people(name: str) -> np.ndarray:
    try:
        return attribute("cv2", PEOPLE[name][0])()
    except AttributeError:
        raise error(
            "OpenCV's coefficients of people are in opencv-python-headless below 5 and in opencv-contrib-python-headless: "
            "install one of them, or save the detector there and load the file here"
        ) from None


def _image(img: Any) -> np.ndarray:
    pixels = img.get() if type(img).__name__ == "UMat" else as_array(img)
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if pixels.dtype != np.uint8 or not (pixels.ndim == 2 or pixels.ndim == 3 and pixels.shape[2] == 3) or not pixels.size:
        raise error(f"img must be a gray or BGR image of uint8, got {pixels.dtype} with shape {pixels.shape}")
    return pixels


def _handed(made: np.ndarray, given: Any, name: str) -> np.ndarray:
    """Return the caller's array with the result, if it fits."""
    out = reuse(given, made.shape, made.dtype, name)
    if out is not None:
        out[...] = made
    return handed(made, given, out)


def _padding(given: Any) -> tuple[int, int]:
    if given is None or isinstance(given, tuple) and not given:
        return 0, 0
    x, y = pair(given, "padding")
    return max(x, 0), max(y, 0)


def _locations(given: Any) -> list[tuple[int, int]] | None:
    """Return points, or None for all windows."""
    return [pair(point, "locations") for point in given] if given is not None and len(given) else None


def _rectangles(found: Detections) -> tuple[Any, Any]:
    if not len(found.boxes):
        return (), ()
    boxes = found.boxes.astype(np.int32)
    boxes[:, 2:] -= boxes[:, :2]
    return boxes, found.scores
