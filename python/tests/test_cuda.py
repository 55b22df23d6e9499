"""Arrays on a CUDA device: CuPy, PyTorch, and both protocols.

These run where there is such a device: ``pytest -m cuda``.
"""

import atexit
import os

import numpy as np
import pytest

import boxsum

cupy = pytest.importorskip("cupy")
torch = pytest.importorskip("torch")

pytestmark = pytest.mark.cuda

if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)


@pytest.fixture(autouse=True)
def device_lives():
    """Ends the run where a kernel has failed, for nothing on the device works from then on.

    Everything that CuPy and PyTorch would free at exit would fail as well, each with
    a page of text: the process leaves without.
    """
    yield
    try:
        torch.cuda.synchronize()
    except Exception as error:
        atexit.register(os._exit, 1)
        pytest.exit(f"the device has failed: {str(error).splitlines()[0]}", returncode=1)


PIXELS = ["u1", "u2", "u4", "i2", "i4", "f4", "f8"]
SHAPES = [(1, 1), (7, 5), (64, 64), (301, 203), (480, 854), (1, 1000), (1000, 1), (130, 77, 3), (33, 65, 2), (20, 30, 5)]


def pixels(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return rng.integers(-50, 50, shape).astype(dtype)
    top = min(np.iinfo(dtype).max, 40000)
    return rng.integers(max(np.iinfo(dtype).min, -40000), top, shape, dtype=dtype, endpoint=True)


def same(got, want):
    got = got.get() if isinstance(got, cupy.ndarray) else got.cpu().numpy()
    assert got.shape == want.shape
    if got.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 * max(1, np.abs(want).max()))
    else:
        np.testing.assert_array_equal(got, want.view(got.dtype))


@pytest.mark.parametrize("dtype", PIXELS)
@pytest.mark.parametrize("shape", SHAPES)
def test_cupy(shape, dtype):
    image = pixels(shape, dtype)
    on_device = cupy.asarray(image)
    tables = boxsum.integral(on_device, squares=True, tilted=True)
    assert all(isinstance(t, cupy.ndarray) for t in tables)
    for got, want in zip(tables, boxsum.integral(image, squares=True, tilted=True)):
        assert got.dtype == want.dtype
        same(got, want)
    same(boxsum.integral(on_device), boxsum.integral(image))


@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "f4", "f8"])
@pytest.mark.parametrize("shape", SHAPES)
def test_torch(shape, dtype):
    image = pixels(shape, dtype)
    on_device = torch.from_numpy(image).cuda()
    tables = boxsum.integral(on_device, squares=True, tilted=True)
    for got, want in zip(tables, boxsum.integral(image, squares=True, tilted=True)):
        assert got.is_cuda and got.element_size() == want.itemsize
        same(got, want)
    same(boxsum.integral(on_device), boxsum.integral(image))


def test_views():
    image = pixels((200, 300), "u1")
    whole = cupy.asarray(image)
    for cut in [np.s_[3:, 5:], np.s_[:, 1:-7], np.s_[::2], np.s_[::-1], np.s_[:, ::3], np.s_[10:11, 4:5], np.s_[:0], np.s_[:, :0]]:
        same(boxsum.integral(whole[cut]), boxsum.integral(image[cut]))
        if not any(isinstance(s, slice) and (s.step or 1) < 0 for s in np.index_exp[cut]):
            same(boxsum.integral(torch.from_numpy(image).cuda()[cut]), boxsum.integral(image[cut]))
    same(boxsum.integral(whole.T), boxsum.integral(image.T))
    same(boxsum.integral(torch.from_numpy(image).cuda().T), boxsum.integral(image.T))


def test_out():
    image = pixels((100, 77), "u1")
    want = boxsum.integral(image)
    room = cupy.full((110, 90), 7, cupy.uint32)
    out = room[3:104, 5:83]
    assert boxsum.integral(cupy.asarray(image), out=out) is out
    same(out, want)
    room[3:104, 5:83] = 7
    assert (room == 7).all()
    tensor = torch.full((101, 78), 7, dtype=torch.int32, device="cuda")
    assert boxsum.integral(torch.from_numpy(image).cuda(), out=tensor) is tensor
    same(tensor, want)
    for bad, error in [(cupy.empty((5, 5), cupy.uint32), ValueError), (cupy.empty((101, 78), cupy.int16), TypeError)]:
        with pytest.raises(error):
            boxsum.integral(cupy.asarray(image), out=bad)


def test_types():
    image = pixels((50, 60), "u1")
    for dtype in ["u4", "i4", "u8", "i8", "f4", "f8"]:
        got = boxsum.integral(cupy.asarray(image), dtype=dtype)
        assert got.dtype == np.dtype(dtype)
        same(got, boxsum.integral(image, dtype=dtype))
    assert boxsum.integral(torch.from_numpy(image).cuda(), dtype=torch.float64).dtype == torch.float64
    same(boxsum.integral(cupy.asarray(image > 100)), boxsum.integral(image > 100))
    same(boxsum.integral(torch.from_numpy(image > 100).cuda()), boxsum.integral(image > 100))
    same(boxsum.integral(cupy.asarray(image).astype(cupy.float16)), boxsum.integral(image.astype(np.float16)))
    with pytest.raises(TypeError):
        boxsum.integral(cupy.asarray(image).astype(cupy.complex64))
    with pytest.raises(TypeError):
        boxsum.integral(torch.zeros((4, 4), dtype=torch.bfloat16, device="cuda"))
    with pytest.raises(ValueError):
        boxsum.integral(cupy.zeros((4,), cupy.uint8))
    for function in (boxsum.moments, boxsum.histogram):
        with pytest.raises(TypeError):
            function(cupy.zeros((4, 4, 4), cupy.uint8))


@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 7, 9), (33, 64, 65), (20, 30, 40, 3), (9, 40, 64), (70, 150, 272)])
def test_volumes(shape):
    boxes = np.random.default_rng(0).integers(-5, 70, (300, 6))
    for dtype in ("u1", "i2", "f4"):
        voxels = pixels(shape, dtype)
        want = boxsum.volume(voxels, squares=True)
        for image in (cupy.asarray(voxels), torch.from_numpy(voxels).cuda()):
            tables = boxsum.volume(image, squares=True)
            for g, w in zip(tables, want):
                same(g, w)
            same(boxsum.box_sum(tables[0], boxes), boxsum.box_sum(want[0], boxes))
            same(boxsum.box_std(*tables, boxes), boxsum.box_std(*want, boxes))
            out = (tables[0] * 0, tables[1] * 0)
            assert boxsum.volume(image, squares=True, out=out)[1] is out[1]
            same(out[1], want[1])
    whole = pixels((20, 30, 40), "u1")
    cut = np.s_[3:, 4:20, 5:]
    same(boxsum.volume(cupy.asarray(whole)[cut]), boxsum.volume(whole[cut]))


def test_streams():
    """Work follows what was queued before it on the caller's stream."""
    image = pixels((2000, 3000), "u1")
    want = boxsum.integral(image)
    for _ in range(3):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            pinned = cupy.asarray(image)
            busy = cupy.arange(1 << 24)
            for _ in range(20):
                busy = busy * 3 + 1
            changed = pinned + cupy.uint8(1) - cupy.uint8(1)
            table = boxsum.integral(changed)
            copy = table + cupy.uint32(0)
        del changed, busy
        stream.synchronize()
        same(copy, want)
        del stream  # its handle may come back
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        tensor = torch.from_numpy(image).cuda(non_blocking=True)
        table = boxsum.integral(tensor + 0)
        copy = table + 0
    side.synchronize()
    same(copy, want)
    with cupy.cuda.Stream.ptds:
        table = boxsum.integral(cupy.asarray(image))
        cupy.cuda.Stream.ptds.synchronize()
    same(table, want)


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8"])
@pytest.mark.parametrize("shape", [(5, 7), (64, 64), (480, 854), (1024, 1024), (1080, 1920), (3000, 2000), (130, 77, 3)])
def test_torch_graphs(shape, dtype):
    """A graph gives the table of what the image is when it runs, however often, and whatever runs in between."""
    image = torch.from_numpy(pixels(shape, dtype)).cuda()
    out = boxsum.integral(image)
    other = out.clone()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        boxsum.integral(image, out=out)
        twice = out + out
        again = boxsum.integral(image)
    for seed in range(1, 6):
        changed = pixels(shape, dtype, seed)
        image.copy_(torch.from_numpy(changed))
        if seed % 2:
            boxsum.integral(image, out=other)
        out.zero_()
        graph.replay()
        want = boxsum.integral(changed)
        same(out, want)
        same(twice, want + want)
        same(again, want)
    boxsum.integral(image, out=other)
    same(other, want)


def test_graph_of_every_kind():
    """Squares, tilted tables and volumes in a graph, and types that no kernel was loaded for before."""
    image, voxels = pixels((301, 203), "i2"), pixels((30, 64, 65), "u1")
    plane, solid = torch.from_numpy(image).cuda(), torch.from_numpy(voxels).cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tables = boxsum.integral(plane, squares=True, tilted=True)
        both = boxsum.volume(solid, squares=True)
    for seed in range(1, 4):
        image, voxels = pixels(image.shape, "i2", seed), pixels(voxels.shape, "u1", seed)
        plane.copy_(torch.from_numpy(image))
        solid.copy_(torch.from_numpy(voxels))
        graph.replay()
        for got, want in zip(tables + both, boxsum.integral(image, squares=True, tilted=True) + boxsum.volume(voxels, squares=True)):
            same(got, want)


def test_graphs_at_once():
    """Two graphs that were captured on one stream run on two, beside calls on a third."""
    images = [torch.from_numpy(pixels((2000, 3000), "u1", seed)).cuda() for seed in range(3)]
    outs = [boxsum.integral(i) for i in images]
    want = [boxsum.integral(i.cpu().numpy()) for i in images]
    graphs = []
    for image, out in zip(images[:2], outs):
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[-1]):
            for _ in range(10):
                boxsum.integral(image, out=out)
    streams = [torch.cuda.Stream() for _ in range(3)]
    for _ in range(5):
        for out in outs:
            out.zero_()
        torch.cuda.synchronize()
        for stream, graph in zip(streams, graphs):
            with torch.cuda.stream(stream):
                graph.replay()
        with torch.cuda.stream(streams[2]):
            for _ in range(10):
                boxsum.integral(images[2], out=outs[2])
        torch.cuda.synchronize()
        for out, w in zip(outs, want):
            same(out, w)


def test_cupy_graphs():
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        image = cupy.asarray(pixels((700, 900), "u1"))
        out = boxsum.integral(image)
        stream.synchronize()
        stream.begin_capture()
        boxsum.integral(image, out=out)
        graph = stream.end_capture()
        for seed in range(1, 5):
            changed = pixels((700, 900), "u1", seed)
            image.set(changed, stream=stream)
            boxsum.integral(image, out=cupy.empty_like(out))
            out.fill(0)
            graph.launch(stream)
            stream.synchronize()
            same(out, boxsum.integral(changed))


def test_calls_again():
    """The short way of calls that were made before gives the tables of the long one."""
    for seed, (h, w) in enumerate([(64, 64), (65, 63), (64, 64), (1024, 1024), (1080, 1920)] * 2):
        image = pixels((h, w), "u1", seed)
        want = boxsum.integral(image)
        tensor = torch.from_numpy(image).cuda()
        for out in (torch.zeros((h + 1, w + 1), dtype=torch.int32, device="cuda"), torch.zeros((h + 1, w + 9), dtype=torch.int32, device="cuda")[:, : w + 1]):
            assert boxsum.integral(tensor, out=out) is out
            same(out, want)
        array, out = cupy.asarray(image), cupy.zeros((h + 1, w + 1), cupy.uint32)
        assert boxsum.integral(array, out=out) is out
        same(out, want)


class Interface:
    """An array of a library that nobody knows."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


class Exchange:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("wrap", [Interface, Exchange])
def test_protocols(wrap):
    image = pixels((100, 150), "u1")
    table = boxsum.integral(wrap(cupy.asarray(image)))
    assert isinstance(table, boxsum.DeviceArray)
    same(cupy.asarray(table), boxsum.integral(image))
    same(cupy.from_dlpack(table), boxsum.integral(image))
    same(torch.from_dlpack(boxsum.integral(wrap(cupy.asarray(image)), dtype="i4")), boxsum.integral(image))
    kept = torch.from_dlpack(boxsum.integral(wrap(cupy.asarray(image.astype("f4")))))
    same(kept, boxsum.integral(image.astype("f4")))
    out = cupy.zeros((101, 151), cupy.uint32)
    given = wrap(out)
    assert boxsum.integral(wrap(cupy.asarray(image)), out=given) is given
    cupy.cuda.Device().synchronize()
    same(out, boxsum.integral(image))
    for _ in range(50):  # freed, not leaked
        table.__dlpack__()


def test_boxes():
    rng = np.random.default_rng(3)
    image = pixels((90, 120), "u1")
    boxes = rng.integers(-20, 140, (500, 4))
    want = boxsum.integral(image, squares=True)
    for to, tables in [(cupy.asarray, boxsum.integral(cupy.asarray(image), squares=True)), (torch.as_tensor, boxsum.integral(torch.from_numpy(image).cuda(), squares=True))]:
        for queries in (boxes, to(boxes)):
            same(boxsum.box_sum(tables[0], queries), boxsum.box_sum(want[0], boxes))
            same(boxsum.box_mean(tables[0], queries), boxsum.box_mean(want[0], boxes))
            same(boxsum.box_std(*tables, queries), boxsum.box_std(*want, boxes))


@pytest.mark.parametrize("to", [cupy.asarray, lambda a: torch.as_tensor(a).cuda()])
@pytest.mark.parametrize("dtype, center", [("f4", 1e4), ("f4", 1e6), ("f8", 1e5), ("f8", 1e7), ("f8", -1e7)])
def test_floats_far_from_zero(to, dtype, center):
    """Deviations are right, and those that cannot be are NaN."""
    rng = np.random.default_rng(4)
    image = (rng.standard_normal((700, 900)) * (1 if dtype == "f8" else center / 1e3) + center).astype(dtype)
    corners = rng.integers(0, 600, (300, 2))
    boxes = np.hstack([corners, corners + rng.integers(2, 90, (300, 2))])
    parts = [image[y0:y1, x0:x1].astype(float) for x0, y0, x1, y1 in boxes]
    host = lambda a: a.get() if isinstance(a, cupy.ndarray) else a.cpu().numpy()
    sums, squares = boxsum.integral(to(image), squares=True)
    np.testing.assert_allclose(host(boxsum.box_std(sums, squares, boxes)), [p.std() for p in parts], rtol=1e-6)
    np.testing.assert_allclose(host(boxsum.box_mean(sums, boxes)), [p.mean() for p in parts], rtol=1e-12)
    np.testing.assert_allclose(host(sums)[-1, -1], image.sum(dtype=float), rtol=1e-9)  # the entries are plain sums
    sums *= 2  # what was known is not of this table
    np.testing.assert_allclose(host(boxsum.box_mean(sums, boxes)), [2 * p.mean() for p in parts], rtol=1e-9)
    solid = (rng.standard_normal((20, 30, 40)) + 1e7).astype("f8")
    got = boxsum.box_std(*boxsum.volume(to(solid), squares=True), [3, 2, 1, 39, 25, 19])
    np.testing.assert_allclose(host(got), solid[1:19, 2:25, 3:39].std(), rtol=1e-6)
    ramp = np.linspace(0, 1e7, 900) + rng.standard_normal((700, 900))
    got, want = host(boxsum.box_std(*boxsum.integral(to(ramp), squares=True), boxes)), np.array([ramp[y0:y1, x0:x1].std() for x0, y0, x1, y1 in boxes])
    assert np.all(np.isnan(got) | (abs(got - want) <= 1e-2 * want))


@pytest.mark.parametrize("to", [cupy.asarray, lambda a: torch.as_tensor(a).cuda()])
def test_exact_integers(to):
    """Variances of integers are as right as on the processor, and sums that may not fit are refused."""
    host = lambda a: a.get() if isinstance(a, cupy.ndarray) else a.cpu().numpy()
    rng = np.random.default_rng(5)
    boxes = rng.integers(-5, 60, (400, 4))
    for image in (rng.integers(253, 256, (50, 60)).astype("u1"), rng.integers(-5, 0, (50, 60)).astype("i2"), rng.integers(-(1 << 20), 9 - (1 << 20), (50, 60)).astype("i4")):
        want = boxsum.integral(image, squares=True)
        got = boxsum.integral(to(image), squares=True)
        np.testing.assert_allclose(host(boxsum.box_var(*got, boxes)), boxsum.box_var(*want, boxes), rtol=4e-15)
    white = boxsum.integral(to(np.full((5000, 5000), 255, "u1")), squares=True)
    assert host(boxsum.box_mean(white[0], [0, 0, 5000, 5000])) == 255 and host(boxsum.box_std(*white, [0, 0, 5000, 5000])) == 0
    if to is cupy.asarray:  # PyTorch has no such sums
        with pytest.raises(ValueError, match="may not fit"):
            boxsum.box_mean(boxsum.integral(to(np.full((9, 9), (1 << 32) - 1, "u4")), dtype="u4"), [0, 0, 9, 9])


@pytest.mark.parametrize("to", [cupy.asarray, lambda a: torch.as_tensor(a).cuda()])
def test_boxes_that_do_not_go_with_a_table(to):
    image, voxels = pixels((9, 8), "u1"), pixels((5, 6, 7), "u1")
    table, solid = boxsum.integral(to(image)), boxsum.volume(to(voxels))
    same(boxsum.box_sum(table, to(np.array([[0.0, 0, 4, 3]]))), np.array([image[:3, :4].sum()], "u4"))
    for bad, boxes, words in [
        (solid, [[0, 0, 1, 1]], "want six"),
        (table, [[0, 0, 0, 1, 1, 1]], "want four"),
        (table, [[0.5, 0, 1, 1]], "must be integers"),
        (table, to(np.array([[0.5, 0, 1, 1]])), "must be integers"),
        (boxsum.integral(to(image), squares=True), [[0, 0, 1, 1]], "table must be one array, got a tuple of 2"),
    ]:
        with pytest.raises(ValueError, match=words):
            boxsum.box_sum(bad, boxes)
    with pytest.raises(TypeError, match="host memory"):
        boxsum.tilted_sum(boxsum.integral(to(image), tilted=True)[1], [0, 0, 1, 1])


def test_host_arrays_by_way_of_the_device():
    for dtype in PIXELS:
        image = pixels((301, 203), dtype)
        for got, want in zip(boxsum.integral(image, squares=True, tilted=True, device="cuda"), boxsum.integral(image, squares=True, tilted=True)):
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6 * max(1.0, float(np.abs(want).max())))
    assert boxsum.devices()[0]["device"] == "cuda:0"
    with pytest.raises(RuntimeError):
        boxsum.integral(image, device="cuda:77")
    with pytest.raises(ValueError):
        boxsum.integral(cupy.asarray(image), device="opencl")


def test_tensors_of_the_host():
    for dtype in ("u1", "i2", "f4"):
        image = pixels((30, 40), dtype)
        tensor = torch.from_numpy(image)
        want = boxsum.integral(image, squares=True, tilted=True)
        for got, w in zip(boxsum.integral(tensor, squares=True, tilted=True), want):
            assert isinstance(got, torch.Tensor) and not got.is_cuda
            same(got, w)
        out = torch.zeros((31, 41), dtype=torch.int64 if dtype == "i2" else torch.float64)
        assert boxsum.integral(tensor, out=out) is out
        np.testing.assert_allclose(out.numpy(), want[0])
        boxes = [[0, 0, 5, 6], [3, 3, 40, 30]]
        table, squares = boxsum.integral(tensor, squares=True)
        np.testing.assert_allclose(boxsum.box_sum(table, boxes).numpy(), boxsum.box_sum(want[0], boxes))
        np.testing.assert_allclose(boxsum.box_std(table, squares, boxes).numpy(), boxsum.box_std(want[0], want[1], boxes))
        assert boxsum.volume(torch.ones((3, 4, 5), dtype=torch.uint8))[-1, -1, -1] == 60
        assert boxsum.moments(tensor.to(torch.int32)).shape == (30, 40)
    assert boxsum.integral(torch.ones((4, 4), requires_grad=True))[-1, -1] == 16


@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize("dtype", ["u1", "u2"])
def test_filters_stay_on_the_device(library, dtype):
    image = pixels((203, 331), dtype)
    there = cupy.asarray(image) if library == "cupy" else torch.from_numpy(image).cuda()
    kind = cupy.ndarray if library == "cupy" else torch.Tensor

    def equals(got, want):
        assert isinstance(got, kind)
        got = got.get() if library == "cupy" else got.cpu().numpy()
        np.testing.assert_array_equal(got, want)

    for border in ["reflect101", "clip", "replicate"]:
        equals(boxsum.blur(there, (7, 3), border=border), boxsum.blur(image, (7, 3), border=border))
        equals(boxsum.local_mean(there, 15, border=border), boxsum.local_mean(image, 15, border=border))
        equals(boxsum.local_std(there, 15, border=border), boxsum.local_std(image, 15, border=border))
    equals(boxsum.box_filter(there, (4, 5)), boxsum.box_filter(image, (4, 5)))
    equals(boxsum.binarize(there, "sauvola", window=25), boxsum.binarize(image, "sauvola", window=25))
    equals(boxsum.blur(there[:, ::2], 2), boxsum.blur(image[:, ::2], 2))
    out = cupy.empty_like(there) if library == "cupy" else torch.empty_like(there)
    assert boxsum.blur(there, 5, out=out) is out
    equals(out, boxsum.blur(image, 5))
    equals(boxsum.clahe(there, 3, (5, 4)), boxsum.clahe(image, 3, (5, 4)))
    equals(boxsum.nl_means(there, 20, search=7), boxsum.nl_means(image, 20, search=7))
    equals(boxsum.rank_filter(there, "mean", (9, 4)), boxsum.rank_filter(image, "mean", (9, 4)))
    score, similarity = boxsum.ssim(there, out, full=True)
    want, expected = boxsum.ssim(image, boxsum.blur(image, 5), full=True, out=np.empty(image.shape, np.float32))
    equals(similarity, expected)
    assert score == want == boxsum.ssim(there, out)
    with pytest.raises(TypeError, match="host"):
        boxsum.lncc(there, out)
    with pytest.raises(TypeError, match="host"):
        boxsum.clahe(there, color=True)
    if dtype == "u1":
        equals(boxsum.rank_filter(there, "percentile", 15, fraction=0.3), boxsum.rank_filter(image, "percentile", 15, fraction=0.3))
        scores = boxsum.match(there, there[50:66, 70:90])
        want = boxsum.match(image, image[50:66, 70:90])
        got = scores.get() if library == "cupy" else scores.cpu().numpy()
        np.testing.assert_allclose(got, want, atol=1e-5)
    with pytest.raises(TypeError, match="host"):
        boxsum.blur(there, sigma=3)
    with pytest.raises(ValueError):
        boxsum.blur(there, 3, out=out[1:])
    with pytest.raises(TypeError):
        boxsum.binarize(there, "wolf")


def layouts(xp, x):
    """An array of four axes as permute and slices lay it out."""
    on = xp.asarray(x) if xp is cupy else torch.from_numpy(x).cuda()
    turn = (lambda a, *axes: a.transpose(axes)) if xp is cupy else (lambda a, *axes: a.permute(axes))
    copy = (lambda a: cupy.ascontiguousarray(a)) if xp is cupy else (lambda a: a.contiguous())
    yield on
    for axes in ((0, 2, 3, 1), (1, 0, 2, 3), (0, 1, 3, 2)):
        yield turn(copy(turn(on, *axes)), *sorted(range(4), key=axes.__getitem__))
    wide = (cupy.concatenate if xp is cupy else torch.cat)([on, on], 1)
    yield wide[:, : x.shape[1]]
    yield wide[:, ::2] if x.shape[1] == 1 else wide[:, x.shape[1] :]


@pytest.mark.parametrize("xp", [cupy, torch], ids=["cupy", "torch"])
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8"])
def test_batches(xp, dtype):
    for shape in [(3, 2, 17, 33), (70, 1, 64, 130), (2, 5, 1, 1)]:
        x = pixels(shape, dtype)
        want = boxsum.integral(x, axes=(-2, -1))
        both = boxsum.integral(x, axes=(-2, -1), squares=True)
        for view in layouts(xp, x):
            same(boxsum.integral(view, axes=(-2, -1)), want)
            got = boxsum.integral(view, axes=(-2, -1), squares=True)
            same(got[1], both[1])
        same(boxsum.integral(view, axes=(-2, -1), tilted=True)[1], boxsum.integral(x, axes=(-2, -1), tilted=True)[1])
        boxes = np.array([[0, 0, 9, 9], [3, 2, 30, 12]])
        table = boxsum.integral(view, axes=(-2, -1))
        same(boxsum.box_sum(table, boxes, axes=(-2, -1)), boxsum.box_sum(want, boxes, axes=(-2, -1)))
        own = np.broadcast_to(boxes, (shape[0], 2, 4))
        same(boxsum.box_mean(table, xp.asarray(own) if xp is cupy else torch.from_numpy(own.copy()), axes=(-2, -1)), boxsum.box_mean(want, own, axes=(-2, -1)))
    volumes = pixels((2, 3, 9, 10, 11), dtype)
    on = cupy.asarray(volumes) if xp is cupy else torch.from_numpy(volumes).cuda()
    same(boxsum.volume(on, axes=(-3, -2, -1)), boxsum.volume(volumes, axes=(-3, -2, -1)))
    with pytest.raises(ValueError, match="axes"):
        boxsum.integral(on[0], axes=(0, 5))


def test_cascades_search_arrays_on_the_device():
    import oracle

    import boxsum.detect

    cascade = boxsum.detect.Cascade(oracle.cascade("haarcascade_frontalface_alt2"))
    rng = np.random.default_rng(3)
    spots = np.kron(rng.integers(0, 256, (30, 40)), np.ones((16, 16))).astype("u1")
    photo = np.stack([np.roll(spots, k, 1) for k in (0, 3, 7)], 2)
    for image in (spots, photo, photo[:, 5:300]):
        want = cascade.detect(image, neighbors=0, limit=1 << 20)
        for there in (cupy.asarray(image), torch.as_tensor(np.ascontiguousarray(image), device="cuda")):
            for one, other in zip(cascade.detect(there, neighbors=0), want):
                np.testing.assert_array_equal(one, other)
        for one, other in zip(cascade.detect(image, neighbors=0, device="cuda"), want):
            np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="angles are not supported on a device"):
        cascade.detect(cupy.asarray(photo), angles=[90])
    with pytest.raises(TypeError, match="want uint8"):
        cascade.detect(cupy.asarray(photo.astype("f4")))


def test_histograms_of_gradients_search_arrays_on_the_device():
    import boxsum.detect

    hog = boxsum.detect.HOG(np.random.default_rng(8).normal(0, 0.1, 1189), window=(32, 96))
    photo = pixels((150, 130, 3), "u1")
    for image in (photo, photo[:, :, 1], photo[:, 5:90]):
        least = np.median(hog.scores(image))
        want = hog.detect(image, threshold=least, neighbors=0)
        assert len(want.boxes)
        for there in (cupy.asarray(image), torch.as_tensor(np.ascontiguousarray(image), device="cuda")):
            for one, other in zip(hog.detect(there, threshold=least, neighbors=0), want):
                np.testing.assert_array_equal(one, other)
        for one, other in zip(hog.detect(image, threshold=least, neighbors=0, device="cuda"), want):
            np.testing.assert_array_equal(one, other)
    with pytest.raises(TypeError, match="must have type uint8"):
        hog.detect(cupy.asarray(photo.astype("f4")))
