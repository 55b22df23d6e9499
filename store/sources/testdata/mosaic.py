# Writes tiles, and mosaics of them as GDAL reads them: for every x.vrt and x.list (a line for each GeoTIFF file) there is x.bin, what rasterio sees.
import sys, numpy as np, rasterio
from rasterio.merge import merge
from rasterio.transform import from_origin
from rasterio.windows import Window

out = sys.argv[1]
rng = np.random.default_rng(7)
GDAL = {"uint8": "Byte", "uint16": "UInt16", "int16": "Int16", "float32": "Float32"}

def tile(name, dtype, bands, x, y, w, h, **how):
    a = rng.integers(0, 5, (bands, h, w)).astype(dtype)
    if dtype == "float32":
        a[rng.random(a.shape) < 0.1] = np.nan
    with rasterio.open(f"{out}/{name}", "w", driver="GTiff", width=w, height=h, count=bands, dtype=dtype,
                       transform=from_origin(1000 + x * 0.3, 2000 - y * 0.3, 0.3, 0.3), **how) as f:
        f.write(a)
    return name, x, y, w, h

def save(name):
    with rasterio.open(f"{out}/{name}.vrt") as f:
        a = f.read()
    np.ascontiguousarray(a[0] if len(a) == 1 else np.moveaxis(a, 0, -1)).tofile(f"{out}/{name}.bin")

n = 0
for dtype, bands, fill, skip in (("uint8", 1, None, None), ("uint8", 3, "7", "3"), ("uint16", 2, None, "0"), ("int16", 1, "-9", "2"), ("float32", 1, "nan", "nan"), ("float32", 2, "-1.5", "4")):
    tiles = []
    for k, (x, y) in enumerate(((0, 0), (90, 10), (3, 70), (120, 75))):
        how = [{}, {"tiled": True, "blockxsize": 32, "blockysize": 16}, {"compress": "deflate", "interleave": "band"}, {"compress": "lzw", "blockysize": 7, "BIGTIFF": "YES"}][k]
        tiles.append(tile(f"{n}-{k}.tif", dtype, bands, x, y, 100 - k, 80 + k, **how))
    for crop in (0, 5):
        for order in (False, True): # bands as they are, or the other way round
            text = '<VRTDataset rasterXSize="225" rasterYSize="160">\n<GeoTransform>0, 1, 0, 0, 0, -1</GeoTransform>\n'
            for b in range(bands):
                text += f'<VRTRasterBand dataType="{GDAL[dtype]}" band="{b + 1}"><ColorInterp>Gray</ColorInterp>\n'
                if fill:
                    text += f"<NoDataValue>{fill}</NoDataValue>\n"
                for k, (name, x, y, w, h) in enumerate(tiles):
                    kind = "ComplexSource" if skip and k > 0 else "SimpleSource"
                    text += f'<{kind}><SourceFilename relativeToVRT="1">{name}</SourceFilename><SourceBand>{bands - b if order else b + 1}</SourceBand>'
                    text += f'<SourceProperties RasterXSize="{w}" RasterYSize="{h}" DataType="{GDAL[dtype]}" BlockXSize="1" BlockYSize="1"/>'
                    if crop or k:  # the first lies at the origin
                        text += f'<SrcRect xOff="{crop}" yOff="0.0" xSize="{w - 2 * crop}" ySize="{h}"/><DstRect xOff="{x + crop}" yOff="{y}" xSize="{w - 2 * crop}" ySize="{h}"/>'
                    if kind == "ComplexSource":
                        text += f"<NODATA>{skip}</NODATA>"
                    text += f"</{kind}>\n"
                text += "</VRTRasterBand>\n"
            name = f"{n}-{crop}-{int(order)}"
            open(f"{out}/{name}.vrt", "w").write(text + "</VRTDataset>\n")
            save(name)
    if dtype != "float32": # which has NaN where tiles overlap
        files = [f"{out}/{t[0]}" for t in tiles]
        a, _ = merge(files, method="last", nodata=0)
        np.ascontiguousarray(a[0] if len(a) == 1 else np.moveaxis(a, 0, -1)).tofile(f"{out}/{n}.bin")
        open(f"{out}/{n}.list", "w").write("\n".join(files))
    n += 1
# Some bands of many.
tile("many.tif", "uint8", 4, 0, 0, 50, 40)
open(f"{out}/some.vrt", "w").write('<VRTDataset rasterXSize="60" rasterYSize="40">' + "".join(
    f'<VRTRasterBand dataType="Byte" band="{b}"><SimpleSource><SourceFilename relativeToVRT="1">many.tif</SourceFilename><SourceBand>{b}</SourceBand>'
    '<SrcRect xOff="0" yOff="0" xSize="50" ySize="40"/><DstRect xOff="0" yOff="0" xSize="50" ySize="40"/></SimpleSource></VRTRasterBand>' for b in (1, 2, 3)) + "</VRTDataset>")
save("some")
# One of others.
open(f"{out}/of.vrt", "w").write(f'<VRTDataset rasterXSize="450" rasterYSize="160"><VRTRasterBand dataType="Byte" band="1">' + "".join(
    f'<SimpleSource><SourceFilename relativeToVRT="1">0-0-0.vrt</SourceFilename><SrcRect xOff="0" yOff="0" xSize="225" ySize="160"/><DstRect xOff="{x}" yOff="0" xSize="225" ySize="160"/></SimpleSource>' for x in (0, 225)) + "</VRTRasterBand></VRTDataset>")
save("of")
