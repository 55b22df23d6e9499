"""Writes arrays with zarr-python and TensorStore beside their elements, or reads those of package store.

peers.py write DIR: arrays DIR/NAME, and DIR/NAME.bin with their elements
peers.py read DIR: compares every DIR/NAME.bin with DIR/NAME, as both libraries read it
"""
import json, os, sys, warnings
import numpy as np, zarr, tensorstore as ts
warnings.filterwarnings("ignore")
where = sys.argv[2]
TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()

def numbers(dtype, shape, seed=1):
    rng = np.random.default_rng(seed)
    n = int(np.prod(shape))
    if dtype == "bool":
        return (rng.integers(0, 2, n) > 0).reshape(shape)
    if dtype.startswith("float"):
        x = (rng.standard_normal(n) * 1000).astype(dtype)
        if n > 3:
            x[1], x[2] = np.nan, -np.inf
        return x.reshape(shape)
    i = np.iinfo(dtype)
    x = rng.integers(i.min, i.max, n, dtype=dtype, endpoint=True)
    x[n // 2:] &= 3  # so that there is something to compress
    return x.reshape(shape)

def save(name, x):
    x = np.ascontiguousarray(x)
    x.astype(x.dtype.newbyteorder("=")).tofile(f"{where}/{name}.bin")

def write():
    from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec, Crc32cCodec, TransposeCodec, BytesCodec, ShardingCodec
    for t in TYPES:
        x = numbers(t, (37, 29))
        z = zarr.create_array(f"{where}/v3-{t}", shape=x.shape, chunks=(16, 10), dtype=t, compressors=ZstdCodec(level=3), zarr_format=3)
        z[:] = x
        save(f"v3-{t}", x)
        z = zarr.create_array(f"{where}/v2-{t}", shape=x.shape, chunks=(16, 10), dtype=t, zarr_format=2)
        z[:] = x
        save(f"v2-{t}", x)
    x = numbers("uint16", (50, 60, 3))
    for name, c in {"none": None, "gzip": GzipCodec(level=5), "crc": [ZstdCodec(), Crc32cCodec()], "zstdsum": ZstdCodec(level=9, checksum=True)}.items():
        z = zarr.create_array(f"{where}/c-{name}", shape=x.shape, chunks=(20, 30, 2), dtype=x.dtype, compressors=c)
        z[:] = x
        save(f"c-{name}", x)
    for t in ("uint8", "uint16", "float64"):
        big = numbers(t, (200, 300))
        for cname in ("lz4", "lz4hc", "blosclz", "zstd", "zlib"):
            for shuffle in ("noshuffle", "shuffle", "bitshuffle"):
                for typesize in {np.dtype(t).itemsize, 3}:
                    name = f"blosc-{t}-{cname}-{shuffle}-{typesize}"
                    z = zarr.create_array(f"{where}/{name}", shape=big.shape, chunks=(130, 300), dtype=t, compressors=BloscCodec(typesize=typesize, cname=cname, clevel=5, shuffle=shuffle, blocksize=8192 if typesize == 3 else 0))
                    z[:] = big
                    save(name, big)
    for k, order in enumerate([(2, 1, 0), (1, 2, 0), (0, 2, 1)]):
        z = zarr.create_array(f"{where}/t-{k}", shape=x.shape, chunks=(20, 30, 2), dtype=x.dtype, filters=TransposeCodec(order=order), serializer=BytesCodec(endian="big"), compressors=ZstdCodec())
        z[:] = x
        save(f"t-{k}", x)
    for loc in ("start", "end"):
        z = zarr.create_array(f"{where}/s-{loc}", shape=x.shape, chunks=(20, 30, 3), dtype=x.dtype, fill_value=7, serializer=ShardingCodec(
            chunk_shape=(5, 10, 3), codecs=[TransposeCodec(order=(1, 0, 2)), BytesCodec(endian="big"), ZstdCodec()], index_location=loc), compressors=None)
        y = x.copy()
        y[10:] = 7
        z[:10] = x[:10]
        save(f"s-{loc}", y)
    # An absent chunk, and one shard that is gone.
    for t, fill in {"float32": np.nan, "float64": np.inf, "int16": -5, "uint64": 2**64 - 1, "bool": True, "float16": 0.5}.items():
        z = zarr.create_array(f"{where}/f-{t}", shape=(9, 9), chunks=(4, 4), dtype=t, fill_value=fill)
        z[:4, :4] = 1
        save(f"f-{t}", z[:])
    z = zarr.create_array(f"{where}/v2-zlib", shape=x.shape, chunks=(20, 30, 2), dtype=">u2", zarr_format=2, order="F", compressors=__import__("numcodecs").Zlib(3), fill_value=3)
    z[:30] = x[:30]
    y = x.copy(); y[40:] = 3; y[30:40] = 3
    save("v2-zlib", y)
    z = zarr.create_array(f"{where}/v2-lz4", shape=x.shape, chunks=(20, 30, 2), dtype="<u2", zarr_format=2, compressors=__import__("numcodecs").LZ4())
    z[:] = x
    save("v2-lz4", x)
    z = zarr.create_array(f"{where}/v2-dots", shape=x.shape, chunks=(20, 30, 2), dtype="<u2", zarr_format=2, compressors=__import__("numcodecs").GZip(), chunk_key_encoding={"name": "v2", "separator": "/"})
    z[:] = x
    save("v2-dots", x)
    z = zarr.create_array(f"{where}/scalar", shape=(), chunks=(), dtype="int32")
    z[...] = -77
    save("scalar", z[...])
    z = zarr.create_array(f"{where}/empty", shape=(0, 5), chunks=(4, 4), dtype="int32")
    save("empty", z[:])
    # TensorStore.
    def tensor(name, codecs, shard=None, **more):
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{where}/{name}"}, "create": True,
                "metadata": {"shape": list(x.shape), "data_type": "uint16", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [20, 30, 3]}}, "codecs": codecs, **more}}
        ts.open(spec).result().write(x).result()
        save(name, x)
    tensor("ts-raw", [{"name": "bytes", "configuration": {"endian": "little"}}])
    tensor("ts-blosc", [{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "bitshuffle", "typesize": 2, "blocksize": 0}}])
    tensor("ts-shard", [{"name": "sharding_indexed", "configuration": {"chunk_shape": [10, 10, 3], "codecs": [{"name": "transpose", "configuration": {"order": [2, 0, 1]}}, {"name": "bytes", "configuration": {"endian": "little"}}, {"name": "gzip", "configuration": {"level": 4}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}], "index_location": "start"}}], chunk_key_encoding={"name": "default", "configuration": {"separator": "."}})
    tensor("ts-nested", [{"name": "sharding_indexed", "configuration": {"chunk_shape": [10, 30, 3], "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [5, 10, 3], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "index_location": "end"}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}], "index_location": "end"}}])
    tensor("ts-turned", [{"name": "transpose", "configuration": {"order": [2, 1, 0]}}, {"name": "sharding_indexed", "configuration": {"chunk_shape": [3, 10, 10], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}], "index_location": "end"}}])
    # Groups: an OME-Zarr image of version 0.5 and 0.4, with consolidated metadata and without.
    for version in (3, 2):
        for together in (True, False):
            name = f"ome{version}{'c' if together else ''}"
            g = zarr.open_group(f"{where}/{name}.group", mode="w", zarr_format=version)
            for k in range(2):
                y = x[::1 + k, ::1 + k, 0]
                a = g.create_array(str(k), shape=y.shape, chunks=(16, 16), dtype=y.dtype)
                a[:] = y
            scales = [{"version": "0.4", "axes": [{"name": "y", "type": "space"}, {"name": "x", "type": "space"}],
                       "datasets": [{"path": str(k), "coordinateTransformations": [{"type": "scale", "scale": [1.5 + 1.5 * k] * 2}]} for k in range(2)]}]
            if version == 3:
                g.attrs["ome"] = {"version": "0.5", "multiscales": scales}
            else:
                g.attrs["multiscales"] = scales
            if together:
                zarr.consolidate_metadata(f"{where}/{name}.group")
            save(name, x[:, :, 0])
    with zarr.storage.ZipStore(f"{where}/zipped.zip", mode="w") as s:
        z = zarr.create_array(s, shape=x.shape, chunks=(20, 30, 2), dtype=x.dtype)
        z[:] = x
    save("zipped", x)

def read():
    n = 0
    for file in sorted(os.listdir(where)):
        if not file.endswith(".bin"):
            continue
        name = file[:-4]
        raw = open(f"{where}/{file}", "rb").read()
        if os.path.exists(f"{where}/{name}.zip"):
            store = zarr.storage.ZipStore(f"{where}/{name}.zip", mode="r")
            z = zarr.open(store, mode="r")
        else:
            z = zarr.open(f"{where}/{name}", mode="r")
        if isinstance(z, zarr.Group):  # the arrays of a table, one after the other
            got = b"".join(np.ascontiguousarray(z[k][:]).tobytes() for k in sorted(z.array_keys()))
            assert got == raw, f"{name}: zarr-python reads other elements"
            n += 1
            continue
        got = np.asarray(z[...])
        assert got.tobytes() == raw, f"{name}: zarr-python reads other elements"
        n += 1
        if not os.path.exists(f"{where}/{name}.zip"):
            t = ts.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{where}/{name}"}}, open=True, read=True).result()
            assert np.asarray(t.read().result()).tobytes() == raw, f"{name}: TensorStore reads other elements"
            n += 1
    print(n)

{"write": write, "read": read}[sys.argv[1]]()
