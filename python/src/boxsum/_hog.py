"""Histograms of oriented gradients: see :mod:`boxsum.detect`."""

from __future__ import annotations

import json
import math
import os
import tempfile
from typing import Any

import numpy as np
from numpy import ndarray

from ._arguments import as_boxes, device_number, results, thread_count
from ._detect import Detections, detections, search_there
from ._filters import call_with_copies, on_cuda, real, sides
from ._foreign import on_host
from ._native import Handle, call
from ._types import whole
from ._typing import Image, Sides

_LARGEST = 4096  # of windows
_PADDING = 1 << 14
#: OpenCV's detectors of people: the function that returns their coefficients, and their window.
PEOPLE = {"people": ("HOGDescriptor_getDefaultPeopleDetector", (64, 128)), "daimler": ("HOGDescriptor_getDaimlerPeopleDetector", (48, 96))}


class HOG:
    """Histograms of oriented gradients, and object detection with a linear classifier.

    Descriptors are defined as in OpenCV's ``HOGDescriptor``, after Dalal and Triggs. Results
    are bit-identical to those of OpenCV 4.14 on a processor with AVX2. A HOG is immutable,
    and any number of threads may use it.

    Parameters
    ----------
    coefficients : array_like of float, optional
        Coefficients of a linear classifier, one for each number of a descriptor, and
        optionally a constant that is added to the score: for scikit-learn's ``LinearSVC``,
        ``numpy.append(coef_, intercept_)``. Scores and detection require them.
    window : int or tuple of int, default (64, 128)
        Width and height of the window that a descriptor describes.
    block : int or tuple of int, default 16
        Size of a block of cells, which are normalized together.
    stride : int or tuple of int, default 8
        Distance from one block to the next.
    cell : int or tuple of int, default 8
        Size of a cell, whose pixels share a histogram.
    bins : int, default 9
        Number of bins of a histogram, up to 256.
    signed : bool, default False
        Distinguish opposite gradients: bins cover 360° instead of 180°.
    linear : bool, default False
        Compute gradients of the pixels instead of their square roots.
    sigma : float, default 0
        Standard deviation of the Gaussian that weights the pixels of a block; 0 means an
        eighth of the sum of the block's width and height.
    clip : float, default 0.2
        Limit on the numbers of a normalized block before it is normalized again.
    levels : int, default 64
        Maximum number of scales that :meth:`detect` searches.

    Attributes
    ----------
    window, block, stride, cell : tuple of int
        Sizes, as width and height.
    bins, signed, linear, sigma, clip, levels
        As the parameters.
    coefficients : ndarray of float32
        The coefficients, read-only; empty if there are none.
    size : int
        Length of a descriptor.

    Raises
    ------
    ValueError
        If an argument is out of range, or there is a wrong number of coefficients.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> hog = boxsum.detect.HOG(window=64, bins=8, signed=True)
    >>> hog.compute(np.zeros((64, 80), np.uint8)).shape  # three windows
    (3, 1568)
    """

    def __init__(
        self,
        coefficients: Any = None,
        *,
        window: Sides = (64, 128),
        block: Sides = 16,
        stride: Sides = 8,
        cell: Sides = 8,
        bins: int = 9,
        signed: bool = False,
        linear: bool = False,
        sigma: float = 0,
        clip: float = 0.2,
        levels: int = 64,
    ) -> None:
        if not real(clip, "clip") > 0:
            raise ValueError(f"clip must be greater than 0, got {clip}")
        settings = {
            "Window": sides(window, "window", 1, _LARGEST), "Block": sides(block, "block", 1, _LARGEST),
            "Stride": sides(stride, "stride", 1, _LARGEST), "Cell": sides(cell, "cell", 1, _LARGEST),
            "Bins": whole(bins, "bins", 1, 256), "Signed": bool(signed), "Linear": bool(linear), "Sigma": real(sigma, "sigma"),
            "Clip": real(clip, "clip"), "Levels": whole(levels, "levels", 1, 4096),
        }  # fmt: skip
        self._use(Handle("hog", _json(settings, "sigma and clip"), None if coefficients is None else _numbers(coefficients)))

    def _use(self, handle: Handle) -> None:
        """Take the attributes from a descriptor of the library's."""
        self._handle = handle
        about = json.loads(call("hog_info", handle.value))
        self.window: tuple[int, int] = tuple(about["window"])
        self.block: tuple[int, int] = tuple(about["block"])
        self.stride: tuple[int, int] = tuple(about["stride"])
        self.cell: tuple[int, int] = tuple(about["cell"])
        self.bins: int = about["bins"]
        self.signed: bool = about["signed"]
        self.linear: bool = about["linear"]
        self.sigma: float = float(about["sigma"])
        self.clip: float = float(about["clip"])
        self.levels: int = about["levels"]
        self.size: int = about["size"]
        self.coefficients = np.empty(about["coefficients"], np.float32)
        call("hog_coefficients", handle.value, self.coefficients)
        self.coefficients.flags.writeable = False

    @classmethod
    def load(cls, path: str | os.PathLike[str], name: str = "") -> HOG:
        """Load a descriptor from a file.

        Parameters
        ----------
        path : str or path
            A file that OpenCV's ``HOGDescriptor.save`` or :meth:`save` wrote, as XML, YAML or
            JSON. Unless there are files with these names, ``"people"`` and ``"daimler"`` load
            OpenCV's two people detectors. Their coefficients come from ``cv2``, which has
            them below version 5 and in opencv-contrib-python.
        name : str, optional
            The name of the descriptor in the file. The default is the first one.

        Returns
        -------
        hog : HOG
            The descriptor, with its coefficients if the file has any.

        Raises
        ------
        FileNotFoundError
            If there is no such file, or no OpenCV with the detector is installed.
        ValueError
            If the file has no valid descriptor.

        Examples
        --------
        >>> import boxsum, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "hog.yml")
        >>> boxsum.detect.HOG(window=(64, 64)).save(path)
        >>> boxsum.detect.HOG.load(path).window
        (64, 64)
        """
        if isinstance(path, str) and path in PEOPLE and not os.path.exists(path):
            function, window = PEOPLE[path]
            return cls(_of_opencv(path, function), window=window)
        found = object.__new__(cls)
        found._use(Handle("hog_load", os.fsencode(path), name.encode()))
        return found

    def save(self, path: str | os.PathLike[str], name: str = "hog") -> None:
        """Write the descriptor with its coefficients to a file that :meth:`load` and OpenCV read.

        Parameters
        ----------
        path : str or path
            The file. Its extension selects the format: .xml, .yml, .yaml or .json.
        name : str, default "hog"
            The name of the descriptor in the file.

        Returns
        -------
        None
            If writing fails, no partial file is left.

        Raises
        ------
        ValueError
            If the extension is unknown, or the name contains characters other than letters,
            digits, - and _.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import boxsum, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "hog.json")
        >>> boxsum.detect.HOG(window=(64, 64)).save(path)
        >>> boxsum.detect.HOG.load(path).window
        (64, 64)
        """
        self.save_as(path, name, path)

    def save_as(self, path: str | os.PathLike[str], name: str, form: str | os.PathLike[str]) -> None:
        """Write a file like :meth:`save`, in the format of another file's extension.

        Parameters
        ----------
        path, name
            As for :meth:`save`.
        form : str or path
            A file name whose extension selects the format.

        Returns
        -------
        None
            If writing fails, no partial file is left.

        Raises
        ------
        ValueError, OSError
            As for :meth:`save`.

        Examples
        --------
        >>> import boxsum, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "hog")
        >>> boxsum.detect.HOG(window=(64, 64)).save_as(path, "hog", "hog.json")
        >>> boxsum.detect.HOG.load(path).window
        (64, 64)
        """
        _write_whole(os.fsdecode(path), call("hog_save", self._handle.value, os.fsencode(form), name.encode()))

    def __repr__(self) -> str:
        trained = "" if len(self.coefficients) else ", without coefficients"
        return f"<boxsum.detect.HOG of {self.window[0]}x{self.window[1]} pixels, {self.size} numbers{trained}>"

    def __reduce__(self) -> Any:
        return _again, (self.coefficients, self.settings())

    def settings(self) -> dict[str, Any]:
        """Return the arguments that make an equal descriptor, without the coefficients.

        Returns
        -------
        settings : dict
            The keyword arguments of :class:`HOG`.
        """
        names = ("window", "block", "stride", "cell", "bins", "signed", "linear", "sigma", "clip", "levels")
        return {name: getattr(self, name) for name in names}

    def windows(self, shape: tuple[int, ...], *, step: Sides | None = None, padding: Sides = 0) -> ndarray:
        """Return the positions of the windows of :meth:`compute` and :meth:`scores`.

        Parameters
        ----------
        shape : tuple of int
            The shape of the image: its height and width, and optionally more.
        step, padding
            As for :meth:`compute`.

        Returns
        -------
        windows : ndarray of int64, shape (N, 2)
            The coordinates ``x, y`` of the upper left pixel of each window, row by row.

        Raises
        ------
        ValueError
            If an argument is out of range.

        Examples
        --------
        >>> import boxsum
        >>> boxsum.detect.HOG(window=(64, 128)).windows((128, 80), step=8).tolist()
        [[0, 0], [8, 0], [16, 0]]
        """
        if len(shape) < 2:
            raise ValueError(f"shape must be (H, W) or (H, W, C), got {shape}")
        height, width = whole(shape[0], "height", 0), whole(shape[1], "width", 0)
        options = _windows(step, padding, None, False, None)
        all = np.empty((call("hog_windows", self._handle.value, width, height, options, None), 2), np.int64)
        call("hog_windows", self._handle.value, width, height, options, all)
        return all

    def compute(
        self,
        image: Image,
        *,
        step: Sides | None = None,
        padding: Sides = 0,
        at: Any = None,
        bgr: bool = False,
        workers: int | None = None,
        out: ndarray | None = None,
    ) -> ndarray:
        """Compute the descriptors of windows.

        Parameters
        ----------
        image : array_like of uint8, shape (H, W), (H, W, 3) or (H, W, 4)
            Gray or RGB image.
        step : int or tuple of int, optional
            Distance between windows. The default is that between blocks.
        padding : int or tuple of int, default 0
            Extend the image by this many mirrored pixels on each side. If the greatest
            common divisor of `step` and the distance between blocks is a power of two, the
            padding is rounded up to a multiple of it.
        at : array_like of int, shape (N, 2), optional
            The upper left pixels ``x, y`` of the windows. Those outside of the padded image
            have descriptors of zeros. The default is all windows a `step` apart.
        bgr : bool, default False
            Channels are blue, green and red, as ``cv2.imread`` returns them. This matters only
            where the gradients of two channels are equally strong.
        workers : int, optional
            Maximum number of threads. The default is one per available CPU.
        out : ndarray of float32, shape (N, size), optional
            Destination, a C-contiguous array. By default, a new array is allocated.

        Returns
        -------
        descriptors : ndarray of float32, shape (N, size)
            One row for each window, in the order of :meth:`windows` or `at`. The blocks of a
            window come column by column, and so do the cells of a block.

        Raises
        ------
        TypeError
            If the image is not of uint8.
        ValueError
            If an argument is out of range.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> hog = boxsum.detect.HOG(window=(64, 64))
        >>> hog.compute(np.zeros((128, 96), np.uint8), step=32).shape
        (6, 1764)
        """
        return self._each(image, "hog_compute", np.float32, (self.size,), step, padding, at, bgr, workers, out)

    def scores(
        self,
        image: Image,
        *,
        step: Sides | None = None,
        padding: Sides = 0,
        at: Any = None,
        bgr: bool = False,
        workers: int | None = None,
        out: ndarray | None = None,
    ) -> ndarray:
        """Compute the score that the linear classifier gives to each window.

        Parameters
        ----------
        image, step, padding, at, bgr, workers
            As for :meth:`compute`.
        out : ndarray of float64, shape (N,), optional
            Destination, a C-contiguous array. By default, a new array is allocated.

        Returns
        -------
        scores : ndarray of float64, shape (N,)
            The scores; -inf for windows outside of the padded image.

        Raises
        ------
        TypeError
            If the image is not of uint8.
        ValueError
            If an argument is out of range, or there are no coefficients.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> coefficients = np.append(np.zeros(1764), 0.5)  # the last one is added to every score
        >>> hog = boxsum.detect.HOG(coefficients, window=(64, 64))
        >>> hog.scores(np.zeros((64, 96), np.uint8), step=32)
        array([0.5, 0.5])
        """
        return self._each(image, "hog_scores", np.float64, (), step, padding, at, bgr, workers, out)

    def _each(self, image: Image, function: str, dtype: Any, row: tuple[int, ...], step: Any, padding: Any, at: Any, bgr: bool, workers: Any, out: Any) -> ndarray:
        pixels = _pixels(image)
        points = None if at is None else as_boxes(at, 2).reshape(-1, 2).tolist()
        options = _windows(step, padding, points, bgr, workers)
        count = call("hog_windows", self._handle.value, pixels.shape[1], pixels.shape[0], options, None)
        result = results((count, *row), dtype, out, pixels)
        call_with_copies((result,), function, self._handle.value, pixels, options, result)
        return result

    def gradients(self, image: Image, *, before: Sides = 0, after: Sides = 0, bgr: bool = False, workers: int | None = None) -> tuple[ndarray, ndarray]:
        """Compute the votes of each pixel, before any weights are applied.

        Parameters
        ----------
        image, bgr, workers
            As for :meth:`compute`.
        before, after : int or tuple of int, default 0
            Extend the image by this many mirrored pixels on the left and top, and on the right
            and bottom.

        Returns
        -------
        votes : ndarray of float32, shape (H, W, 2)
            What each pixel adds to two neighboring bins. H and W are the height and width of
            the extended image.
        bins : ndarray of uint8, shape (H, W, 2)
            The bins.

        Raises
        ------
        TypeError
            If the image is not of uint8.
        ValueError
            If an argument is out of range.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> votes, bins = boxsum.detect.HOG().gradients(np.zeros((20, 30), np.uint8), before=(2, 1))
        >>> votes.shape, bins.shape
        ((21, 32, 2), (21, 32, 2))
        """
        pixels = _pixels(image)
        first, last = sides(before, "before", 0, _PADDING), sides(after, "after", 0, _PADDING)
        shape = (pixels.shape[0] + first[1] + last[1], pixels.shape[1] + first[0] + last[0], 2)
        votes, bins = np.empty(shape, np.float32), np.empty(shape, np.uint8)
        options = _json({"Before": first, "After": last, "BGR": bool(bgr), "Workers": thread_count(workers)}, "")
        call_with_copies((votes, bins), "hog_gradients", self._handle.value, pixels, options, votes, bins)
        return votes, bins

    def detect(
        self,
        image: Image,
        *,
        threshold: float = 0,
        scale: float = 1.05,
        step: Sides | None = None,
        padding: Sides = 0,
        neighbors: int = 2,
        mean_shift: bool = False,
        density: float = 2,
        min_size: Sides = 0,
        max_size: Sides = 0,
        ignore: Any = None,
        limit: int = 0,
        bgr: bool = False,
        workers: int | None = None,
        device: str | None = None,
    ) -> Detections:
        """Detect objects in an image, at the size of the window and all larger sizes.

        Parameters
        ----------
        image : array_like of uint8, shape (H, W), (H, W, 3) or (H, W, 4)
            Gray or RGB image. CuPy and PyTorch arrays on a CUDA device are searched there.
        step, padding, bgr, workers
            As for :meth:`compute`.
        threshold : float, default 0
            The lowest score at which a window is found.
        scale : float, default 1.05
            Ratio between successive window sizes; 1 searches windows of one size only.
        neighbors : int, default 2
            A detection needs more than this many windows, like OpenCV's ``groupThreshold``.
            0 returns every window that is found, ungrouped.
        mean_shift : bool, default False
            Group windows by mean shift instead: detections are the maxima of their density in
            position and size, weighted by their scores.
        density : float, default 2
            With `mean_shift`, the density that a detection must exceed.
        min_size, max_size : int or tuple of int, default 0
            Smallest and largest window size; 0 for no limit.
        ignore : array_like, shape (N, 4), optional
            Boxes ``x0, y0, x1, y1``: windows whose center lies in one are not found.
        limit : int, default 0
            Maximum number of windows found before grouping; more are an error. 0 means
            1,048,576, or 4,096 with `mean_shift`, whose running time grows with the square
            of their number.
        device : str, optional
            Where to search: ``"cpu"`` (the default), or a device such as ``"cuda"``,
            ``"cuda:1"`` or ``"opencl"``, with the same results.

        Returns
        -------
        found : Detections
            The detections. Scores are those of the best windows or, with `mean_shift`,
            densities; angles and stages are 0.

        Raises
        ------
        TypeError
            If the image is not of uint8.
        ValueError
            If an argument is out of range, or there are no coefficients.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> coefficients = np.append(np.zeros(1764), 0.5)  # every window has the score 0.5
        >>> hog = boxsum.detect.HOG(coefficients, window=(64, 64))
        >>> found = hog.detect(np.zeros((64, 64), np.uint8), neighbors=0)
        >>> found.boxes.tolist(), found.scores.tolist()
        ([[0, 0, 64, 64]], [0.5])
        """
        count = whole(neighbors, "neighbors", 0)
        density = real(density, "density")
        if real(scale, "scale") < 1:
            raise ValueError(f"scale must be 1 or more, got {scale}")
        settings = {
            "Threshold": real(threshold, "threshold"), "Scale": real(scale, "scale"), "Density": density or _TINY,
            "Step": _step(step), "Padding": sides(padding, "padding", 0), "Min": sides(min_size, "min_size", 0), "Max": sides(max_size, "max_size", 0),
            "Neighbors": count, "Limit": whole(limit, "limit", 0), "Workers": thread_count(workers),
            "Ungrouped": count == 0 and not mean_shift, "MeanShift": bool(mean_shift), "BGR": bool(bgr),
            "Ignore": None if ignore is None else as_boxes(ignore, 4).reshape(-1, 4).tolist(),
        }  # fmt: skip
        text, kind = _json(settings, "threshold, scale and density"), on_cuda(image)
        if kind is not None:
            return detections(search_there("hog_detect_device", self._handle, kind, image, text, device))
        return detections(call_with_copies((), "hog_detect", self._handle.value, _pixels(image), text, device_number(device)))


_TINY = 5e-324  # density that is as good as 0, which the library takes for the default


def _again(coefficients: ndarray, settings: dict[str, Any]) -> HOG:
    """Return a HOG from a pickle."""
    return HOG(coefficients if len(coefficients) else None, **settings)


def _of_opencv(name: str, function: str) -> ndarray:
    """Return the coefficients of one of OpenCV's detectors."""
    try:
        import cv2

        return getattr(cv2, function)()
    except ImportError:
        why = "OpenCV is not installed"
    except AttributeError:
        why = "the installed OpenCV does not have them"
    raise FileNotFoundError(
        f"{name!r} is not a file, and OpenCV's coefficients of that name are not available: {why} "
        "(install opencv-python-headless below 5 or opencv-contrib-python-headless, or pass a file that HOGDescriptor.save wrote)"
    )


def _numbers(coefficients: Any) -> ndarray:
    """Return coefficients as a list of float32."""
    given = np.asarray(coefficients)
    if given.dtype.kind not in "iuf" or given.size != max(given.shape, default=0):
        raise ValueError(f"coefficients must be a list of numbers, got {given.dtype} with shape {given.shape}")
    with np.errstate(over="ignore"):  # infinities are refused
        return np.ascontiguousarray(given.ravel(), np.float32)


def _pixels(image: Image) -> ndarray:
    pixels = on_host(image)
    if pixels.dtype != np.uint8:
        raise TypeError(f"image must have type uint8, got {pixels.dtype}")
    if pixels.ndim not in (2, 3):
        raise ValueError(f"image must have shape (H, W) or (H, W, C), got {pixels.shape}")
    return pixels


def _step(step: Sides | None) -> tuple[int, int]:
    return (0, 0) if step is None else sides(step, "step", 1)


def _windows(step: Sides | None, padding: Sides, at: Any, bgr: bool, workers: Any) -> bytes:
    """Return the options of compute and scores."""
    return _json({"Step": _step(step), "Padding": sides(padding, "padding", 0), "At": at, "BGR": bool(bgr), "Workers": thread_count(workers)}, "")


def _json(settings: dict[str, Any], floats: str) -> bytes:
    try:
        return json.dumps(settings, allow_nan=False).encode()
    except ValueError:
        wrong = [v for v in settings.values() if isinstance(v, float) and not math.isfinite(v)]
        raise ValueError(f"{floats} must be finite, got {', '.join(map(str, wrong))}") from None


def _write_whole(path: str, text: str) -> None:
    """Write a file that appears complete or not at all."""
    folder, name = os.path.split(path)
    descriptor, partial = tempfile.mkstemp(prefix=f".{name}-", dir=folder or os.curdir)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii", newline="\n") as file:
            file.write(text)
        os.chmod(partial, 0o666 & ~_umask())
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise


def _umask() -> int:
    """Return the mask for the permissions of new files."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
