"""Objects in images, by cascades of OpenCV.

    >>> import boxsum.detect
    >>> face = boxsum.detect.Cascade("haarcascade_frontalface_alt2.xml")   # doctest: +SKIP
    >>> face.detect(photo).boxes                                           # doctest: +SKIP
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray

from ._arguments import as_boxes, device_number, thread_count
from ._filters import call_with_copies, on_cuda, real, sides
from ._foreign import on_host
from ._native import Handle, LayoutError, call, flat_array
from ._types import whole
from ._typing import Image, Sides

__all__ = ["Cascade", "Detections"]

TURNS = ("image", "tables")  # in the order of the library


class Detections(NamedTuple):
    """What a cascade found, one row each."""

    boxes: ndarray  #: ``x0, y0, x1, y1``; one that is turned is this box turned about its middle
    neighbors: ndarray  #: how many windows it stands for
    scores: ndarray  #: the sum of the last stage in the best of these: the higher, the surer
    angles: ndarray  #: how far it is turned, in degrees clockwise
    stages: ndarray  #: how many stages it passed: all, and less for near misses
    mirrored: ndarray  #: whether it is as in a mirror


class Cascade:
    """A detector from an XML file of OpenCV, such as ``haarcascade_frontalface_alt2.xml``.

    Haar-like features, upright and tilted, and local binary patterns; today's format and
    that of OpenCV 1. It never changes, and any number of threads may use it.

    Attributes
    ----------
    window : tuple of int
        Width and height of the least window.
    kind : str
        ``"HAAR"`` or ``"LBP"``.
    stages, features : int
        How many it has.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._handle = Handle("cascade", os.fsencode(path))
        self._path = os.fspath(path)
        about = json.loads(call("cascade_info", self._handle.value))
        self.window: tuple[int, int] = tuple(about["window"])  # type: ignore[assignment]
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
        """Find what the cascade knows.

        Parameters
        ----------
        image : array_like of uint8, shape (H, W), (H, W, 3) or (H, W, 4)
            Gray, or colour as red, green and blue. Arrays of CuPy and PyTorch on a CUDA device are searched there.
        scale : float
            The ratio of one size of windows to the next, more than 1.
        neighbors : int
            How many windows a result stands for, less one; 0 gives every window that passes.
        min_size, max_size : int or (int, int)
            The least and the greatest size of windows; 0 for any.
        angles : sequence of float, optional
            How far objects may be turned, in degrees clockwise. The default is upright.
        turn : {"image", "tables"}
            How angles between multiples of 45 are searched: in a turned image, or on rotated tables of the image as it is, along the
            nearest ratio of numbers up to 5.
        each_angle : bool
            Search every angle by itself, also where the first stages of angles on both sides reject.
        mirror : bool
            Find also what is as in a mirror, such as profiles that look the other way.
        ignore : array_like, shape (N, 4), optional
            Boxes ``x0, y0, x1, y1``: windows with their middle in one are not found.
        near_misses : int
            Give windows too that fail in one of so many last stages.
        contrast : float
            The standard deviation that the pixels of a window exceed; 0 stands for 10.
        limit : int
            How many windows may pass before grouping; more are an error. 0 stands for 1,048,576.
        compat : bool
            Search no window that OpenCV does not: it may lose the last row. Results are then those of OpenCV 4.14, to the bit.
        bgr : bool
            Colour is blue, green and red, as ``cv2.imread`` has it.
        workers : int, optional
            How many threads may work at once.
        device : str, optional
            Where to search: ``"cpu"``, which is the default, or a device such as ``"cuda"``, ``"cuda:1"`` or ``"opencl"``, which finds
            the same. Turned objects and near misses are for the processor.

        Returns
        -------
        found : Detections
        """
        count = whole(neighbors, "neighbors", 0)
        if real(scale, "scale") <= 1:
            raise ValueError(f"scale is {scale}: it must be more than 1")
        if turn not in TURNS:
            raise ValueError(f"turn={turn!r}: use 'image' or 'tables'")
        lowest = -(1 << 31) if compat else 0  # OpenCV takes negative sizes
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
            raise ValueError("scale, contrast and angles must be finite numbers") from None
        kind = on_cuda(image)
        if kind is not None:
            answer = self._there(kind, image, text.encode(), device)
        else:
            pixels = on_host(image)
            if pixels.dtype != np.uint8:
                raise TypeError(f"an image of {pixels.dtype}: it takes uint8")
            answer = call_with_copies((), "detect", self._handle.value, pixels, text.encode(), device_number(device))
        rows = np.array(json.loads(answer), np.float64).reshape(-1, 9)
        boxes = rows[:, :4].astype(np.int64)
        boxes[:, 2:] += boxes[:, :2]
        counts, stages = rows[:, 5].astype(np.int64), rows[:, 7].astype(np.int64)
        return Detections(boxes, counts, rows[:, 6].copy(), rows[:, 4].copy(), stages, rows[:, 8] != 0)

    def _there(self, kind: Any, array: Any, settings: bytes, device: Any) -> Any:
        """What the library finds in an array of a CUDA device."""
        image = kind.read(array)
        index, pixel = kind.index(image), kind.parts(image)[3]
        if pixel != np.uint8:
            raise TypeError(f"an image of {pixel}: it takes uint8")
        if device is not None and device not in ("gpu", "cuda", f"cuda:{index}"):
            raise ValueError(f"the image is on cuda:{index}, and device says {device!r}: copy it there first")
        number, stream = kind.number(index), kind.stream(image)
        try:
            return call("detect_device", self._handle.value, settings, flat_array(*kind.parts(image)), number, stream)
        except LayoutError:
            image = kind.contiguous(image)
            return call("detect_device", self._handle.value, settings, flat_array(*kind.parts(image)), number, stream)
