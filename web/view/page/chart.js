// Charts as SVG, with the numbers under the pointer and in a table.
import { make, svg, number } from './dom.js';

// histogram draws counts between two values, with the median as a line.
export function histogram(h) {
  const w = 320, height = 84, most = Math.max(...h.counts, 1), pad = 14;
  const bars = [];
  const step = h.counts.length > 128 ? 2 : 1; // two bins per bar
  const n = h.counts.length / step;
  let top = 0;
  const sums = Array.from({ length: n }, (_, i) => h.counts.slice(i * step, (i + 1) * step).reduce((a, b) => a + b, 0));
  top = Math.max(...sums, 1);
  let d = '';
  sums.forEach((v, i) => {
    const x = (i / n) * w, y = height - (v / top) * (height - 4);
    if (v) d += `M${x.toFixed(2)} ${height}V${y.toFixed(2)}h${(w / n - 0.3).toFixed(2)}V${height}Z`;
  });
  bars.push(svg('path', { d, class: 'bar' }));
  if (h.median !== null && h.median !== undefined) {
    const x = ((h.median - h.low + (h.high - h.low) / 512) / (h.high - h.low)) * w;
    bars.push(svg('line', { x1: x, x2: x, y1: 0, y2: height, class: 'median' }));
  }
  bars.push(svg('text', { x: 0, y: height + pad }, number(h.low)), svg('text', { x: w, y: height + pad, 'text-anchor': 'end' }, number(h.high === 256 ? 255 : h.high)));
  return svg('svg', { class: 'chart', viewBox: `0 0 ${w} ${height + pad + 4}`, role: 'img', 'aria-label': `Histogram from ${number(h.low)} to ${number(h.high)}, the highest of ${n} bars has ${top} pixels; median ${number(h.median)}` }, ...bars);
}

const hues = ['#7b3fb5', '#c8641e', '#1f7a4d', '#2f6fc4', '#b3304a', '#8a7a12', '#177e89', '#6b6b76', '#d0459a', '#4b4fbf'];
const shapes = ['circle', 'square', 'triangle', 'diamond'];
export const colorOf = (i) => hues[i % hues.length];

function dot(shape, x, y, r, fill) {
  const d = { square: `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`, triangle: `M${x} ${y - r * 1.2}L${x + r * 1.1} ${y + r}H${x - r * 1.1}Z`, diamond: `M${x} ${y - r * 1.3}L${x + r * 1.3} ${y}L${x} ${y + r * 1.3}L${x - r * 1.3} ${y}Z` }[shape];
  return d ? svg('path', { d, fill, class: 'dot' }) : svg('circle', { cx: x, cy: y, r, fill, class: 'dot' });
}

function ticks(low, high, log) {
  if (log) {
    const all = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) for (const m of high / low > 1000 ? [1] : [1, 2, 5]) all.push(m * 10 ** e);
    return all.filter((v) => v >= low * 0.999 && v <= high * 1.001);
  }
  const step = 10 ** Math.floor(Math.log10((high - low || 1) / 3)), by = [1, 2, 5, 10].map((m) => m * step).find((s) => (high - low) / s <= 6) || step;
  const all = [];
  for (let v = Math.ceil(low / by) * by; v <= high + by * 1e-6; v += by) all.push(Number(v.toPrecision(12)));
  return all;
}

// lines returns a chart of series [{name, points: [[x, y, label]]}]. The label of the point nearest
// to the pointer, or selected with the arrow keys, is shown below.
export function lines({ series, x, y, logX, logY, title, label, height = 260, small }) {
  small ||= innerWidth < 640; // text would be too small to read
  const host = make('div', {});
  const shown = series.filter((s) => s.points.length);
  if (!shown.length) return host;
  const w = small ? 340 : 760, left = small ? 44 : 62, bottom = 36, right = 12, top = 8;
  const xs = shown.flatMap((s) => s.points.map((p) => p[0])), ys = shown.flatMap((s) => s.points.map((p) => p[1]));
  let [x0, x1] = x.range || [Math.min(...xs), Math.max(...xs)], [y0, y1] = [logY ? Math.min(...ys) : 0, Math.max(...ys) * (logY ? 1 : 1.15)];
  if (x0 === x1) { x0 = logX ? x0 / 2 : x0 - 1; x1 = logX ? x1 * 2 : x1 + 1; }
  if (y0 === y1) { y0 = logY ? y0 / 2 : 0; y1 = y1 * 2 || 1; }
  const f = (v, a, b, log) => (log ? Math.log(v / a) / Math.log(b / a) : (v - a) / (b - a));
  const px = (v) => left + f(v, x0, x1, logX) * (w - left - right), py = (v) => height - bottom - f(v, y0, y1, logY) * (height - bottom - top);
  const parts = [];
  for (const t of ticks(y0, y1, logY)) parts.push(svg('path', { d: `M${left} ${py(t)}H${w - right}`, class: 'axis' }), svg('text', { x: left - 6, y: py(t) + 4, 'text-anchor': 'end' }, number(t)));
  let last = -100;
  for (const t of logX ? [...new Set(xs)].sort((a, b) => a - b) : ticks(x0, x1)) {
    if (px(t) - last < (logX ? (small ? 96 : 84) : 52)) continue;
    last = px(t);
    parts.push(svg('text', { x: last, y: height - bottom + 16, 'text-anchor': last > w - right - 30 ? 'end' : last < left + 10 && logX ? 'start' : 'middle' }, (x.format || number)(t)));
  }
  parts.push(svg('path', { d: `M${left} ${top}V${height - bottom}H${w - right}`, class: 'axis' }));
  parts.push(svg('text', { x: (left + w - right) / 2, y: height - 3, 'text-anchor': 'middle' }, x.name), svg('text', { x: 12, y: top + (height - bottom) / 2, transform: `rotate(-90 12 ${top + (height - bottom) / 2})`, 'text-anchor': 'middle' }, y.name));
  const points = [];
  shown.forEach((s, i) => {
    const color = s.color || colorOf(i), shape = shapes[i % 4];
    const sorted = [...s.points].sort((a, b) => a[0] - b[0]);
    parts.push(svg('polyline', { points: sorted.map((p) => `${px(p[0]).toFixed(1)},${py(p[1]).toFixed(1)}`).join(' '), class: 'line', stroke: color }));
    for (const p of sorted) {
      parts.push(dot(shape, px(p[0]), py(p[1]), 3.2, color));
      points.push({ sx: px(p[0]), sy: py(p[1]), text: `${s.name}: ${(x.format || number)(p[0])} ${x.unit || ''} – ${number(p[1])} ${y.unit || ''}${p[2] ? ' – ' + p[2] : ''}` });
    }
  });
  const ring = svg('circle', { r: 7, fill: 'none', stroke: 'currentColor', 'stroke-width': 2, visibility: 'hidden' });
  parts.push(ring);
  const chart = svg('svg', { class: 'chart', viewBox: `0 0 ${w} ${height}`, role: 'img', tabindex: 0, 'aria-label': `${title || label || y.name}: ${points.length} points. Arrow keys move from point to point.` }, ...parts);
  const tip = make('p', { className: 'tip', ariaLive: 'polite' });
  let at = -1;
  const go = (i) => {
    at = i;
    ring.setAttribute('cx', points[i].sx);
    ring.setAttribute('cy', points[i].sy);
    ring.setAttribute('visibility', 'visible');
    tip.textContent = points[i].text;
  };
  chart.addEventListener('pointermove', (e) => {
    const r = chart.getBoundingClientRect(), mx = ((e.clientX - r.left) / r.width) * w, my = ((e.clientY - r.top) / r.height) * height;
    let best = 0;
    points.forEach((p, i) => { if (Math.hypot(p.sx - mx, p.sy - my) < Math.hypot(points[best].sx - mx, points[best].sy - my)) best = i; });
    go(best);
  });
  chart.addEventListener('keydown', (e) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (!step) return;
    e.preventDefault();
    go((at + step + points.length) % points.length);
  });
  if (title) host.append(make('h3', {}, title));
  host.append(chart, tip);
  if (shown.length > 1) {
    host.append(make('ul', { className: 'legend' }, ...shown.map((s, i) => make('li', {}, svg('svg', { viewBox: '0 0 24 16', 'aria-hidden': 'true' }, svg('path', { d: 'M0 8H24', stroke: s.color || colorOf(i), 'stroke-width': 2 }), dot(shapes[i % 4], 12, 8, 5, s.color || colorOf(i))), s.name))));
  }
  return host;
}

// table returns rows of cells under a header.
export function table(head, rows, caption) {
  return make('div', { className: 'scroll', tabIndex: 0, role: 'region', 'aria-label': caption }, make('table', {}, make('caption', { className: 'quiet' }, caption),
    make('thead', {}, make('tr', {}, ...head.map((h) => (h ? make('th', { scope: 'col' }, h) : make('td', {}))))),
    make('tbody', {}, ...rows.map((r) => make('tr', {}, ...r.map((c) => make('td', {}, c === null || c === undefined ? '' : String(c))))))));
}
