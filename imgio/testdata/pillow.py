"""Write pictures with metadata, and say what those of others have: for peers_test.go."""

import json
import sys
from pathlib import Path

import numpy as np
import tifffile
from PIL import Image, ImageCms, TiffImagePlugin


def write(folder):
    rng = np.random.default_rng(1)
    color = Image.fromarray(rng.integers(0, 256, (23, 37, 3), np.uint8))
    gray = color.convert("L")
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    exif = Image.Exif()
    exif[274] = 6
    color.save(f"{folder}/a.png", dpi=(300, 300), icc_profile=srgb, exif=exif)
    color.save(f"{folder}/a.jpg", dpi=(300, 200), icc_profile=srgb, exif=exif)
    color.save(f"{folder}/a.webp", lossless=True, icc_profile=srgb, exif=exif)
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    tags[274] = 6
    color.save(f"{folder}/a.tif", dpi=(300, 200), icc_profile=srgb, tiffinfo=tags, compression="tiff_lzw")
    tifffile.imwrite(f"{folder}/metric.tif", np.asarray(color), resolution=(118, 118), resolutionunit="CENTIMETER", byteorder=">")
    gray.save(f"{folder}/a.bmp", dpi=(300, 300))
    bits = Image.fromarray(rng.integers(0, 2, (50, 70), np.uint8) * 255).convert("1")
    more = [bits.resize((33, 80)), gray, color, bits]
    strips = TiffImagePlugin.ImageFileDirectory_v2()
    strips[278] = 16
    with TiffImagePlugin.AppendingTiffWriter(f"{folder}/scan.tif", True) as scan:
        for page in [bits, *more]:
            compression = "group4" if page.mode == "1" else "tiff_adobe_deflate"
            page.save(scan, format="TIFF", compression=compression, dpi=(600, 600), tiffinfo=strips)
            scan.newFrame()
    for i, page in enumerate([bits, *more]):
        np.save(f"{folder}/scan{i + 1}.npy", np.asarray(page.convert("L") if page.mode == "1" else page))
    return srgb.hex()


def read(path):
    with Image.open(path) as image:
        pages = []
        for i in range(getattr(image, "n_frames", 1)):
            image.seek(i)
            dpi = [float(v) for v in image.info.get("dpi", (0, 0))]
            orientation = image.getexif().get(274, 0)
            icc = image.info.get("icc_profile") or b""
            size = list(image.size)
            image.load()  # which turns TIFF
            pages.append([size, image.mode, dpi, orientation, icc.hex(), image.info.get("compression", "")])
        return pages


if sys.argv[1] == "write":
    print(json.dumps(write(sys.argv[2])))
else:
    found = {}
    for path in sys.argv[2:]:
        if path.endswith(".tif"):  # as others see it
            with tifffile.TiffFile(path) as tiff:
                for page in tiff.pages:
                    if page.compression != 4:  # which takes a package of its own
                        image = page.asarray()
            array = Path(path).with_suffix(".npy")
            if array.exists():
                np.testing.assert_array_equal(image, np.load(array), strict=True)
                continue
        found[path.split("/")[-1]] = read(path)
    print(json.dumps(found))
