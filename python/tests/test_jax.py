"""boxsum.jax on a processor: against NumPy, with gradients, compiled and mapped."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import boxsum  # noqa: E402
import boxsum.jax as bj  # noqa: E402


@pytest.fixture(autouse=True, params=[False, True], ids=["x32", "x64"])
def wide(request):
    jax.config.update("jax_enable_x64", request.param)
    yield request.param
    jax.config.update("jax_enable_x64", False)


def some(*shape, dtype=np.float32, seed=22):
    r = np.random.default_rng(seed)
    return jnp.asarray(r.integers(0, 200, shape).astype(dtype) if np.issubdtype(dtype, np.integer) or dtype == bool else r.standard_normal(shape).astype(dtype))


def table_of(x, dtype=np.float64):
    x = np.asarray(x).astype(dtype)
    return np.pad(x.cumsum(-1).cumsum(-2), [(0, 0)] * (x.ndim - 2) + [(1, 0), (1, 0)])


SHAPES = [(5, 7), (2, 3, 33, 20)]
FLOATS = [(1, 1), (3, 4, 40), (2, 1, 1, 3, 200, 9), (2, 0, 3), (0, 4, 4)]
TYPES = [np.uint8, bool, np.int8, np.int16, np.uint16, np.int32, np.float16, jnp.bfloat16, np.float32, np.float64]


@pytest.mark.parametrize(("shape", "dtype"), [(s, t) for s in SHAPES for t in TYPES] + [(s, np.float32) for s in FLOATS])
def test_integral(shape, dtype, wide):
    x = some(*shape, dtype=dtype)
    if x.dtype not in (np.uint8, bool, np.float16, jnp.bfloat16, np.float32) and not wide:
        with pytest.raises(TypeError, match="jax_enable_x64"):
            bj.integral(x)
        return
    for made in (bj.integral(x), jax.jit(bj.integral)(x)):
        kind = np.asarray(x).dtype.kind
        assert made.dtype == (np.float64 if x.dtype == np.float64 else np.float32 if kind in "fV" else np.int32 if x.dtype in (np.uint8, bool) else np.int64)
        np.testing.assert_allclose(made, table_of(x), rtol=1e-5, atol=1e-3)
    if wide:
        np.testing.assert_allclose(bj.integral(x, dtype=np.float64), table_of(x), rtol=1e-12, atol=1e-9)


def test_foreign():
    """A compiled program calls the library, once, and a mapped one too."""
    x = some(3, 8, 9)
    for f in (bj.integral, jax.vmap(bj.integral), jax.vmap(bj.integral, 2)):
        text = jax.jit(f).lower(x).as_text()
        assert text.count("custom_call @boxsum_integral") == 1
        assert "copy" not in jax.jit(bj.integral).lower(x).compile().as_text()
    step = jax.jit(jax.grad(lambda x: (bj.integral(x) ** 2).sum())).lower(x).as_text()
    assert step.count("@boxsum_integral") == 1 and step.count("@boxsum_suffix") == 1


def test_gradients(wide):
    order = 2
    x, table, boxes = some(2, 5, 6), bj.integral(some(2, 5, 6)), jnp.asarray([[0.3, 0.6, 4.2, 3.9], [1.25, 1.5, 2.5, 4.75]])
    if wide:
        x, table = x.astype(np.float64), table.astype(np.float64)
    close = {"atol": 1e-6, "rtol": 1e-6} if wide else {"atol": 0.03, "rtol": 0.03}
    modes = ["fwd", "rev"]
    check_grads(lambda x: bj.integral(x) ** 2 / 50, (x,), order, modes, **close)
    check_grads(lambda t, b: bj.box_sum(t, b), (table, boxes.astype(table.dtype)), 1, modes, **close)
    for border in ("clip", "constant"):
        check_grads(lambda x: bj.box_filter(x, (3, 4), border=border) ** 2, (x,), order, modes, **close)  # noqa: B023
    assert jax.grad(lambda x: bj.integral(x).sum())(x.astype(jnp.bfloat16)).dtype == jnp.bfloat16


def test_mapped():
    x = some(4, 3, 6, 7)
    np.testing.assert_array_equal(jax.vmap(bj.integral)(x), bj.integral(x))
    np.testing.assert_array_equal(jax.vmap(jax.vmap(bj.integral), 1, 1)(x), bj.integral(x))
    each = jax.jit(jax.vmap(jax.grad(lambda x: (bj.box_filter(x, 3) ** 2).sum())))(x)
    np.testing.assert_allclose(each, jax.grad(lambda x: (bj.box_filter(x, 3) ** 2).sum())(x), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(jax.lax.map(bj.integral, x), bj.integral(x))


def test_boxes():
    x = some(3, 2, 20, 30)
    table, r = bj.integral(x), np.random.default_rng(1)
    low = r.integers(0, 20, (3, 5, 2))
    boxes = np.concatenate([low, low + r.integers(0, 12, (3, 5, 2))], -1)
    want = np.array([[[float(np.asarray(x)[n, c, y0:y1, x0:x1].sum()) for x0, y0, x1, y1 in boxes[n]] for c in range(2)] for n in range(3)])
    np.testing.assert_allclose(bj.box_sum(table, boxes), want, atol=1e-3)
    np.testing.assert_allclose(jax.jit(bj.box_sum)(table, boxes.astype(np.float32)), want, atol=1e-3)
    np.testing.assert_allclose(bj.box_sum(table, boxes[0]), bj.box_sum(table, np.stack([boxes[0]] * 3)))
    areas = (np.clip(boxes[..., 2], 0, 30) - boxes[..., 0]) * (np.clip(boxes[..., 3], 0, 20) - boxes[..., 1])
    np.testing.assert_allclose(bj.box_mean(table, boxes), want / np.maximum(areas, 1)[:, None], atol=1e-4)
    assert bj.box_sum(table, jnp.asarray([0, 0, 30, 20])).shape == (3, 2)
    half = bj.box_sum(table, jnp.asarray([[0.5, 0, 1.5, 1.0]]))
    np.testing.assert_allclose(half[..., 0], (x[..., 0, 0] + x[..., 0, 1]) / 2, atol=1e-5)


@pytest.mark.parametrize("window", [1, 3, (4, 2), (31, 5), 100])
@pytest.mark.parametrize("border", ["clip", "constant"])
@pytest.mark.parametrize("mean", [True, False])
def test_filter(window, border, mean):
    x = np.asarray(some(2, 13, 17))
    across, down = (window, window) if isinstance(window, int) else window
    want = np.zeros(x.shape)
    for i in range(13):
        for j in range(17):
            part = x[:, max(i - down // 2, 0) : max(i - down // 2 + down, 0), max(j - across // 2, 0) : max(j - across // 2 + across, 0)].astype(float)
            want[:, i, j] = part.sum((1, 2)) / (1 if not mean else part[0].size if border == "clip" else across * down)
    for dtype, close in ((np.float32, 1e-4), (np.float16, 3e-1 if not mean else 3e-3)):
        made = jax.jit(lambda x: bj.box_filter(x, window, border=border, mean=mean))(x.astype(dtype))
        assert made.dtype == dtype
        np.testing.assert_allclose(made, want, atol=close, rtol=close)


def test_own(wide):
    """What other devices do is the same."""
    x = some(2, 3, 9, 12)
    table = np.dtype(np.float32)
    for op, numbers in (("integral", (table,)), ("suffix", ()), ("window", (3, 4, 1, 2, 9, 12, 0.5)), ("window", (30, 40, 2, 39, 20, 5, 1.0)), ("window", (2, 3, -1, 0, 4, 5, 1.0))):
        one, other = (jax.jit(f, static_argnames=("op", "numbers"))(x, op=op, numbers=numbers) for f in (bj._foreign, bj._own))
        assert one.shape == other.shape and one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_mistakes():
    x = some(3, 4)
    for call, error, text in (
        (lambda: bj.integral(x[0]), ValueError, r"\(..., H, W\)"),
        (lambda: bj.integral(x + 1j), TypeError, "must be integers of 8 to 64 bits"),
        (lambda: bj.integral(x.astype(jnp.float8_e4m3fn)), TypeError, "8 to 64 bits"),
        (lambda: jax.jit(bj.box_filter, static_argnums=1)(x.astype(jnp.int4), 3), TypeError, "8 to 64 bits"),
        (lambda: bj.box_sum(x, [[1j, 2, 3, 4]]), TypeError, "integers or floats"),
        (lambda: bj.box_sum(x, [[True, False, True, True]]), TypeError, "integers or floats"),
        (lambda: bj.integral(x, dtype=np.int32), TypeError, "no sums of int32"),
        (lambda: bj.box_sum(x, [1, 2, 3]), ValueError, "x0, y0, x1, y1"),
        (lambda: bj.box_sum(x, np.zeros((2, 5, 4))), ValueError, "leading axes"),
        (lambda: bj.box_filter(x, 0), ValueError, "at least 1"),
        (lambda: bj.box_filter(x, 1.5), TypeError, "integers"),
        (lambda: bj.box_filter(x, 3, border="wrap"), ValueError, "'clip' or 'constant'"),
        (lambda: bj.box_filter(x.astype(np.int32), 3), TypeError, "floats"),
        (lambda: jax.jit(lambda x: bj.integral(x[0]))(x), ValueError, r"\(..., H, W\)"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_refused():
    """What the library refuses is an error of the program, not of the process."""
    call = jax.ffi.ffi_call("boxsum_integral", jax.ShapeDtypeStruct((3, 4), np.float32))
    with pytest.raises(Exception, match="one more along each axis"):
        jax.block_until_ready(jax.jit(call)(some(3, 4)))
    call = jax.ffi.ffi_call("boxsum_suffix", jax.ShapeDtypeStruct((4,), np.float32))
    with pytest.raises(Exception, match="H, W"):
        jax.block_until_ready(jax.jit(call)(some(4)))


def test_means_that_are_hard_to_tell():
    """Sums that wrap, and corners of NaN."""
    white = jnp.full((3000, 3000), 255, jnp.uint8)
    table = bj.integral(white, dtype=jnp.int32)
    np.testing.assert_allclose(bj.box_mean(table, jnp.array([[0, 0, 3000, 3000], [5, 5, 2999, 2990], [7, 7, 3, 3]])), [255, 255, 0], rtol=1e-6)
    with pytest.raises(ValueError, match="boxes must be integers for tables of int32"):
        bj.box_mean(table, jnp.array([[0.5, 0, 3, 3]]))
    small = bj.integral(jnp.ones((5, 6), jnp.float32))
    got = bj.box_mean(small, jnp.array([[jnp.nan, 0, 3, 3], [0, 0, 3, 3]]))
    assert np.isnan(got).tolist() == [True, False]


@pytest.mark.parametrize("dtype", [np.uint32, np.int64, np.uint64, None])
def test_corners_far_outside(dtype):
    """Corners that 32 bits do not hold are clipped, and not taken for others."""
    x = some(2, 5, 6)
    table, far = bj.integral(x), (1 << 32) - 1 if dtype == np.uint32 else 1 << 40
    boxes = [[0, 0, far, far], [1, 2, far, 4]]
    boxes = boxes if dtype is None else np.array(boxes, dtype)
    want = bj.box_sum(table, [[0, 0, 6, 5], [1, 2, 6, 4]])
    np.testing.assert_array_equal(bj.box_sum(table, boxes), want)
    np.testing.assert_array_equal(bj.box_mean(table, boxes), bj.box_mean(table, [[0, 0, 6, 5], [1, 2, 6, 4]]))
    if dtype == np.uint32:
        np.testing.assert_array_equal(jax.jit(bj.box_sum)(table, jnp.asarray(boxes)), want)


def test_lists_inside_of_programs():
    table = bj.integral(some(5, 6))
    got = jax.jit(lambda w, h: bj.box_sum(table, [[0, 0, w, h]]))(4, 3)
    np.testing.assert_allclose(got, table[3, 4], rtol=1e-6)


def test_many_axes():
    x = some(*(1,) * 18, 3, 4)
    np.testing.assert_allclose(bj.integral(x).reshape(4, 5), bj.integral(x.reshape(3, 4)), rtol=1e-6)


def test_devices_that_share_a_batch():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("b",))
    if not hasattr(jax, "shard_map"):
        pytest.skip("this JAX is older than jax.shard_map")
    x, spec = some(2, 5, 6), jax.sharding.PartitionSpec("b")
    f = jax.shard_map(bj.integral, mesh=mesh, in_specs=spec, out_specs=spec)
    np.testing.assert_allclose(jax.grad(lambda x: (f(x) ** 2).sum())(x), jax.grad(lambda x: (bj.integral(x) ** 2).sum())(x), rtol=1e-5)


def test_old_versions_are_told(monkeypatch):
    import importlib.util

    monkeypatch.setattr(jax, "__version_info__", (0, 4, 30))
    spec = importlib.util.find_spec("boxsum.jax")
    with pytest.raises(ImportError, match="JAX 0.5 or newer"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


@pytest.mark.parametrize("seed", range(6))
def test_similarity(seed, wide):
    """Values as in NumPy, and gradients as differences."""
    rng = np.random.default_rng(seed)
    dtype = np.float64 if wide else np.float32
    shape, window = tuple(int(n) for n in rng.integers(11, 30, 2)), int(rng.choice([3, 5, 7, 9]))
    offset = float(rng.choice([0, 10]))
    x, y = (jnp.asarray(offset + rng.random((2, *shape)), dtype) for _ in range(2))
    score = jax.jit(lambda x, y: bj.ssim(x, y, data_range=1, window=window))
    match = jax.jit(lambda x, y: bj.lncc(x, y, window=window))
    for k in range(2):
        a, b = np.asarray(x[k]), np.asarray(y[k])
        np.testing.assert_allclose(score(x, y)[k], boxsum.ssim(a, b, data_range=1, window=window), atol=1e-10 if wide else 1e-4)
        np.testing.assert_allclose(match(x, y)[k], boxsum.lncc(a, b, window=window), atol=1e-10 if wide else 1e-4)
    if wide:
        check_grads(lambda x, y: score(x, y).sum(), (x, y), order=1, atol=1e-5, rtol=1e-5)
        check_grads(lambda x, y: match(x, y).sum(), (x, y), order=1, atol=1e-5, rtol=1e-5)


def test_similarity_gradient():
    """The gradient of the mean over all windows, by the formula of Avanaki."""
    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(1)
    x, y = rng.random((24, 30)), rng.random((24, 30))
    made = np.asarray(jax.grad(lambda y: bj.ssim(jnp.asarray(x), y, data_range=1))(jnp.asarray(y)))
    n, edge = 49, 3
    c, c1, c2 = n / (n - 1), 0.01**2, 0.03**2

    def mean(v):
        return np.lib.stride_tricks.sliding_window_view(v, (7, 7)).mean((-2, -1))

    def spread(v):
        wide = np.pad(v, 2 * edge)
        return np.lib.stride_tricks.sliding_window_view(wide, (7, 7)).mean((-2, -1))

    ux, uy = mean(x), mean(y)
    a1, a2 = 2 * ux * uy + c1, 2 * c * (mean(x * y) - ux * uy) + c2
    b1, b2 = ux**2 + uy**2 + c1, c * (mean(x * x) - ux**2 + mean(y * y) - uy**2) + c2
    d, s = b1 * b2, a1 * a2 / (b1 * b2)
    want = 2 / ux.size * (c * spread(a1 / d) * x - c * spread(s / b2) * y + spread((ux * (a2 - c * a1) - uy * (b2 - c * b1) * s) / d))
    np.testing.assert_allclose(made, want, atol=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: bj.ssim(x, x[:-1], data_range=1),
        lambda x: bj.ssim(x, x, data_range=1, window=4),
        lambda x: bj.ssim(x, x, data_range=1, window=99),
        lambda x: bj.ssim(x, x, data_range=0),
        lambda x: bj.lncc(x, x, window=0),
    ],
)
def test_similarity_refused(call):
    with pytest.raises(ValueError):
        call(some(12, 14))
