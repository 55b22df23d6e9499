"""Blurs, and what lies round every pixel."""

from __future__ import annotations

import functools
import math
import sys
import threading
from typing import Any, Callable, TypeVar

import numpy as np
from numpy import ndarray

from . import _batch
from ._arguments import refuse_overlap, same_type, thread_count
from ._cuda import Cuda
from ._foreign import as_given, find, on_host
from ._memory import new_image
from ._native import LayoutError, call, flat_array
from ._types import whole
from ._typing import Axes, Image, Pair, Sides

_PIXELS = {np.dtype(t) for t in ("u1", "u2", "f4", "f8")}
_FLOATS = {np.dtype(t) for t in ("f4", "f8")}
_LARGEST = (1 << 30) - 1  # side of a window


_now = threading.local()


def leading() -> int:
    """How many leading axes the images have that a filter works on now."""
    return getattr(_now, "lead", 0)


F = TypeVar("F", bound=Callable[..., Any])


def over_axes(function: F) -> F:
    """Has a filter take ``axes``: it then sees arrays with as many leading axes as :func:`leading` says."""
    @functools.wraps(function)
    def batched(a: Any, *arguments: Any, axes: Any = None, out: Any = None, **named: Any) -> Any:
        if axes is None:
            return function(a, *arguments, out=out, **named)
        image = on_host(a)
        strides = (0,) * image.ndim if function.__name__ == "guided" else image.strides  # a guide with channels is a colour
        order = _batch.order_of(image.shape, strides, image.itemsize, axes, (2,))

        given = [on_host(o) for o in (out if isinstance(out, (tuple, list)) else (out,)) if o is not None]
        order = order.fit(*((0, o.shape, o.strides, o.dtype) for o in given if o.ndim == image.ndim))

        def see(array: Any) -> Any:
            if array is None:
                return None
            array = on_host(array)
            if array.ndim != image.ndim:
                raise ValueError(f"an array of shape {array.shape} for a batch of shape {image.shape}: it must have as many axes")
            return order.see(array)

        outs = None if out is None else tuple(map(see, out)) if isinstance(out, (tuple, list)) else see(out)
        for name in ("guide",):
            if named.get(name) is not None:
                named[name] = see(named[name])
        _now.lead = order.lead
        try:
            made = function(order.see(image), *arguments, out=outs, **named)
        finally:
            _now.lead = 0
        if isinstance(made, tuple):
            return tuple(as_given(order.restore(m), None if out is None else out[i], a) for i, m in enumerate(made))
        return as_given(order.restore(made), out, a)

    return batched  # type: ignore[return-value]


def pixels_of(a: Any) -> ndarray:
    """An image in memory of the host whose pixels can be filtered."""
    image = on_host(a)
    if image.ndim - leading() not in (2, 3):
        raise ValueError(f"an array of shape {image.shape}: an image has shape (H, W) or (H, W, C), and axes= says which axes are those of images")
    if image.dtype.newbyteorder("=") not in _PIXELS:
        raise TypeError(f"pixels of {image.dtype} cannot be filtered: take uint8, uint16, float32 or float64, as .astype(numpy.float32) makes them")
    return image


def result_for(image: ndarray, dtype: Any, out: Any, shape: tuple[int, ...] | None = None) -> ndarray:
    """The array to write to, of the shape of the image if there is no other."""
    wanted = image.shape if shape is None else shape
    if out is None:
        lead = leading()
        if lead:
            whole = (math.prod(wanted[: lead + 1]), *wanted[lead + 1 :])
            return new_image(whole, np.dtype(dtype).newbyteorder("=")).reshape(wanted)
        return new_image(wanted, np.dtype(dtype).newbyteorder("="))
    if isinstance(out, (list, tuple)) or not hasattr(out, "shape"):
        raise TypeError(f"out must be an array, not {type(out).__name__}")
    out = on_host(out)
    if out.shape != wanted:
        raise ValueError(f"out has shape {out.shape}, and the result {wanted}")
    if out.dtype != dtype:
        raise TypeError(f"out is of {out.dtype}, and the result of {np.dtype(dtype)}")
    return out


def float_type(image: ndarray, dtype: Any, out: Any) -> np.dtype:
    """The type of statistics: float32, but for float64."""
    if out is not None and hasattr(out, "dtype"):
        dtype = same_type(dtype, on_host(out).dtype)
    elif dtype is None:
        dtype = np.float64 if image.dtype.itemsize == 8 else np.float32
    dtype = np.dtype(dtype)
    if dtype not in _FLOATS:
        raise TypeError(f"results of {dtype}: they are of float32 or float64")
    return dtype


def sides(size: Any, name: str, least: int = 1, most: int = _LARGEST) -> tuple[int, int]:
    """One whole number for both sides, or a pair of them: across and down."""
    if np.ndim(size) == 0:
        n = whole(size, name, least, most)
        return n, n
    if np.shape(size) != (2,):
        raise ValueError(f"{name} is {size!r}: it takes one number, or two, across and down")
    return whole(size[0], name, least, most), whole(size[1], name, least, most)


def border_of(border: Any) -> bytes:
    if not isinstance(border, str):
        raise TypeError(f"a border of {border!r}: it is the name of one, such as 'reflect101'")
    return border.encode()


def real(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, not {value!r}") from None


_WORKERS = {"filter": 10, "gaussian": 7, "entropy": 10, "downsample": 6}  # which argument that is, of those that take batches


def call_with_copies(outs: tuple, name: str, *arguments: Any) -> Any:
    """Calls the library, with copies of the arrays that it reads if they lie in memory in another way than rows."""
    lead = leading()
    shared = (3,) if name == "filter" and arguments[0] == b"radii" else ()  # one map for all images
    read = [isinstance(a, ndarray) and not any(a is out for out in outs) for a in arguments]
    reads = [a for a, is_read in zip(arguments, read) if is_read]
    if lead:  # the library looks at one image at a time
        refuse_overlap(outs, reads, in_place=True)
    try:
        return _batch.run(lead, _WORKERS.get(name, 0), name, *arguments, shared=shared)
    except LayoutError:
        refuse_overlap(outs, reads, in_place=True)
        copies = (np.array(a, a.dtype.newbyteorder("="), order="C") if copy else a for a, copy in zip(arguments, read))
        return _batch.run(lead, _WORKERS.get(name, 0), name, *copies, shared=shared)


def run(
    name: bytes, image: ndarray, out: ndarray, window: tuple[int, int], border: Any, value: Any, workers: int | None,
    other: ndarray | None = None, number: float = 0.0, shift: tuple[int, int] = (0, 0),
) -> None:  # fmt: skip
    """One filter of the library."""
    outs = (out, other) if name == b"mean_std" else (out,)
    settings = (*window, *shift, border_of(border), real(value, "value"), thread_count(workers), number)
    call_with_copies(outs, "filter", name, image, out, other, *settings)


def on_cuda(a: Any) -> Any:
    """What knows the library of an array on a CUDA device, and None for others."""
    kind = None if isinstance(a, ndarray) else find(a)
    return kind if isinstance(kind, Cuda) else None


def only_there(**given: Any) -> None:
    """Refuses arguments that arrays of a device cannot have."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise TypeError(f"{name} is for arrays of the host: copy the image there first")


def run_there(kind: Any, name: str, a: Any, out: Any, dtype: Any, shape: Any, *settings: Any, before: tuple = ()) -> Any:
    """Queues a filter of an array of a device, on the stream that is current there, into out or a new array.

    The shape of the result is that of the image, unless there is another.
    """
    image = kind.read(a)
    _, size, _, pixel = kind.parts(image)
    if len(size) not in (2, 3):
        raise ValueError(f"an array of shape {tuple(size)}: an image has shape (H, W) or (H, W, C)")
    if pixel.kind != "u" or pixel.itemsize > 2:
        raise TypeError(f"pixels of {pixel} on a device: filters there take uint8 and uint16; copy others to the host first")
    wanted = tuple(size) if shape is None else shape
    dtype = pixel if dtype is None else np.dtype(dtype)
    result = kind.outs(out, 1)[0]
    if result is None:
        result = _new_there(kind, wanted, dtype, image)
    _, made, _, made_of = kind.parts(result)
    if tuple(made) != wanted:
        raise ValueError(f"out has shape {tuple(made)}, and the result {wanted}")
    if made_of != dtype:
        raise TypeError(f"out is of {made_of}, and the result of {dtype}")
    index = kind.index(image)
    if kind.index(result) != index:
        raise ValueError(f"the image is on cuda:{index}, and out on cuda:{kind.index(result)}")
    number, stream, to = kind.number(index), kind.stream(image), flat_array(*kind.parts(result))
    try:
        call(name, *before, flat_array(*kind.parts(image)) + to, number, stream, *settings)
    except LayoutError:
        image = kind.contiguous(image)
        call(name, *before, flat_array(*kind.parts(image)) + to, number, stream, *settings)
    return kind.hand_out(result) if out is None else out


def _new_there(kind: Any, shape: tuple, dtype: np.dtype, like: Any) -> Any:
    """An array beside another, whose rows start where a device writes them fast."""
    if hasattr(like, "new_empty"):  # a tensor
        return like.new_empty(shape, dtype=getattr(sys.modules["torch"], dtype.name))
    if type(like).__module__.partition(".")[0] == "cupy":
        with like.device:
            return sys.modules["cupy"].empty(shape, dtype)
    return kind.new(shape, dtype, like, 2)


def window_there(kind: Any, name: bytes, a: Any, out: Any, dtype: Any, window: tuple[int, int], border: Any, value: Any, shift: tuple = (0, 0)) -> Any:
    """A filter of windows of an array of a device."""
    settings = (*window, *shift, border_of(border), real(value, "value"))
    return run_there(kind, "filter_device", a, out, dtype, None, *settings, before=(name,))


@over_axes
def blur(
    a: Image,
    radius: Any = None,
    *,
    sigma: float | tuple[float, float] | None = None,
    gaussian: bool = False,
    passes: int = 3,
    border: str = "reflect101",
    value: float = 0,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> ndarray:
    """Blur an image: every pixel becomes the mean of the box round it, or a Gaussian mean.

    The time does not depend on how large the box is. Integers are exact and rounded to
    nearest, ties up: the results of ``cv2.blur`` wherever that is exact.

    Parameters
    ----------
    a : array_like, shape (H, W) or (H, W, C)
        Pixels of uint8, uint16, float32 or float64, read in place whatever lies between
        their rows. A NaN touches the boxes that have it, and no others. Arrays of CuPy and
        PyTorch on a CUDA device, of uint8 or uint16, are blurred there by boxes of one size:
        in the same bits, on the current stream, and the result is an array of the same library.
    radius : int, (int, int) or array
        Of a box of ``2 * radius + 1`` pixels a side, or a pair: across and down. An
        array of unsigned integers, of shape (H, W) or (H, W, 2), has a radius for each pixel.
    sigma : float or (float, float), optional
        Instead of a radius, the standard deviation of a Gaussian.
    gaussian : bool
        Take a Gaussian with the standard deviation of the box.
    passes : int
        Of how many boxes a Gaussian is made, 1 to 6. Four are nearer to it than three.
    border : str
        What is outside of the image: ``"reflect101"`` (``dcb|abcd|cba``), ``"reflect"``
        (``cba|abcd|dcb``), ``"replicate"`` (``aaa|abcd|ddd``), ``"wrap"``
        (``bcd|abcd|abc``), ``"constant"``, which is ``value``, or ``"clip"``: nothing,
        and the mean is that of the pixels that are there.
    out : array, optional
        Where to write the result, of the type and shape of the image; it may be the
        image itself.
    workers : int, optional
        How many threads may work at once. The default is what helps.
    axes : (int, int), optional
        Which axes are rows and columns, where an array has others: ``(-2, -1)`` filters
        every plane of ``(N, C, H, W)``, all at once.

    Returns
    -------
    blurred : array
        Of the type and shape of the image.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.zeros((3, 5), np.uint8)
    >>> image[1, 2] = 90
    >>> boxsum.blur(image, 1)
    array([[ 0, 20, 20, 20,  0],
           [ 0, 10, 10, 10,  0],
           [ 0, 20, 20, 20,  0]], dtype=uint8)
    >>> boxsum.blur(image, 1, border="clip")
    array([[ 0, 15, 15, 15,  0],
           [ 0, 10, 10, 10,  0],
           [ 0, 15, 15, 15,  0]], dtype=uint8)
    >>> boxsum.blur(np.ones((100, 100), np.float32), sigma=20).max()
    np.float32(1.0)
    """
    if (radius is None) == (sigma is None):
        raise TypeError("blur takes a radius, or sigma for a Gaussian")
    kind = on_cuda(a)
    if kind is not None:
        only_there(sigma=sigma, gaussian=gaussian)
        across, down = sides(radius, "radius", 0, _LARGEST // 2)
        return window_there(kind, b"box", a, out, None, (2 * across + 1, 2 * down + 1), border, value)
    image = pixels_of(a)
    result = result_for(image, image.dtype.newbyteorder("="), out)
    if radius is not None and np.ndim(radius) > 1:
        if gaussian:
            raise ValueError("a map of radii makes boxes: leave out gaussian")
        run(b"radii", image, result, (1, 1), border, value, workers, _radii(radius, image))
    elif radius is not None and not gaussian:
        across, down = sides(radius, "radius", 0, _LARGEST // 2)
        run(b"box", image, result, (2 * across + 1, 2 * down + 1), border, value, workers)
    else:
        if radius is not None:
            deviations = [math.sqrt(((2 * r + 1) ** 2 - 1) / 12) for r in sides(radius, "radius", 0, _LARGEST // 2)]
        elif not isinstance(sigma, (tuple, list, np.ndarray)) or isinstance(sigma, np.ndarray) and sigma.ndim == 0:
            deviations = [real(sigma, "sigma")] * 2
        elif len(sigma) == 2:
            deviations = [real(s, "sigma") for s in sigma]
        else:
            raise ValueError(f"sigma is {sigma!r}: it takes one number, or two, across and down")
        settings = (*deviations, whole(passes, "passes", 1, 6), border_of(border), real(value, "value"), thread_count(workers))
        call_with_copies((result,), "gaussian", image, result, *settings)
    return as_given(result, out, a)


def _radii(radius: Any, image: ndarray) -> ndarray:
    radii = on_host(radius)
    if radii.dtype.kind == "u" and radii.dtype.itemsize <= 4:
        return radii
    if radii.dtype.kind not in "iu":
        raise TypeError(f"radii of {radii.dtype}: they are whole numbers, as .astype(numpy.uint16) makes them")
    if radii.size and (radii.min() < 0 or radii.max() > _LARGEST // 2):
        raise ValueError(f"radii from {radii.min()} to {radii.max()}: they are 0 to {_LARGEST // 2}")
    return radii.astype(np.uint32)


@over_axes
def box_filter(
    a: Image,
    window: Sides,
    *,
    mean: bool = True,
    shift: Pair = (0, 0),
    border: str = "reflect101",
    value: float = 0,
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> ndarray:
    """The mean, or the sum, of the window round every pixel.

    Parameters
    ----------
    a, border, value, out, workers, axes
        As for :func:`blur`.
    window : int or (int, int)
        How many pixels a window has on a side, or across and down; even numbers too,
        which have one pixel more on the left and above. It may be larger than the image.
    mean : bool
        With False it is the sum.
    shift : (int, int)
        Moves the window to the right and down. It must still have its pixel.
    dtype : data type, optional
        Of the result. Means are of the type of the image, rounded, unless float32 or
        float64 is asked for. Sums of integers are uint32, or float64 where a window
        may have more than that, and those of floats float64; float32 may be asked for.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    >>> boxsum.box_filter(image, (3, 1), mean=False, border="constant")
    array([[ 1,  3,  6,  5],
           [ 9, 15, 18, 13],
           [17, 27, 30, 21]], dtype=uint32)
    """
    size = sides(window, "window")
    moved = sides(shift, "shift", -_LARGEST)
    kind = on_cuda(a) if mean else None
    if kind is not None:
        single = dtype is not None and kind.numpy_type(dtype) == np.float32
        if dtype is not None and not single and kind.numpy_type(dtype) != kind.parts(kind.read(a))[3]:
            raise TypeError(f"means of {dtype}: on a device they are of the type of the image, or of float32")
        return window_there(kind, b"mean" if single else b"box", a, out, np.float32 if single else None, size, border, value, moved)
    image = pixels_of(a)
    if out is not None and hasattr(out, "dtype"):
        dtype = same_type(dtype, on_host(out).dtype)
    native = image.dtype.newbyteorder("=")
    if mean:
        dtype = native if dtype is None else np.dtype(dtype)
        if dtype != native:
            dtype = float_type(image, dtype, None)
        name = b"box" if dtype == native else b"mean"
    else:
        name = b"sum"
        if dtype is None:
            most = math.prod(size) * (np.iinfo(native).max if native.kind == "u" else math.inf)
            dtype = np.uint32 if most < 1 << 32 else np.float64
        dtype = np.dtype(dtype)
        if dtype not in _FLOATS and dtype != np.uint32:
            raise TypeError(f"sums of {dtype}: they are of uint32, float32 or float64")
    result = result_for(image, dtype, out)
    run(name, image, result, size, border, value, workers, shift=moved)
    return as_given(result, out, a)


def _local(name: bytes, a: Any, window: Any, border: str, value: float, dtype: Any, out: Any, workers: int | None, number: float = 0.0) -> ndarray:
    kind = on_cuda(a) if name in (b"mean", b"std") else None
    if kind is not None:
        if dtype is not None and kind.numpy_type(dtype) != np.float32:
            raise TypeError(f"results of {dtype}: on a device they are of float32")
        return window_there(kind, name, a, out, np.float32, sides(window, "window"), border, value)
    image = pixels_of(a)
    result = result_for(image, float_type(image, dtype, out), out)
    run(name, image, result, sides(window, "window"), border, value, workers, number=number)
    return as_given(result, out, a)


@over_axes
def local_mean(
    a: Image,
    window: Sides,
    *,
    border: str = "reflect101",
    value: float = 0,
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> ndarray:
    """The mean of the window round every pixel, as floats.

    Parameters
    ----------
    a, border, value, out, workers, axes
        As for :func:`blur`. ``out`` may be the image itself where it is of floats.
    window : int or (int, int)
        How many pixels a window has on a side, or across and down: see :func:`box_filter`.
    dtype : data type, optional
        float32 or float64; the default is float64 for images of float64, and float32 for
        others. Sums of integers are exact.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> boxsum.local_mean(np.array([[0, 1, 5]], np.uint8), 3)
    array([[0.6666667, 2.       , 2.3333333]], dtype=float32)
    """
    return _local(b"mean", a, window, border, value, dtype, out, workers)


@over_axes
def local_std(
    a: Image,
    window: Sides,
    *,
    border: str = "reflect101",
    value: float = 0,
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> ndarray:
    """The standard deviation of the window round every pixel.

    Parameters are those of :func:`local_mean`.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> boxsum.local_std(np.array([[0, 0, 3, 3]], np.uint8), 3)
    array([[0.       , 1.4142135, 1.4142135, 0.       ]], dtype=float32)
    """
    return _local(b"std", a, window, border, value, dtype, out, workers)


@over_axes
def local_var(
    a: Image,
    window: Sides,
    *,
    border: str = "reflect101",
    value: float = 0,
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> ndarray:
    """The variance of the window round every pixel.

    Parameters are those of :func:`local_mean`.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> boxsum.local_var(np.array([[0, 0, 3, 3]], np.uint8), 3)
    array([[0., 2., 2., 0.]], dtype=float32)
    """
    return _local(b"variance", a, window, border, value, dtype, out, workers)


@over_axes
def local_mean_std(
    a: Image,
    window: Sides,
    *,
    border: str = "reflect101",
    value: float = 0,
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> tuple[ndarray, ndarray]:
    """Mean and standard deviation at once, which takes little more than one of them.

    Parameters are those of :func:`local_mean`; ``out`` is a pair of arrays.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> mean, std = boxsum.local_mean_std(np.array([[0, 0, 3, 3]], np.uint8), 3)
    >>> mean, std
    (array([[0., 1., 2., 3.]], dtype=float32), array([[0.       , 1.4142135, 1.4142135, 0.       ]], dtype=float32))
    """
    image = pixels_of(a)
    if out is not None and (not isinstance(out, (tuple, list)) or len(out) != 2):
        raise ValueError("out takes a pair of arrays: for the means, and for the deviations")
    first, second = (None, None) if out is None else out
    dtype = float_type(image, dtype, second if first is None else first)
    means, deviations = result_for(image, dtype, first), result_for(image, dtype, second)
    run(b"mean_std", image, means, sides(window, "window"), border, value, workers, deviations)
    return as_given(means, first, a), as_given(deviations, second, a)


@over_axes
def normalize(
    a: Image,
    window: Sides,
    *,
    floor: float = 0,
    border: str = "reflect101",
    value: float = 0,
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> ndarray:
    """Local contrast: how many deviations of its window a pixel lies above the mean of it.

    ``(a - mean) / max(std, floor)``, and 0 in a window of equal pixels.

    Parameters
    ----------
    a, window, border, value, dtype, out, workers, axes
        As for :func:`local_mean`.
    floor : float
        The least deviation to divide by, which keeps noise where there is nothing else
        from becoming large: use the deviation of the noise.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> boxsum.normalize(np.array([[0, 0, 3, 3]], np.float64), 3)
    array([[ 0.        , -0.70710678,  0.70710678,  0.        ]])
    """
    return _local(b"normalize", a, window, border, value, dtype, out, workers, real(floor, "floor"))


@over_axes
def guided(
    a: Image,
    radius: Sides,
    epsilon: float,
    *,
    guide: Any = None,
    border: str = "reflect101",
    value: float = 0,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> ndarray:
    """The guided filter of He, Sun and Tang: smooth where the guide is, with the guide's edges.

    Parameters
    ----------
    a, border, value, out, workers, axes
        As for :func:`blur`.
    radius : int or (int, int)
        Of the windows, ``2 * radius + 1`` pixels a side, or across and down.
    epsilon : float
        How large a variance of the guide counts as smooth, in the squared units of its
        pixels: 100 to 1000 for 8 bits.
    guide : array_like, shape (H, W) or (H, W, 3), optional
        Gray or colour. The default is the image itself, which must have one channel or three.

    Returns
    -------
    smooth : array
        Of the type and shape of the image; integers are rounded, and clamped to their range.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.array([[10, 12, 10, 200, 202, 200]] * 3, np.uint8)
    >>> boxsum.guided(image, 1, 100)[0]
    array([ 11,  12,  11, 199, 201, 201], dtype=uint8)
    """
    image = pixels_of(a)
    result = result_for(image, image.dtype.newbyteorder("="), out)
    other = image if guide is None else pixels_of(guide)
    if other.dtype.newbyteorder("=") != image.dtype.newbyteorder("="):
        other = other.astype(np.float64)
    across, down = sides(radius, "radius", 0, _LARGEST // 2)
    run(b"guided", image, result, (2 * across + 1, 2 * down + 1), border, value, workers, other, real(epsilon, "epsilon"))
    return as_given(result, out, a)


@over_axes
def median(
    a: Image,
    window: Sides,
    *,
    border: str = "reflect101",
    value: float = 0,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> ndarray:
    """The median of the window round every pixel, the lower one of two.

    Parameters are those of :func:`box_filter`. The time grows with the height of the
    window, unless it is 3 or 5 pixels a side. A window that has a NaN has NaN.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.full((5, 5), 7, np.uint8)
    >>> image[1, 2] = 255
    >>> int(boxsum.median(image, 3).max())
    7
    """
    image = pixels_of(a)
    result = result_for(image, image.dtype.newbyteorder("="), out)
    run(b"median", image, result, sides(window, "window"), border, value, workers)
    return as_given(result, out, a)


@over_axes
def entropy(
    a: Image,
    window: Sides,
    *,
    bins: int = 256,
    range: tuple[float, float] | None = None,
    border: str = "reflect101",
    value: float = 0,
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> ndarray:
    """Shannon's entropy of the window round every pixel, in bits: it finds texture.

    Parameters
    ----------
    a, window, border, value, dtype, out, workers, axes
        As for :func:`local_mean`.
    bins, range
        How many bins the histogram of a window has, and from where to where. The
        default are all values of uint8 and uint16; floats need a range. Pixels outside of it do not count.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> boxsum.entropy(np.array([[0, 0, 9, 9]], np.uint8), 3).round(3)
    array([[0.   , 0.918, 0.918, 0.   ]], dtype=float32)
    """
    image = pixels_of(a)
    result = result_for(image, float_type(image, dtype, out), out)
    low, high = (0.0, 0.0) if range is None else (real(range[0], "range"), real(range[1], "range"))
    if range is not None and not low < high:
        raise ValueError(f"a range from {low} to {high}: it must grow")
    if range is None and image.dtype.kind == "f":
        raise ValueError(f"pixels of {image.dtype} need a range: range=(low, high)")
    settings = (*sides(window, "window"), whole(bins, "bins", 1), low, high, 0, border_of(border), real(value, "value"), thread_count(workers))
    call_with_copies((result,), "entropy", image, result, *settings)
    return as_given(result, out, a)


@over_axes
def downsample(a: Image, factor: Sides, *, out: Any = None, workers: int | None = None, axes: Axes = None) -> ndarray:
    """Make an image smaller: the mean of every block of pixels, as area averaging has it.

    Parameters
    ----------
    a, workers, axes
        As for :func:`blur`.
    factor : int or (int, int)
        How many pixels a block has on a side, or across and down. Blocks that stick out of
        the image are the mean of what they have of it.
    out : array, optional
        Of the type of the image, and of its size divided by the factor, rounded up.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> boxsum.downsample(np.arange(10, dtype=np.uint8).reshape(2, 5), 2)
    array([[3, 5, 7]], dtype=uint8)
    """
    image = pixels_of(a)
    across, down = sides(factor, "factor")
    lead = leading()
    height, width = image.shape[lead : lead + 2]
    shape = image.shape[:lead] + (-(-height // down), -(-width // across)) + image.shape[lead + 2 :]
    result = result_for(image, image.dtype.newbyteorder("="), out, shape)
    call_with_copies((result,), "downsample", image, result, across, down, b"clip", 0.0, thread_count(workers))
    return as_given(result, out, a)


def brightest(a: Image, size: Sides, count: int = 1, *, darkest: bool = False, workers: int | None = None) -> tuple[ndarray, ndarray]:
    """Find the windows of a size with the greatest means, none of which overlaps another.

    Parameters
    ----------
    a, workers
        As for :func:`blur`. The channels of an image count together.
    size : int or (int, int)
        Of the windows, across and down.
    count : int
        How many windows, at most.
    darkest : bool
        Find those with the least means.

    Returns
    -------
    boxes : array, shape (N, 4)
        As ``x0, y0, x1, y1``, the best first.
    means : array, shape (N,)

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.zeros((20, 30), np.uint8)
    >>> image[5:9, 10:14] = 80
    >>> boxsum.brightest(image, (4, 4))
    (array([[10,  5, 14,  9]]), array([80.]))
    """
    image = pixels_of(a)
    across, down = sides(size, "size")
    most = (image.shape[0] // down + 1) * (image.shape[1] // across + 1) * 4  # no more fit
    n = min(whole(count, "count", 0), most)
    boxes, means = np.empty((n, 4), np.int64), np.empty(n)
    found = call_with_copies((boxes, means), "brightest", image, boxes, means, across, down, int(bool(darkest)), thread_count(workers))
    return boxes[:found].copy(), means[:found].copy()
