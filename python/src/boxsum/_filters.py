"""Filters: blurs, and statistics of the window around every pixel."""

from __future__ import annotations

import functools
import inspect
import math
import sys
import threading
from typing import Any, Callable, Literal, TypeVar

import numpy as np
from numpy import ndarray

from . import _batch, _types, _valid
from ._arguments import refuse_overlap, same_type, thread_count, warn_of_planes
from ._cuda import Cuda
from ._foreign import as_given, find, on_host
from ._memory import new_image
from ._native import LayoutError, call, flat_array
from ._types import whole
from ._typing import Axes, Image, Pair, Sides

_PIXELS = {np.dtype(t) for t in ("u1", "u2", "f4", "f8")}
# Types that are filtered as another one, which holds all their values.
_AS = {np.dtype(t): np.dtype(other) for t, other in (("?", "u1"), ("i1", "f4"), ("i2", "f4"), ("f2", "f4"), ("i4", "f8"), ("u4", "f8"))}
_FLOATS = {np.dtype(t) for t in ("f4", "f8")}
_LARGEST = (1 << 30) - 1  # longest side of a window


class _Now(threading.local):
    lead = 0  # number of leading batch axes of the images being filtered in this thread


_now = _Now()


def leading() -> int:
    """Return the number of leading batch axes of the images being filtered in this thread."""
    return _now.lead


F = TypeVar("F", bound=Callable[..., Any])


def over_axes(function: F) -> F:
    """Make a filter accept ``axes``.

    The decorated function then sees arrays with as many leading axes as :func:`leading`
    returns.
    """
    masks = "mask" in inspect.signature(function).parameters

    @functools.wraps(function)  # sets __wrapped__, which any_pixels calls
    def batched(a: Any, *arguments: Any, axes: Any = None, out: Any = None, **named: Any) -> Any:
        if axes is None:
            warn_of_planes(a)
            return function(a, *arguments, out=out, **named)
        image = a if masks and isinstance(a, np.ma.MaskedArray) else on_host(a)
        strides = (0,) * image.ndim if function.__name__ == "guided" else image.strides  # a guide with channels is a color image
        order = _batch.order_of(image.shape, strides, image.itemsize, axes, (2,))

        given = [on_host(o) for o in (out if isinstance(out, (tuple, list)) else (out,)) if o is not None]
        order = order.fit(*((0, o.shape, o.strides, o.dtype) for o in given if o.ndim == image.ndim))

        def see(array: Any) -> Any:
            if array is None:
                return None
            array = on_host(array)
            if array.ndim != image.ndim:
                raise ValueError(f"arguments of a batch must have {image.ndim} axes like the images, of shape {image.shape}, got shape {array.shape}")
            return order.see(array)

        outs = None if out is None else tuple(map(see, out)) if isinstance(out, (tuple, list)) else see(out)
        for name in ("guide", "mask"):
            given_array = named.get(name)
            if given_array is not None and not (name == "mask" and np.ndim(given_array) == 2):  # one mask may be for all images
                named[name] = see(given_array)
        _now.lead = order.lead
        try:
            made = function(order.see(image), *arguments, out=outs, **named)
        finally:
            _now.lead = 0
        if isinstance(made, tuple):
            return tuple(as_given(order.restore(m), None if out is None else out[i], a) for i, m in enumerate(made))
        return as_given(order.restore(made), out, a)

    return batched  # type: ignore[return-value]


def _image(a: Any) -> ndarray:
    """Return an image in host memory, with leading axes if it is a batch."""
    image = on_host(a)
    if image.ndim - leading() not in (2, 3):
        raise ValueError(f"image must have shape (H, W) or (H, W, C), got {image.shape} (pass axes= for the axes of a batch)")
    return image


def native_of(image: ndarray) -> np.dtype:
    """Return the type of an image in the machine's byte order."""
    return image.dtype if image.dtype.isnative else image.dtype.newbyteorder("=")


def pixels_of(a: Any) -> ndarray:
    """Return an image in host memory whose pixels can be filtered."""
    if type(a) is ndarray and a.ndim == 2 and a.dtype in _PIXELS and not _now.lead:  # the usual image
        return a
    return as_filtered(_image(a))


def as_filtered(image: ndarray) -> ndarray:
    """Return an array in a type that can be filtered, itself if it has one."""
    if image.dtype in _PIXELS:
        return image
    native = native_of(image)
    if native in _PIXELS:
        return image
    if native.kind in "iu" and native.itemsize == 8:
        narrow = _types.narrow(image)  # raises an error for numbers that float64 cannot hold
        return narrow.astype(np.float64, copy=False)
    if native not in _AS:
        raise TypeError(f"pixels of {image.dtype} cannot be filtered, want bool, integers, float16, float32 or float64")
    return _types.as_bytes(image) if native.kind == "b" else image.astype(_AS[native])


def any_pixels(function: F) -> F:
    """Make a filter whose results are of the type of the image accept more types.

    It filters floats for them. Integers are rounded to nearest, with ties up.
    """
    single = getattr(function, "__wrapped__", function)  # without what over_axes adds, which takes longer than some small images

    @functools.wraps(function)
    def filtered(a: Any, *arguments: Any, out: Any = None, **named: Any) -> Any:
        if type(a) is ndarray and a.dtype in _PIXELS:
            if a.ndim == 2 and "axes" not in named:
                return single(a, *arguments, out=out, **named)
            return function(a, *arguments, out=out, **named)
        if on_cuda(a) is not None:
            return function(a, *arguments, out=out, **named)
        image = a if isinstance(a, ndarray) else on_host(a)
        native = image.dtype.newbyteorder("=")
        floats = named.get("dtype") is not None or named.get("mean") is False or function.__name__ == "box_filter" and getattr(out, "dtype", native) != native
        if native in _PIXELS or native not in _AS and native.kind + str(native.itemsize) not in ("i8", "u8") or floats:
            return function(a, *arguments, out=out, **named)
        if native.kind == "b" and function.__name__ != "median":
            raise TypeError(f"{function.__name__} does not support bool, which cannot hold means (use local_mean, or .astype(numpy.float32))")
        result = None if out is None else result_for(image, native, out, on_host(out).shape)
        if native.kind in "iu" and native.itemsize == 8:
            hidden = np.ma.getmask(image)
            wide = _types.narrow(_without(image, named.get("mask"), named.get("axes"))).astype(np.float64)
            wide = wide if hidden is np.ma.nomask else np.ma.masked_array(wide, hidden)
        else:
            wide = image.astype(np.float64 if native.kind in "iu" else _AS[native])
        made = function(wide, *arguments, **named)
        if result is not None and result.shape != made.shape:
            raise ValueError(f"out must have shape {made.shape}, got {result.shape}")
        if native.kind in "iu":
            made = _rounded(made, native)
        if result is None:
            return as_given(made.astype(native), None, a)
        np.copyto(result, made, casting="unsafe")
        return out

    return filtered  # type: ignore[return-value]


def _without(image: ndarray, mask: Any, axes: Any) -> ndarray:
    """Return an image with zeros where it is masked: what is left out need not fit another type."""
    image = np.ma.filled(image, 0)
    if mask is None:
        return image
    shown = np.asarray(on_host(mask)) != 0
    if shown.ndim == 2 and image.ndim > 2:
        places = (0, 1) if axes is None else axes
        try:
            shown = np.moveaxis(shown.reshape(shown.shape + (1,) * (image.ndim - 2)), (0, 1), places)
        except (TypeError, ValueError):  # axes that the filter refuses
            return image
    try:
        return np.where(shown, image, image.dtype.type(0))
    except ValueError:  # a mask that the filter refuses
        return image


def _rounded(values: ndarray, dtype: np.dtype) -> ndarray:
    """Return floats rounded to nearest, with ties up, in the range of a type of integers; NaN becomes 0."""
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    top = float(most)
    if top > most:  # float64 has no number between
        top = np.nextafter(top, 0)
    values = np.floor(values + 0.5)
    return np.clip(np.nan_to_num(values), least, top)


def valid_pixels(a: Any, mask: Any, nan: str) -> tuple[ndarray, tuple[ndarray | None, int]]:
    """Return an image to filter, and its mask, if any, with whether NaN is left out."""
    _valid.check_nan(nan)
    if type(a) is ndarray and mask is None:
        return pixels_of(a), (None, int(nan == "skip"))
    hidden = np.ma.getmask(a)
    if hidden is np.ma.nomask or not hidden.any():
        hidden, image = None, _image(a)
    else:
        image = _image(a.data)
    lead = leading()
    shown = None if mask is None else _valid.as_mask(mask, image.shape, lead=lead)
    if hidden is not None:
        if shown is not None:
            hidden = hidden | (_over_channels(shown, image.ndim, lead) == 0)
        shown = (~hidden).view(np.uint8)
    if shown is not None and image.dtype.kind in "iu" and image.dtype.itemsize == 8:  # what is left out need not fit another type
        image = np.where(_over_channels(shown, image.ndim, lead) != 0, image, image.dtype.type(0))
    return pixels_of(image), (shown, int(nan == "skip"))


def _over_channels(mask: ndarray, axes: int, lead: int) -> ndarray:
    """Return a mask with an axis for the channels of an array with this many axes, if that has them and the mask does not."""
    missing = axes - lead - 2 if mask.ndim == 2 else axes - mask.ndim
    return mask.reshape(mask.shape + (1,) * missing)


def result_for(image: ndarray, dtype: Any, out: Any, shape: tuple[int, ...] | None = None) -> ndarray:
    """Return the destination array, of the image's shape unless `shape` is given."""
    if type(out) is ndarray and shape is None and out.dtype is dtype and out.shape == image.shape:
        return out
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
        raise ValueError(f"out must have shape {wanted}, got {out.shape}")
    if out.dtype != dtype:
        raise TypeError(f"out must have type {np.dtype(dtype)}, got {out.dtype}")
    return out


def float_type(image: ndarray, dtype: Any, out: Any) -> np.dtype:
    """Return the type of statistics: float64 for images that are filtered as that, otherwise float32."""
    if out is not None and hasattr(out, "dtype"):
        dtype = same_type(dtype, on_host(out).dtype)
    elif dtype is None:
        dtype = np.float64 if image.dtype.itemsize == 8 else np.float32
    dtype = np.dtype(dtype)
    if dtype not in _FLOATS:
        raise TypeError(f"{'dtype' if out is None else 'the type of out'} must be float32 or float64, got {dtype}")
    return dtype


def sides(size: Any, name: str, least: int = 1, most: int = _LARGEST) -> tuple[int, int]:
    """Return a width and a height, from one whole number or a pair."""
    if type(size) is int or np.ndim(size) == 0:
        n = whole(size, name, least, most)
        return n, n
    if np.shape(size) != (2,):
        raise ValueError(f"{name} must be one number, or two (horizontal, vertical), got {size!r}")
    return whole(size[0], name, least, most), whole(size[1], name, least, most)


def _is_map(radius: Any) -> bool:
    """Report whether a radius is an array with one for each pixel."""
    return radius is not None and type(radius) is not int and np.ndim(radius) > 1


def border_of(border: Any) -> bytes:
    """Return the name of a border as bytes."""
    if not isinstance(border, str):
        raise TypeError(f"border must be 'reflect101', 'reflect', 'replicate', 'constant', 'wrap' or 'clip', got {border!r}")
    return border.encode()


def real(value: Any, name: str) -> float:
    """Return an argument as a float."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, not {value!r}") from None


_WORKERS = {"filter": 10, "gaussian": 7, "entropy": 10, "downsample": 6}  # position of the workers argument, for functions that accept batches


def call_with_copies(outs: tuple[Any, ...], name: str, *arguments: Any) -> Any:
    """Call the library, copying the arrays it reads if their memory layout is not supported."""
    lead = _now.lead
    shared: tuple[int, ...] = ()
    if lead:
        shared = _shared(arguments) if name == "filter" else ()
        refuse_overlap(outs, _read(outs, arguments), in_place=True)  # the library checks one image at a time
    try:
        if not lead:
            return call(name, *arguments)
        return _batch.run(lead, _WORKERS.get(name, 0), name, *arguments, shared=shared)
    except LayoutError:
        read = _read(outs, arguments)
        refuse_overlap(outs, read, in_place=True)
        copies = (np.array(a, a.dtype.newbyteorder("="), order="C") if any(a is r for r in read) else a for a in arguments)
        return _batch.run(lead, _WORKERS.get(name, 0), name, *copies, shared=shared)


def _read(outs: tuple[Any, ...], arguments: tuple[Any, ...]) -> list[ndarray]:
    """Return the arrays among the arguments that the library reads."""
    return [a for a in arguments if isinstance(a, ndarray) and not any(a is out for out in outs)]


def _shared(arguments: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the positions of arrays that are the same for all images of a batch: radii and a mask, if it has no leading axes."""
    radii, mask = arguments[3] if arguments[0] == b"radii" else None, arguments[12]
    return tuple(i for i, array in ((3, radii), (12, mask)) if array is not None and (i == 3 or array.ndim == 2))


def run(
    name: bytes, image: ndarray, out: ndarray, window: tuple[int, int], border: Any, value: Any, workers: int | None,
    other: ndarray | None = None, number: float = 0.0, shift: tuple[int, int] = (0, 0), valid: tuple[ndarray | None, int] = (None, 0),
) -> None:  # fmt: skip
    """Run one of the library's filters, for the `valid` pixels that :func:`valid_pixels` returns."""
    outs = (out, other) if name == b"mean_std" else (out,)
    settings = (*window, *shift, border_of(border), real(value, "value"), thread_count(workers), number, *valid)
    call_with_copies(outs, "filter", name, image, out, other, *settings)


def on_cuda(a: Any) -> Any:
    """Return the adapter for an array on a CUDA device, or None for other arrays."""
    kind = None if isinstance(a, ndarray) else find(a)
    return kind if isinstance(kind, Cuda) else None


def only_there(**given: Any) -> None:
    """Raise a TypeError for arguments that arrays on a device do not support."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise TypeError(f"{name} is not supported for arrays on a device (copy the image to the host first)")


def run_there(kind: Any, name: str, a: Any, out: Any, dtype: Any, shape: Any, *settings: Any, before: tuple[Any, ...] = ()) -> Any:
    """Queue a filter of an array on a device on the current stream, into `out` or a new array.

    The result has the shape of the image unless `shape` is given.
    """
    image = kind.read(a)
    _, size, _, pixel = kind.parts(image)
    if len(size) not in (2, 3):
        raise ValueError(f"image must have shape (H, W) or (H, W, C), got {tuple(size)}")
    if pixel.kind != "u" or pixel.itemsize > 2:
        raise TypeError(f"pixels must be uint8 or uint16 on a device, got {pixel} (copy the image to the host first)")
    wanted = tuple(size) if shape is None else shape
    dtype = pixel if dtype is None else np.dtype(dtype)
    result = kind.outs(out, 1)[0]
    if result is None:
        result = new_there(kind, wanted, dtype, image)
    _, made, _, made_of = kind.parts(result)
    if tuple(made) != wanted:
        raise ValueError(f"out must have shape {wanted}, got {tuple(made)}")
    if made_of != dtype:
        raise TypeError(f"out must have type {dtype}, got {made_of}")
    index = kind.index(image)
    if kind.index(result) != index:
        raise ValueError(f"out must be on cuda:{index} like the image, got cuda:{kind.index(result)}")
    number, stream, to = kind.number(index), kind.stream(image), flat_array(*kind.parts(result))
    try:
        call(name, *before, flat_array(*kind.parts(image)) + to, number, stream, *settings)
    except LayoutError:
        image = kind.contiguous(image)
        call(name, *before, flat_array(*kind.parts(image)) + to, number, stream, *settings)
    return kind.hand_out(result) if out is None else out


def new_there(kind: Any, shape: tuple[Any, ...], dtype: np.dtype, like: Any) -> Any:
    """Return a new array on the device of another."""
    if hasattr(like, "new_empty"):  # a tensor
        return like.new_empty(shape, dtype=getattr(sys.modules["torch"], dtype.name))
    if type(like).__module__.partition(".")[0] == "cupy":
        with like.device:
            return sys.modules["cupy"].empty(shape, dtype)
    return kind.new(shape, dtype, like, 2)


def window_there(kind: Any, name: bytes, a: Any, out: Any, dtype: Any, window: tuple[int, int], border: Any, value: Any, shift: tuple[Any, ...] = (0, 0)) -> Any:
    """Queue a window filter of an array on a device."""
    settings = (*window, *shift, border_of(border), real(value, "value"))
    return run_there(kind, "filter_device", a, out, dtype, None, *settings, before=(name,))


@any_pixels
@over_axes
def blur(
    a: Image,
    radius: Any = None,
    *,
    sigma: float | tuple[float, float] | None = None,
    gaussian: bool = False,
    passes: int | None = None,
    border: str = "reflect101",
    value: float = 0,
    mask: Any = None,
    nan: Literal["keep", "skip"] = "keep",
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> ndarray:
    """Blur an image with a box or a Gaussian.

    The time does not depend on the size of the box. Integer results are exact, rounded to
    nearest with ties up; they equal ``cv2.blur`` wherever that is exact.

    Parameters
    ----------
    a : array_like, shape (H, W) or (H, W, C)
        Input image. uint8, uint16, float32 and float64 are read in place, with any gap
        between rows; other integers and float16 are converted to floats first. A NaN
        affects only the boxes that contain it; see `nan`. CuPy and PyTorch arrays of uint8
        or uint16 on a CUDA device are blurred there, on the current stream, with boxes of
        one size and bit-identical results; the result is an array of the same library.
    radius : int, tuple of int or array, optional
        Radius of the box, which is ``2 * radius + 1`` pixels on a side, or a horizontal and
        a vertical radius. An array of unsigned integers, of shape (H, W) or (H, W, 2), holds
        a radius for each pixel. Either `radius` or `sigma` is required.
    sigma : float or tuple of float, optional
        Standard deviation of a Gaussian, or a horizontal and a vertical one, instead of a
        radius.
    gaussian : bool, default False
        With `radius`, use a Gaussian with the standard deviation of the box.
    passes : int, optional
        Approximate the Gaussian by this many boxes, 1 to 6. Four are more accurate than
        three. The default is a true Gaussian, as in ``scipy.ndimage.gaussian_filter``, for
        standard deviations below 2, or below 6 for arrays other than uint8, and three boxes
        otherwise.
    border : str, default "reflect101"
        Values outside the image: ``"reflect101"`` (``dcb|abcd|cba``), ``"reflect"``
        (``cba|abcd|dcb``), ``"replicate"`` (``aaa|abcd|ddd``), ``"wrap"``
        (``bcd|abcd|abc``), ``"constant"`` for `value`, or ``"clip"`` to average only the
        pixels inside the image.
    value : float, default 0
        Value outside the image for ``border="constant"``.
    mask : array_like, shape (H, W) or (H, W, C), optional
        Pixels where the mask is zero are left out: each box averages its other pixels.
        Masked elements of NumPy masked arrays are left out too. With `axes`, the mask has
        the shape of the array, or shape (H, W) for all images. Only boxes of one size
        support masks.
    nan : {"keep", "skip"}, default "keep"
        ``"skip"`` leaves out NaN pixels, in each channel separately. A box without valid
        pixels has mean NaN, or 0 for integers. Only boxes of one size support this.
    out : array, optional
        Destination, of the type and shape of the image. It may be the image itself.
    workers : int, optional
        Maximum number of threads. The default is as many as speed up the call.
    axes : tuple of int, optional
        The axes of rows and columns, for a batch of images: ``(-2, -1)`` filters every
        plane of an ``(N, C, H, W)`` array in one call.

    Returns
    -------
    blurred : array
        The blurred image, of the type and shape of `a`.

    Raises
    ------
    TypeError
        If the pixel type is not supported, or if `radius` and `sigma` are both given or
        both missing.
    ValueError
        If `a` does not have the shape (H, W) or (H, W, C), a number is out of range, or
        `out` has the wrong shape.

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
    >>> boxsum.blur(np.array([[2, 4, np.nan, 6]]), 1, border="clip", nan="skip")
    array([[3., 3., 5., 6.]])
    >>> boxsum.blur(np.ones((100, 100), np.float32), sigma=20).max()
    np.float32(1.0)
    """
    if radius is not None and sigma is not None:
        raise TypeError(f"only one of radius and sigma may be given, got {radius} and {sigma}")
    if radius is None and sigma is None:
        raise TypeError("radius or sigma (for a Gaussian) must be given, got neither")
    kind = None if type(a) is ndarray else on_cuda(a)
    if kind is not None:
        only_there(sigma=sigma, gaussian=gaussian, mask=mask, nan=nan != "keep")
        across, down = sides(radius, "radius", 0, _LARGEST // 2)
        return window_there(kind, b"box", a, out, None, (2 * across + 1, 2 * down + 1), border, value)
    image, valid = valid_pixels(a, mask, nan)
    if (valid[0] is not None or valid[1]) and (radius is None or gaussian or _is_map(radius)):
        raise ValueError("mask and nan='skip' are supported only for boxes of one size (pass one radius or a pair, and leave out sigma and gaussian)")
    result = result_for(image, native_of(image), out)
    if _is_map(radius):
        if gaussian:
            raise ValueError("gaussian must be False if radius is an array, which gives each pixel a box of its own")
        run(b"radii", image, result, (1, 1), border, value, workers, _radii(radius, image))
    elif radius is not None and not gaussian:
        across, down = sides(radius, "radius", 0, _LARGEST // 2)
        run(b"box", image, result, (2 * across + 1, 2 * down + 1), border, value, workers, valid=valid)
    else:
        if radius is not None:
            deviations = [math.sqrt(((2 * r + 1) ** 2 - 1) / 12) for r in sides(radius, "radius", 0, _LARGEST // 2)]
        elif not isinstance(sigma, (tuple, list, np.ndarray)) or isinstance(sigma, np.ndarray) and sigma.ndim == 0:
            deviations = [real(sigma, "sigma")] * 2
        elif len(sigma) == 2:
            deviations = [real(s, "sigma") for s in sigma]
        else:
            raise ValueError(f"sigma must be one number, or two (horizontal, vertical), got {sigma!r}")
        settings = (*deviations, 0 if passes is None else whole(passes, "passes", 1, 6), border_of(border), real(value, "value"), thread_count(workers))
        call_with_copies((result,), "gaussian", image, result, *settings)
    return as_given(result, out, a)


def _radii(radius: Any, image: ndarray) -> ndarray:
    radii = on_host(radius)
    if radii.dtype.kind == "u" and radii.dtype.itemsize <= 4:
        return radii
    if radii.dtype.kind not in "iu":
        raise TypeError(f"radius must be an array of integers, got {radii.dtype} (use .astype(numpy.uint16))")
    if radii.size and (radii.min() < 0 or radii.max() > _LARGEST // 2):
        raise ValueError(f"radius must be from 0 to {_LARGEST // 2}, got {radii.min()} to {radii.max()}")
    return radii.astype(np.uint32)


@any_pixels
@over_axes
def box_filter(
    a: Image,
    window: Sides,
    *,
    mean: bool = True,
    shift: Pair = (0, 0),
    border: str = "reflect101",
    value: float = 0,
    mask: Any = None,
    nan: Literal["keep", "skip"] = "keep",
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> ndarray:
    """Compute the mean or the sum of the window around every pixel.

    Parameters
    ----------
    a, border, value, out, workers, axes
        As for :func:`blur`.
    mask, nan
        As for :func:`blur`. The mean or sum is then that of the valid pixels of each
        window.
    window : int or tuple of int
        Side of the window in pixels, or its width and height. Windows of even size
        extend one pixel further to the left and up. A window may be larger than the image.
    mean : bool, default True
        Compute means; False computes sums.
    shift : tuple of int, default (0, 0)
        Offset of the window to the right and down. The window must still contain its
        pixel.
    dtype : dtype, optional
        Type of the result. Means have the type of the image, rounded, unless float32 or
        float64 is requested. Sums of uint8 and uint16 are uint32, or float64 if a window
        may sum to more than that; other sums are float64. Sums may also be float32.

    Returns
    -------
    filtered : array
        The means or sums, of the shape of `a`.

    Raises
    ------
    TypeError
        If the pixel type is not supported, or means or sums cannot have type `dtype`.
    ValueError
        If `a` does not have the shape (H, W) or (H, W, C), a number is out of range, the
        window does not contain its pixel, or `out` has the wrong shape.

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
            raise TypeError(f"dtype must be that of the image or float32 on a device, got {dtype}")
        only_there(mask=mask, nan=nan != "keep")
        return window_there(kind, b"mean" if single else b"box", a, out, np.float32 if single else None, size, border, value, moved)
    image, valid = valid_pixels(a, mask, nan)
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
            raise TypeError(f"{'dtype' if out is None else 'the type of out'} must be uint32, float32 or float64 for sums, got {dtype}")
    result = result_for(image, dtype, out)
    run(name, image, result, size, border, value, workers, shift=moved, valid=valid)
    return as_given(result, out, a)


def _local(
    name: bytes, a: Any, window: Any, border: str, value: float, mask: Any, nan: str, dtype: Any, out: Any, workers: int | None, number: float = 0.0
) -> ndarray:
    kind = on_cuda(a) if name in (b"mean", b"std") else None
    if kind is not None:
        if dtype is not None and kind.numpy_type(dtype) != np.float32:
            raise TypeError(f"dtype must be float32 on a device, got {dtype}")
        only_there(mask=mask, nan=nan != "keep")
        return window_there(kind, name, a, out, np.float32, sides(window, "window"), border, value)
    image, valid = valid_pixels(a, mask, nan)
    result = result_for(image, float_type(image, dtype, out), out)
    run(name, image, result, sides(window, "window"), border, value, workers, number=number, valid=valid)
    return as_given(result, out, a)


@over_axes
def local_mean(
    a: Image,
    window: Sides,
    *,
    border: str = "reflect101",
    value: float = 0,
    mask: Any = None,
    nan: Literal["keep", "skip"] = "keep",
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> ndarray:
    """Compute the mean of the window around every pixel, as floats.

    Parameters
    ----------
    a, border, value, out, workers, axes
        As for :func:`blur`. `out` may be the image itself if that holds floats.
    mask, nan
        As for :func:`blur`. Statistics are then computed from the valid pixels of each
        window, and are NaN if it has none.
    window : int or tuple of int
        Side of the window in pixels, or its width and height, as for :func:`box_filter`.
    dtype : dtype, optional
        Type of the result, float32 or float64. The default is float64 for float64 images
        and for integers of 32 and 64 bits, and float32 otherwise.

    Returns
    -------
    means : array
        The means, of the shape of `a`.

    Raises
    ------
    TypeError
        If the pixel type is not supported, or `dtype` is not float32 or float64.
    ValueError
        If `a` does not have the shape (H, W) or (H, W, C), a number is out of range, or
        `mask` or `out` has the wrong shape.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> boxsum.local_mean(np.array([[0, 1, 5]], np.uint8), 3)
    array([[0.6666667, 2.       , 2.3333333]], dtype=float32)
    >>> boxsum.local_mean(np.array([[2, 4, np.nan, 6]]), 3, border="clip", nan="skip")
    array([[3., 3., 5., 6.]])
    """
    return _local(b"mean", a, window, border, value, mask, nan, dtype, out, workers)


@over_axes
def local_std(
    a: Image,
    window: Sides,
    *,
    border: str = "reflect101",
    value: float = 0,
    mask: Any = None,
    nan: Literal["keep", "skip"] = "keep",
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> ndarray:
    """Compute the standard deviation of the window around every pixel.

    Parameters
    ----------
    a, window, border, value, mask, nan, dtype, out, workers, axes
        As for :func:`local_mean`.

    Returns
    -------
    deviations : array
        The standard deviations, of the shape of `a`.

    Raises
    ------
    TypeError, ValueError
        As for :func:`local_mean`.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> boxsum.local_std(np.array([[0, 0, 3, 3]], np.uint8), 3)
    array([[0.       , 1.4142135, 1.4142135, 0.       ]], dtype=float32)
    """
    return _local(b"std", a, window, border, value, mask, nan, dtype, out, workers)


@over_axes
def local_var(
    a: Image,
    window: Sides,
    *,
    border: str = "reflect101",
    value: float = 0,
    mask: Any = None,
    nan: Literal["keep", "skip"] = "keep",
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> ndarray:
    """Compute the variance of the window around every pixel.

    Parameters
    ----------
    a, window, border, value, mask, nan, dtype, out, workers, axes
        As for :func:`local_mean`.

    Returns
    -------
    variances : array
        The variances, of the shape of `a`.

    Raises
    ------
    TypeError, ValueError
        As for :func:`local_mean`.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> boxsum.local_var(np.array([[0, 0, 3, 3]], np.uint8), 3)
    array([[0., 2., 2., 0.]], dtype=float32)
    """
    return _local(b"variance", a, window, border, value, mask, nan, dtype, out, workers)


@over_axes
def local_mean_std(
    a: Image,
    window: Sides,
    *,
    border: str = "reflect101",
    value: float = 0,
    mask: Any = None,
    nan: Literal["keep", "skip"] = "keep",
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> tuple[ndarray, ndarray]:
    """Compute the mean and the standard deviation of the window around every pixel.

    This takes little more time than computing one of them.

    Parameters
    ----------
    a, window, border, value, mask, nan, dtype, workers, axes
        As for :func:`local_mean`.
    out : pair of arrays, optional
        Destinations for the means and the standard deviations.

    Returns
    -------
    means, deviations : array
        The means and standard deviations, of the shape of `a`.

    Raises
    ------
    TypeError, ValueError
        As for :func:`local_mean`.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> mean, std = boxsum.local_mean_std(np.array([[0, 0, 3, 3]], np.uint8), 3)
    >>> mean, std
    (array([[0., 1., 2., 3.]], dtype=float32), array([[0.       , 1.4142135, 1.4142135, 0.       ]], dtype=float32))
    """
    image, valid = valid_pixels(a, mask, nan)
    if out is not None and (not isinstance(out, (tuple, list)) or len(out) != 2):
        raise ValueError(f"out must be a pair of arrays, for the means and the deviations, got {type(out).__name__}")
    first, second = (None, None) if out is None else out
    dtype = float_type(image, dtype, second if first is None else first)
    means, deviations = result_for(image, dtype, first), result_for(image, dtype, second)
    run(b"mean_std", image, means, sides(window, "window"), border, value, workers, deviations, valid=valid)
    return as_given(means, first, a), as_given(deviations, second, a)


@over_axes
def normalize(
    a: Image,
    window: Sides,
    *,
    floor: float = 0,
    border: str = "reflect101",
    value: float = 0,
    mask: Any = None,
    nan: Literal["keep", "skip"] = "keep",
    dtype: Any = None,
    out: Any = None,
    workers: int | None = None,
    axes: Axes = None,
) -> ndarray:
    """Normalize local contrast by the mean and standard deviation of the window.

    The result is ``(a - mean) / max(std, floor)``, and 0 if all pixels of the window are
    equal.

    Parameters
    ----------
    a, window, border, value, mask, nan, dtype, out, workers, axes
        As for :func:`local_mean`.
    floor : float, default 0
        The smallest divisor. Set it to the standard deviation of the noise to avoid
        amplifying noise in flat areas.

    Returns
    -------
    normalized : array
        The normalized image, of the shape of `a`.

    Raises
    ------
    TypeError, ValueError
        As for :func:`local_mean`.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> boxsum.normalize(np.array([[0, 0, 3, 3]], np.float64), 3)
    array([[ 0.        , -0.70710678,  0.70710678,  0.        ]])
    """
    return _local(b"normalize", a, window, border, value, mask, nan, dtype, out, workers, real(floor, "floor"))


@any_pixels
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
    """Smooth an image with the guided filter of He, Sun and Tang.

    The result is smooth where the guide is smooth, and keeps the guide's edges.

    Parameters
    ----------
    a, border, value, out, workers, axes
        As for :func:`blur`.
    radius : int or tuple of int
        Radius of the windows, which are ``2 * radius + 1`` pixels on a side, or a horizontal
        and a vertical radius.
    epsilon : float
        Variance of the guide up to which it counts as smooth, in squared pixel units: 100
        to 1000 for 8-bit images.
    guide : array_like, shape (H, W) or (H, W, 3), optional
        Gray or color guide. The default is the image itself, which must then have one or
        three channels.

    Returns
    -------
    smooth : array
        The filtered image, of the type and shape of `a`. Integers are rounded to
        nearest and clamped to their range.

    Raises
    ------
    TypeError
        If a pixel type is not supported.
    ValueError
        If `a` does not have the shape (H, W) or (H, W, C), a number is out of range, or
        `guide` or `out` has the wrong shape.

    Examples
    --------
    >>> import boxsum, numpy as np
    >>> image = np.array([[10, 12, 10, 200, 202, 200]] * 3, np.uint8)
    >>> boxsum.guided(image, 1, 100)[0]
    array([ 11,  12,  11, 199, 201, 201], dtype=uint8)
    """
    image = pixels_of(a)
    result = result_for(image, native_of(image), out)
    other = image if guide is None else pixels_of(guide)
    if other.dtype.newbyteorder("=") != image.dtype.newbyteorder("="):
        other = other.astype(np.float64)
    across, down = sides(radius, "radius", 0, _LARGEST // 2)
    run(b"guided", image, result, (2 * across + 1, 2 * down + 1), border, value, workers, other, real(epsilon, "epsilon"))
    return as_given(result, out, a)


@any_pixels
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
    """Compute the median of the window around every pixel.

    If a window has an even number of pixels, the lower of the two middle values is
    returned. The running time grows with the height of the window, except for uint8 images
    and for windows of 3 or 5 pixels on a side.

    Parameters
    ----------
    a, window, border, value, out, workers, axes
        As for :func:`box_filter`.

    Returns
    -------
    medians : array
        The medians, of the type and shape of `a`. Windows with a NaN have median NaN.

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
    >>> image = np.full((5, 5), 7, np.uint8)
    >>> image[1, 2] = 255
    >>> int(boxsum.median(image, 3).max())
    7
    """
    image = pixels_of(a)
    result = result_for(image, native_of(image), out)
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
    """Compute the Shannon entropy of the window around every pixel, a measure of texture.

    Parameters
    ----------
    a, window, border, value, dtype, out, workers, axes
        As for :func:`local_mean`.
    bins : int, default 256
        Number of bins in the histogram of a window, 2 to 256.
    range : tuple of float, optional
        Lower and upper end of the bins. The default is the full range of uint8 and uint16;
        floats require a range. Pixels outside it are not counted.

    Returns
    -------
    entropies : array
        The entropies in bits, of the shape of `a`.

    Raises
    ------
    TypeError
        If the pixel type is not supported, or `dtype` is not float32 or float64.
    ValueError
        If `a` does not have the shape (H, W) or (H, W, C), a number is out of range, `a` holds
        floats and `range` is missing, `range` is empty, or `out` has the wrong shape.

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
        raise ValueError(f"range must be (low, high) with low < high, got ({low}, {high})")
    if range is None and image.dtype.kind == "f":
        raise ValueError(f"range must be given for pixels of {image.dtype}, got None (pass range=(low, high))")
    settings = (*sides(window, "window"), whole(bins, "bins", 1), low, high, 0, border_of(border), real(value, "value"), thread_count(workers))
    call_with_copies((result,), "entropy", image, result, *settings)
    return as_given(result, out, a)


@any_pixels
@over_axes
def downsample(a: Image, factor: Sides, *, out: Any = None, workers: int | None = None, axes: Axes = None) -> ndarray:
    """Downsample an image to the mean of every block of pixels.

    Parameters
    ----------
    a, workers, axes
        As for :func:`blur`.
    factor : int or tuple of int
        Side of the blocks in pixels, or their width and height, 1 or more. The mean of a
        block that extends beyond the image covers the pixels inside the image.
    out : array, optional
        Destination, of the type and shape of the result.

    Returns
    -------
    smaller : array
        The means of the blocks, of the type of `a`. Means of integers are rounded to
        nearest, ties up. The height and the width are those of `a` divided by the height
        and the width of a block, rounded up; channels are kept.

    Raises
    ------
    TypeError
        If the pixel type is not supported, or `factor` is not an integer.
    ValueError
        If `a` does not have the shape (H, W) or (H, W, C), `factor` is less than 1, or
        `out` has the wrong shape.

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
    result = result_for(image, native_of(image), out, shape)
    call_with_copies((result,), "downsample", image, result, across, down, b"clip", 0.0, thread_count(workers))
    return as_given(result, out, a)


def brightest(a: Image, size: Sides, count: int = 1, *, darkest: bool = False, workers: int | None = None) -> tuple[ndarray, ndarray]:
    """Find the windows of a given size with the greatest means, without overlaps.

    Parameters
    ----------
    a, workers
        As for :func:`blur`. The channels of an image are averaged together.
    size : int or tuple of int
        Side of the windows in pixels, or their width and height.
    count : int, default 1
        Maximum number of windows. There are fewer if no more fit in the image.
    darkest : bool, default False
        Find the windows with the smallest means instead.

    Returns
    -------
    boxes : ndarray of int64, shape (N, 4)
        The windows as ``x0, y0, x1, y1``, the best first. Among equal windows, the topmost
        comes first, then the leftmost. Windows that contain a NaN are skipped.
    means : ndarray of float64, shape (N,)
        The means of the windows in `boxes`, over all channels.

    Raises
    ------
    TypeError
        If the pixel type is not supported.
    ValueError
        If `a` does not have the shape (H, W) or (H, W, C), or a number is out of range.

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
    most = (image.shape[0] // down + 1) * (image.shape[1] // across + 1) * 4  # more do not fit
    n = min(whole(count, "count", 0), most)
    boxes, means = np.empty((n, 4), np.int64), np.empty(n)
    found = call_with_copies((boxes, means), "brightest", image, boxes, means, across, down, int(bool(darkest)), thread_count(workers))
    return boxes[:found].copy(), means[:found].copy()
