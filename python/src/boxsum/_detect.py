"""Object detection with cascades: see :mod:`boxsum.detect`."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from ._arguments import as_boxes, device_number, thread_count
from ._filters import call_with_copies, on_cuda, real, sides
from ._foreign import on_host
from ._native import Handle, LayoutError, call, flat_array
from ._types import whole
from ._typing import Image, Sides

TURNS = ("image", "tables")  # in the library's order


def _opencv_data() -> str:
    """Return the folder of the cascades of this Python's OpenCV, or an empty string."""
    found = find_spec("cv2")
    return "" if found is None or found.origin is None else os.path.join(os.path.dirname(found.origin), "data")


class Detections(NamedTuple):
    """Detected objects, each of which has one row in every array.

    Attributes
    ----------
    boxes : ndarray of int64, shape (N, 4)
        Boxes as ``x0, y0, x1, y1``. A rotated detection is its box rotated about its
        center by its angle.
    neighbors : ndarray of int64, shape (N,)
        Number of windows in the group.
    scores : ndarray of float64, shape (N,)
        Score of the best window of the group: for cascades, the sum of its last stage. Higher
        is more certain.
    angles : ndarray of float64, shape (N,)
        Rotation in degrees clockwise.
    stages : ndarray of int64, shape (N,)
        Number of stages passed: all of them, or fewer for near misses.
    mirrored : ndarray of bool, shape (N,)
        Whether the object is mirrored.
    """

    boxes: ndarray
    neighbors: ndarray
    scores: ndarray
    angles: ndarray
    stages: ndarray
    mirrored: ndarray


def detections(answer: str) -> Detections:
    """Return the detections that the library describes."""
    rows = np.array(json.loads(answer), np.float64).reshape(-1, 9)
    boxes = rows[:, :4].astype(np.int64)
    boxes[:, 2:] += boxes[:, :2]
    counts, stages = rows[:, 5].astype(np.int64), rows[:, 7].astype(np.int64)
    return Detections(boxes, counts, rows[:, 6].copy(), rows[:, 4].copy(), stages, rows[:, 8] != 0)


class Cascade:
    """A detector loaded from an OpenCV XML file.

    Haar-like features, upright and tilted, and local binary patterns are supported, in the
    current format and that of OpenCV 1. A cascade is immutable, and any number of threads
    may use it.

    Parameters
    ----------
    path : str or path
        The XML file, or the name of an installed cascade, such as ``"frontalface_alt2"`` or
        ``"eye"``. Names are searched first in the folders listed in the environment
        variable ``BOXSUM_CASCADES``, then in those of OpenCV.

    Attributes
    ----------
    window : tuple of int
        Width and height of the smallest window.
    kind : str
        ``"HAAR"`` or ``"LBP"``.
    stages : int
        Number of stages.
    features : int
        Number of features.

    Raises
    ------
    FileNotFoundError
        If there is no such file, and no cascade of this name is installed.
    ValueError
        If the file is not a cascade, or several installed cascades have this name.

    Examples
    --------
    >>> import boxsum
    >>> face = boxsum.detect.Cascade("frontalface_alt2")
    >>> face.window
    (20, 20)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if isinstance(path, str):  # it may be a name
            path = call("find_cascade", *map(os.fsencode, (path, os.environ.get("BOXSUM_CASCADES", ""), _opencv_data())))
        self._path = os.fspath(path)
        self._handle = Handle("cascade", os.fsencode(self._path))
        about = json.loads(call("cascade_info", self._handle.value))
        self.window: tuple[int, int] = (about["window"][0], about["window"][1])
        self.kind: str = about["kind"]
        self.stages: int = about["stages"]
        self.features: int = about["features"]

    def __repr__(self) -> str:
        return f"<boxsum.detect.Cascade {self.kind} of {self.window[0]}x{self.window[1]} pixels, {self.stages} stages: {self._path}>"

    def __reduce__(self) -> Any:
        return Cascade, (self._path,)

    def detect(
        self,
        image: Image,
        *,
        scale: float = 1.1,
        neighbors: int = 3,
        min_size: Sides = 0,
        max_size: Sides = 0,
        angles: Any = None,
        turn: str = "image",
        each_angle: bool = False,
        mirror: bool = False,
        ignore: Any = None,
        near_misses: int = 0,
        contrast: float = 0,
        limit: int = 0,
        compat: bool = False,
        bgr: bool = False,
        workers: int | None = None,
        device: str | None = None,
    ) -> Detections:
        """Detect objects in an image.

        Parameters
        ----------
        image : array_like of uint8, shape (H, W), (H, W, 3) or (H, W, 4)
            Gray or RGB image. CuPy and PyTorch arrays on a CUDA device are searched there.
        scale : float, default 1.1
            Ratio between successive window sizes, greater than 1.
        neighbors : int, default 3
            A detection needs more than this many windows, like OpenCV's ``minNeighbors``. 0
            returns every window that passes, ungrouped.
        min_size, max_size : int or tuple of int, default 0
            Smallest and largest window size; 0 for no limit.
        angles : sequence of float, optional
            Rotations to search, in degrees clockwise. The default is upright objects only.
        turn : {"image", "tables"}, default "image"
            How to search angles between multiples of 45°: in a rotated image, or with
            rotated tables of the original image. Tables use the nearest angle whose tangent
            is a ratio of integers up to 5.
        each_angle : bool, default False
            Search every angle separately, even where the first stages reject at the angles on
            both sides of it.
        mirror : bool, default False
            Also find mirrored objects, such as profiles that look the other way.
        ignore : array_like, shape (N, 4), optional
            Boxes ``x0, y0, x1, y1``: windows whose center lies in one are skipped.
        near_misses : int, default 0
            Also return windows that fail, but only in one of this many stages at the end of
            the cascade.
        contrast : float, default 0
            Skip windows whose standard deviation does not exceed this number; 0 means 10.
        limit : int, default 0
            Maximum number of windows that may pass before grouping; more are an error. 0
            means 1,048,576.
        compat : bool, default False
            Search exactly the windows that OpenCV searches, which may leave out the last row.
            The results then equal those of OpenCV 4.14 bit for bit.
        bgr : bool, default False
            Channels are blue, green and red, as ``cv2.imread`` returns them.
        workers : int, optional
            Maximum number of threads. The default is one per available CPU.
        device : str, optional
            Where to search: ``"cpu"`` (the default), or a device such as ``"cuda"``,
            ``"cuda:1"`` or ``"opencl"``, with the same results. Rotated objects and near misses
            require the CPU.

        Returns
        -------
        found : Detections
            The detections.

        Raises
        ------
        TypeError
            If the image is not of uint8.
        ValueError
            If an argument is out of range.

        Examples
        --------
        >>> import boxsum, numpy as np
        >>> face = boxsum.detect.Cascade("frontalface_alt2")
        >>> found = face.detect(np.zeros((480, 640), np.uint8), min_size=40)
        >>> len(found.boxes)
        0
        """
        count = whole(neighbors, "neighbors", 0)
        if real(scale, "scale") <= 1:
            raise ValueError(f"scale must be greater than 1, got {scale}")
        if turn not in TURNS:
            raise ValueError(f"turn must be 'image' or 'tables', got {turn!r}")
        lowest = -(1 << 31) if compat else 0  # OpenCV allows negative sizes
        settings = {
            "Scale": real(scale, "scale"), "Neighbors": count, "Ungrouped": count == 0,
            "Min": sides(min_size, "min_size", lowest), "Max": sides(max_size, "max_size", lowest),
            "Angles": None if angles is None else [real(a, "angles") for a in angles],
            "Turn": TURNS.index(turn), "EachAngle": bool(each_angle), "Mirror": bool(mirror),
            "Ignore": None if ignore is None else as_boxes(ignore, 4).reshape(-1, 4).tolist(),
            "NearMisses": whole(near_misses, "near_misses", 0), "Contrast": real(contrast, "contrast"), "Limit": whole(limit, "limit", 0),
            "Compat": bool(compat), "BGR": bool(bgr), "Workers": thread_count(workers),
        }  # fmt: skip
        try:
            text = json.dumps(settings, allow_nan=False)
        except ValueError:
            raise ValueError(f"scale, contrast and angles must be finite, got {scale}, {contrast} and {angles}") from None
        kind = on_cuda(image)
        if kind is not None:
            answer = search_there("detect_device", self._handle, kind, image, text.encode(), device)
        else:
            pixels = on_host(image)
            if pixels.dtype != np.uint8:
                raise TypeError(f"image must have type uint8, got {pixels.dtype}")
            answer = call_with_copies((), "detect", self._handle.value, pixels, text.encode(), device_number(device))
        return detections(answer)


def search_there(function: str, handle: Handle, kind: Any, array: Any, settings: bytes, device: Any) -> Any:
    """Search an array on a CUDA device."""
    image = kind.read(array)
    index, pixel = kind.index(image), kind.parts(image)[3]
    if pixel != np.uint8:
        raise TypeError(f"image must have type uint8, got {pixel}")
    if device is not None and device not in ("gpu", "cuda", f"cuda:{index}"):
        raise ValueError(f"device must be 'cuda:{index}', where the image is, got {device!r} (or copy the image first)")
    number, stream = kind.number(index), kind.stream(image)
    try:
        return call(function, handle.value, settings, flat_array(*kind.parts(image)), number, stream)
    except LayoutError:
        image = kind.contiguous(image)
        return call(function, handle.value, settings, flat_array(*kind.parts(image)), number, stream)
