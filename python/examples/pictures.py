"""Draws the pictures of docs/: python python/examples/pictures.py docs/images

Needs Pillow. All images are made here.
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import boxsum

INK, PAPER, ORANGE = (16, 16, 24), (250, 250, 247), (232, 119, 34)
TEXT = (
    "The sum of any box of pixels is four reads of a",
    "table, however large the box. So is its mean, and",
    "with a second table its standard deviation. What",
    "is dark for its surroundings is ink; what is dark",
    "for the page as a whole may only be the shadow of",
    "the hand that holds the camera.",
)


def page():
    """A page of text under a lamp, photographed badly: uint8, (360, 620)."""
    paper = Image.new("L", (620, 360), 235)
    draw = ImageDraw.Draw(paper)
    for i, line in enumerate(TEXT):
        draw.text((28, 34 + 50 * i), line, fill=40, font=ImageFont.load_default(24))
    y, x = np.mgrid[:360, :620]
    light = 0.28 + 0.85 * np.exp(-((x - 130) ** 2 + (y - 90) ** 2) / 90000)
    noise = np.random.default_rng(5).normal(0, 5, (360, 620))
    return (np.asarray(paper) * light + noise).clip(0, 255).astype(np.uint8)


def around(shape, radius):
    """The box around every pixel: (H, W, 4)."""
    y, x = np.mgrid[: shape[0], : shape[1]]
    return np.stack([x - radius, y - radius, x + radius + 1, y + radius + 1], -1)


def local_threshold(image, radius=15, k=0.2):
    """Sauvola's: ink is what is darker than mean * (1 + k * (std / 128 - 1))."""
    table, squares = boxsum.integral(image, squares=True)
    boxes = around(image.shape, radius)
    mean, std = boxsum.box_mean(table, boxes), boxsum.box_std(table, squares, boxes)
    return np.where(image < mean * (1 + k * (std / 128 - 1)), 0, 255).astype(np.uint8)


def shapes():
    """Bright leaves on dark ground, and boxes around them."""
    y, x = np.mgrid[:360, :620].astype(float)
    rng = np.random.default_rng(8)
    image = rng.normal(14, 4, (360, 620))
    boxes = []
    for cx, cy, long, short, angle in [(110, 100, 80, 26, 25), (300, 110, 60, 44, -40), (500, 110, 92, 20, -62), (130, 262, 66, 30, 80), (330, 255, 95, 30, -12), (520, 265, 50, 46, 45)]:
        a = np.radians(angle)
        u, v = (x - cx) * np.cos(a) + (y - cy) * np.sin(a), -(x - cx) * np.sin(a) + (y - cy) * np.cos(a)
        leaf = np.clip(1.5 * (1 - (u / long) ** 2 - (v / short) ** 2), 0, 1)
        image += leaf * (170 + 40 * np.sin(u / 7))
        inside = np.argwhere(leaf > 0)
        (y0, x0), (y1, x1) = inside.min(0) - 4, inside.max(0) + 5
        boxes.append([max(x0, 0), max(y0, 0), x1, y1])
    return np.where(image < 40, 0, image).clip(0, 255).astype(np.uint8), np.array(boxes)


def color(values):
    """Numbers from 0 to 1 as dark violet to yellow."""
    stops = np.array([(24, 15, 61), (114, 31, 129), (222, 73, 104), (254, 159, 109), (252, 253, 191)], float)
    at = np.clip(values, 0, 1) * (len(stops) - 1)
    low = np.minimum(at.astype(int), len(stops) - 2)
    mix = (at - low)[..., None]
    return (stops[low] * (1 - mix) + stops[low + 1] * mix).astype(np.uint8)


def panels(*parts):
    """Images with a line under each, side by side."""
    gap, foot = 16, 34
    width = sum(p.width for p, _ in parts) + gap * (len(parts) - 1)
    canvas = Image.new("RGB", (width, parts[0][0].height + foot), PAPER)
    draw = ImageDraw.Draw(canvas)
    x = 0
    for picture, line in parts:
        canvas.paste(picture, (x, 0))
        draw.text((x, picture.height + 8), line, fill=INK, font=ImageFont.load_default(17))
        x += picture.width + gap
    return canvas


def shown(array, size=(465, 270)):
    return Image.fromarray(array).convert("RGB").resize(size, Image.LANCZOS)


def draw_threshold(path):
    image = page()
    flat = np.where(image < 110, 0, 255).astype(np.uint8)
    panels((shown(image), "a page under a lamp"), (shown(flat), "one threshold for the page"), (shown(local_threshold(image)), "Sauvola's threshold")).quantize(64).save(path, optimize=True)


def draw_texture(path):
    y, x = np.mgrid[:360, :620]
    rng = np.random.default_rng(2)
    image = 120 + 60 * np.sin(x / 3.1) * (x < 210) + rng.normal(0, 28, (360, 620)) * ((x >= 210) & (x < 410)) + 40 * np.sin((x + y) / 40) * (x >= 410)
    image = (image + rng.normal(0, 3, image.shape)).clip(0, 255).astype(np.uint8)
    table, squares = boxsum.integral(image, squares=True)
    parts = [(shown(image), "stripes, noise and a slow wave")]
    for radius in (3, 16):
        std = boxsum.box_std(table, squares, around(image.shape, radius))
        parts.append((shown(color(std / 48)), f"box_std, {2 * radius + 1}×{2 * radius + 1} pixels"))
    panels(*parts).quantize(128).save(path, optimize=True)


def draw_moments(path):
    image, boxes = shapes()
    table = boxsum.moments(image)
    scale = 2
    picture = Image.fromarray(image).convert("RGB").resize((620 * scale, 360 * scale), Image.LANCZOS)
    draw = ImageDraw.Draw(picture)
    for box, (cx, cy), (major, minor, angle) in zip(boxes, table.centroid(boxes), table.ellipse(boxes)):
        draw.rectangle([scale * int(v) for v in box], outline=(110, 120, 140), width=2)
        t = np.linspace(0, 2 * np.pi, 200)
        x = box[0] + cx + 0.5 + major * np.cos(t) * np.cos(angle) - minor * np.sin(t) * np.sin(angle)
        y = box[1] + cy + 0.5 + major * np.cos(t) * np.sin(angle) + minor * np.sin(t) * np.cos(angle)
        draw.line([(scale * a, scale * b) for a, b in zip(x, y)], fill=ORANGE, width=4)
        tip = (box[0] + cx + major * np.cos(angle), box[1] + cy + major * np.sin(angle))
        draw.line([(scale * (box[0] + cx), scale * (box[1] + cy)), (scale * tip[0], scale * tip[1])], fill=ORANGE, width=3)
    picture.resize((930, 540), Image.LANCZOS).save(path, optimize=True)


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
    draw_threshold(folder / "python-threshold.png")
    draw_texture(folder / "python-texture.png")
    draw_moments(folder / "python-moments.png")


if __name__ == "__main__":
    main()
