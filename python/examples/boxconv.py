"""Learns where to look: python python/examples/boxconv.py boxconv.png

Each image has a bright patch in noise. At the same place from it, always, is a mark that is not to be seen; the task is to
say which pixel that is. One box convolution has four boxes for it, sixteen numbers in all, and one of them comes to lie on
the patch, to a tenth of a pixel. It takes under a minute on one core that has nothing else to do. Needs Pillow.
"""

import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image, ImageDraw, ImageFont

import boxsum.torch as bt

SIZE, PATCH, AWAY = 64, (12, 8), (14, -9)  # pixels: the image, the patch across and down, and where it lies from its mark


def images(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Noise with a patch and its mark, and where the marks are."""
    x = torch.randn(count, 1, SIZE, SIZE)
    marks = torch.zeros(count, 1, SIZE, SIZE)
    for i in range(count):
        mx, my = int(torch.randint(4, SIZE - 24, ())), int(torch.randint(18, SIZE - 4, ()))
        px, py = mx + AWAY[0] - PATCH[0] // 2, my + AWAY[1] - PATCH[1] // 2
        x[i, 0, py : py + PATCH[1], px : px + PATCH[0]] += 1.0
        marks[i, 0, my, mx] = 1
    return x, marks


class Finder(torch.nn.Module):
    """A score for every pixel, from four boxes round it."""

    def __init__(self) -> None:
        super().__init__()
        self.look = bt.BoxConv2d(1, 4, reach=24)
        self.mix = torch.nn.Conv2d(4, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 12 * self.mix(self.look(x))


def train(steps: int = 220) -> tuple[Finder, np.ndarray, list[float]]:
    torch.manual_seed(4)
    torch.set_num_threads(1)  # images are small
    net = Finder()
    first = net.look.sides().detach().numpy()[0].copy()
    optimizer = torch.optim.Adam([{"params": net.look.parameters(), "lr": 0.25}, {"params": net.mix.parameters(), "lr": 0.03}])
    losses = []
    for _ in range(steps):
        x, marks = images(16)
        loss = F.cross_entropy(net(x).flatten(1), marks.flatten(1).argmax(1))  # which pixel is the mark
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return net, first, losses


def picture(net: Finder, first: np.ndarray, losses: list[float]) -> Image.Image:
    """An image with its score, the boxes before and after, and the loss."""
    scale, gap = 5, 24
    side = SIZE * scale
    torch.manual_seed(9)
    x, marks = images(1)
    with torch.no_grad():
        score = net(x).flatten(1).softmax(1).reshape(SIZE, SIZE).numpy()
    page = Image.new("RGB", (4 * side + 5 * gap, side + 2 * gap + 12), (250, 250, 247))
    draw, font = ImageDraw.Draw(page), ImageFont.load_default(15)
    colors = [(200, 60, 50), (40, 110, 190), (230, 150, 30), (60, 150, 90)]
    gray = ((x[0, 0].numpy() + 3) / 7).clip(0, 1) * 255
    heat = (score / score.max()) ** 0.5 * 255
    my, mx = divmod(int(marks[0, 0].argmax()), SIZE)
    for k, (name, pixels) in enumerate([("a patch in noise; its mark in red", gray), ("what the network says", heat)]):
        left = gap + k * (side + gap)
        page.paste(Image.fromarray(pixels.astype(np.uint8)).resize((side, side), 0), (left, gap + 8))
        draw.text((left, 6), name, (16, 16, 24), font)
        draw.ellipse([left + (mx - 1) * scale, gap + 8 + (my - 1) * scale, left + (mx + 2) * scale, gap + 8 + (my + 2) * scale], outline=(220, 30, 30), width=2)
    weights = net.mix.weight.detach().flatten().numpy()
    last = net.look.sides().detach().numpy()[0]
    for k, (name, boxes) in enumerate([("boxes at first", first), ("learned, the patch dashed", last)]):
        left, top, unit = gap + (2 + k) * (side + gap), gap + 8, side / 52
        draw.rectangle([left, top, left + side, top + side], fill=(255, 255, 255), outline=(200, 200, 200))
        draw.text((left, 6), name, (16, 16, 24), font)
        middle = (left + side / 2, top + side / 2)
        draw.ellipse([middle[0] - 4, middle[1] - 4, middle[0] + 4, middle[1] + 4], fill=(220, 30, 30))
        for (x0, y0, x1, y1), color, weight in zip(boxes, colors, weights):
            width = 2 if k == 0 else 1 + int(round(5 * abs(weight) / abs(weights).max()))
            draw.rectangle([middle[0] + x0 * unit, middle[1] + y0 * unit, middle[0] + x1 * unit, middle[1] + y1 * unit], outline=color, width=width)
        if k == 1:
            corners = [AWAY[0] - PATCH[0] // 2 - 0.5, AWAY[1] - PATCH[1] // 2 - 0.5, AWAY[0] + PATCH[0] // 2 - 0.5, AWAY[1] + PATCH[1] // 2 - 0.5]
            x0, y0, x1, y1 = (middle[i % 2] + c * unit for i, c in enumerate(corners))
            for a in np.arange(0, 1, 0.1):
                for p, q in (((x0, y0), (x1, y0)), ((x0, y1), (x1, y1)), ((x0, y0), (x0, y1)), ((x1, y0), (x1, y1))):
                    draw.line([p[0] + (q[0] - p[0]) * a, p[1] + (q[1] - p[1]) * a, p[0] + (q[0] - p[0]) * (a + 0.05), p[1] + (q[1] - p[1]) * (a + 0.05)], (0, 0, 0), 2)
    draw.text((gap, side + gap + 14), f"cross-entropy {losses[0]:.2f} at first, {np.mean(losses[-20:]):.2f} in the end; chance is {np.log(SIZE * SIZE):.2f}", (16, 16, 24), font)
    return page


if __name__ == "__main__":
    start = time.time()
    net, first, losses = train()
    print(f"{time.time() - start:.0f} s, loss {losses[0]:.2f} to {np.mean(losses[-20:]):.2f}")
    for (x0, y0, x1, y1), weight in zip(net.look.sides().detach().numpy()[0], net.mix.weight.detach().flatten().numpy()):
        print(f"box {x0:6.2f} {y0:6.2f} {x1:6.2f} {y1:6.2f}  weight {weight:5.2f}")
    picture(net, first, losses).save(sys.argv[1] if len(sys.argv) > 1 else "boxconv.png")
