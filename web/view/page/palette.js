// The colors of heat maps: lightness rises evenly from dark blue through violet and red to straw,
// like boxsum's own heat maps.
const stops = [[0.14, 0.04, 275], [0.29, 0.11, 285], [0.44, 0.155, 325], [0.58, 0.17, 378], [0.71, 0.15, 415], [0.84, 0.135, 445], [0.97, 0.06, 465]];
let colors;

export function palette() {
  if (colors) return colors;
  colors = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (stops.length - 1), k = Math.min(Math.floor(at), stops.length - 2), f = at - k;
    const [l, c, h] = stops[k].map((v, j) => v * (1 - f) + stops[k + 1][j] * f);
    const [r, g, b] = oklab(l, c * Math.cos((h * Math.PI) / 180), c * Math.sin((h * Math.PI) / 180));
    colors[i] = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  }
  return colors;
}

export function css(i) {
  const v = palette()[i];
  return `rgb(${v & 255} ${(v >> 8) & 255} ${(v >> 16) & 255})`;
}

function oklab(lightness, a, b) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3, m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3, s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const gamma = (v) => {
    v = Math.min(Math.max(v, 0), 1);
    return Math.round(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055));
  };
  return [gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s), gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s), gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s)];
}
