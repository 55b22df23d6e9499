// How it works: the algorithms on a small grid, step by step.
import { make } from './dom.js';
import { css } from './palette.js';

let built = false;

export function showHow(host) {
  if (built) return;
  built = true;
  host.append(
    card('Any box from four entries', 'Each entry of the integral image T is the sum of all pixels above and to the left of it. To sum a box, start with the entry at its lower right corner, subtract the entries for the pixels to the left and above, and add back the part that was subtracted twice. That is four reads for a box of any size.', corners()),
    card('Tiles on several threads', 'The image is cut into bands of rows, and each band into tiles. A tile needs the row of the table above it and the row sums of the tile to its left, so each thread follows the thread in the band above, one tile behind: a wavefront. Every pixel is read once, and every sum is written once.', wavefront()),
    card('Look-back on a GPU', 'A GPU runs thousands of threads at once, and waiting in line would waste them. Each tile first publishes the sum of its own pixels (A, for aggregate). Then it looks back along its row and adds up the sums it finds, until it reaches a tile that has published the total of everything up to it (P, for prefix). Now the tile knows its own prefix and publishes that. No pixel is read twice.', lookback()),
  );
}

function card(title, text, player) {
  return make('article', { className: 'card' }, make('h3', {}, title), make('p', {}, text), player);
}

// play shows an animation on a canvas, with buttons to step and play.
function play({ label, frames, draw }) {
  const canvas = make('canvas', { role: 'img' }), caption = make('p', { className: 'caption', ariaLive: 'polite' });
  canvas.setAttribute('aria-label', label);
  const slider = make('input', { type: 'range', min: 0, max: frames.length - 1, value: 0, ariaLabel: label + ': step' });
  const start = make('button', { type: 'button' }, 'Play'), back = make('button', { type: 'button' }, 'Back'), next = make('button', { type: 'button' }, 'Step'), count = make('span', { className: 'hint' });
  let at = 0, timer = 0;
  const paint = () => {
    const ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    if (!w) return;
    canvas.width = w * ratio;
    canvas.height = h * ratio;
    const c = canvas.getContext('2d');
    c.scale(ratio, ratio);
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    draw(c, w, h, frames[at], getComputedStyle(canvas));
  };
  const go = (i) => {
    at = Math.min(Math.max(i, 0), frames.length - 1);
    slider.value = at;
    caption.textContent = frames[at].text;
    count.textContent = `Step ${at + 1} of ${frames.length}`;
    paint();
  };
  const stop = () => { clearInterval(timer); timer = 0; start.textContent = 'Play'; };
  start.onclick = () => {
    if (timer) return stop();
    if (at === frames.length - 1) go(0);
    start.textContent = 'Pause';
    timer = setInterval(() => { if (at >= frames.length - 1) stop(); else go(at + 1); }, matchMedia('(prefers-reduced-motion: reduce)').matches ? 1800 : 900);
  };
  back.onclick = () => { stop(); go(at - 1); };
  next.onclick = () => { stop(); go(at + 1); };
  slider.oninput = () => { stop(); go(Number(slider.value)); };
  new ResizeObserver(() => paint()).observe(canvas);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
  new MutationObserver(paint).observe(document.documentElement, { attributes: true });
  const host = make('div', {}, canvas, make('div', { className: 'player' }, start, back, next, slider, count), caption);
  go(0);
  return host;
}

// grid returns the pixels of the small pictures, which are always the same.
function grid(w, h) { return Array.from({ length: h }, (_, y) => Array.from({ length: w }, (_, x) => ((x * 7 + y * 5 + ((x * y) % 4) * 3) % 9) + 1)); }

function tableOf(pixels) {
  const h = pixels.length, w = pixels[0].length, t = Array.from({ length: h + 1 }, () => new Array(w + 1).fill(0));
  for (let y = 0; y < h; y++) for (let x = 0; x < w; x++) t[y + 1][x + 1] = pixels[y][x] + t[y][x + 1] + t[y + 1][x] - t[y][x];
  return t;
}

const inkOf = (style) => style.getPropertyValue('--ink'), lineOf = (style) => style.getPropertyValue('--soft');

function corners() {
  const w = 10, h = 7, pixels = grid(w, h), t = tableOf(pixels), b = { x0: 3, y0: 2, x1: 8, y1: 6 };
  const A = t[b.y1][b.x1], B = t[b.y1][b.x0], C = t[b.y0][b.x1], D = t[b.y0][b.x0];
  const frames = [
    { text: `The sum of the pixels in the box, columns ${b.x0} to ${b.x1 - 1} and rows ${b.y0} to ${b.y1 - 1}, is what we want.`, areas: [], marks: [] },
    { text: `T(${b.x1}, ${b.y1}) = ${A}: all pixels above and left of the lower right corner. That is too many.`, areas: [[0, 0, b.x1, b.y1, 1]], marks: [[b.x1, b.y1, 1, A]] },
    { text: `− T(${b.x0}, ${b.y1}) = ${B}: subtract the pixels left of the box. ${A} − ${B} = ${A - B}.`, areas: [[0, 0, b.x1, b.y1, 1], [0, 0, b.x0, b.y1, -1]], marks: [[b.x1, b.y1, 1, A], [b.x0, b.y1, -1, B]] },
    { text: `− T(${b.x1}, ${b.y0}) = ${C}: and those above it. ${A - B} − ${C} = ${A - B - C}. The part at the upper left was subtracted twice.`, areas: [[0, 0, b.x1, b.y1, 1], [0, 0, b.x0, b.y1, -1], [0, 0, b.x1, b.y0, -1]], marks: [[b.x1, b.y1, 1, A], [b.x0, b.y1, -1, B], [b.x1, b.y0, -1, C]] },
    { text: `+ T(${b.x0}, ${b.y0}) = ${D}: so add it back once. ${A - B - C} + ${D} = ${A - B - C + D}, the sum of the box, with four reads.`, areas: [[b.x0, b.y0, b.x1, b.y1, 1]], marks: [[b.x1, b.y1, 1, A], [b.x0, b.y1, -1, B], [b.x1, b.y0, -1, C], [b.x0, b.y0, 1, D]] },
  ];
  return play({ label: 'The sum of a box from four entries', frames, draw: (c, W, H, f, style) => {
    const s = Math.min(W / (w + 1.4), H / (h + 1)), ox = (W - s * w) / 2, oy = (H - s * h) / 2;
    c.font = `${s * 0.36}px system-ui, sans-serif`;
    for (let y = 0; y < h; y++) for (let x = 0; x < w; x++) {
      let n = 0;
      for (const [x0, y0, x1, y1, sign] of f.areas) if (x >= x0 && x < x1 && y >= y0 && y < y1) n += sign;
      c.fillStyle = n > 0 ? 'rgb(60 150 90 / 45%)' : n < 0 ? 'rgb(200 60 80 / 50%)' : f.areas.length > 1 && f.areas.some(([x0, y0, x1, y1]) => x >= x0 && x < x1 && y >= y0 && y < y1) ? 'rgb(130 130 130 / 30%)' : 'transparent';
      c.fillRect(ox + x * s, oy + y * s, s, s);
      c.strokeStyle = lineOf(style);
      c.strokeRect(ox + x * s, oy + y * s, s, s);
      c.fillStyle = inkOf(style);
      c.fillText(pixels[y][x], ox + (x + 0.5) * s, oy + (y + 0.5) * s);
    }
    c.strokeStyle = style.getPropertyValue('--mark');
    c.lineWidth = 3;
    c.strokeRect(ox + b.x0 * s, oy + b.y0 * s, (b.x1 - b.x0) * s, (b.y1 - b.y0) * s);
    for (const [x, y, sign, v] of f.marks) {
      c.beginPath();
      const label = (sign > 0 ? '+' : '−') + v;
      c.arc(ox + x * s, oy + y * s, s * 0.4, 0, 7);
      c.fillStyle = sign > 0 ? '#12652f' : '#98203a';
      c.fill();
      c.fillStyle = '#fff';
      c.font = `600 ${s * (label.length > 3 ? 0.26 : 0.3)}px system-ui, sans-serif`;
      c.fillText(label, ox + x * s, oy + y * s);
    }
  } });
}

function wavefront() {
  const across = 6, down = 4, side = 2, workers = 3, names = ['A', 'B', 'C'], hues = ['#2f6fc4', '#b35310', '#1f7a4d'];
  const pixels = grid(across * side, down * side), t = tableOf(pixels), most = t[down * side][across * side];
  // A tile can be computed when those to its left and above are done. A worker stays in its band.
  const frames = [], done = new Map();
  const band = new Array(workers).fill(-1), place = new Array(workers).fill(0);
  let nextBand = 0;
  frames.push({ text: `${down} bands of ${across} tiles, ${side}×${side} pixels each, and ${workers} threads. The numbers are the pixels.`, done: new Map(), now: [] });
  while (done.size < across * down) {
    const now = [];
    for (let k = 0; k < workers; k++) {
      if ((band[k] < 0 || place[k] === across) && nextBand < down) { band[k] = nextBand++; place[k] = 0; }
      if (band[k] < 0 || place[k] >= across) continue;
      const y = band[k], x = place[k];
      if (y === 0 || done.has(`${x},${y - 1}`)) now.push([x, y, k]);
    }
    for (const [x, y, k] of now) { done.set(`${x},${y}`, k); place[k]++; }
    const who = now.map(([x, y, k]) => `${names[k]} computes tile ${x + 1} of band ${y + 1}`).join(', ');
    const [x, y, k] = now[0], [u, v] = [x * side, y * side];
    const how = x || y ? `The first entry of thread ${names[k]} is ${t[v][u + 1]} (above) + ${t[v + 1][u] - t[v][u]} (its row so far) + ${pixels[v][u]} (the pixel) = ${t[v + 1][u + 1]}.` : `The first entry is the pixel ${pixels[0][0]} itself, the next ${pixels[0][0]} + ${pixels[0][1]} = ${t[1][2]}.`;
    frames.push({ text: `${who}. ${how}`, done: new Map(done), now });
  }
  frames.push({ text: `All ${across * down} tiles are made in ${frames.length - 1} steps; a single thread takes ${across * down}. The last entry, ${most}, is the sum of all pixels.`, done: new Map(done), now: [] });
  return play({ label: 'Tiles in wavefront order', frames, draw: (c, W, H, f, style) => {
    const s = Math.min(W / (across + 0.5), H / (down + 0.5)), ox = (W - s * across) / 2, oy = (H - s * down) / 2, cell = (s - 4) / side;
    for (let y = 0; y < down; y++) for (let x = 0; x < across; x++) {
      const now = f.now.find((n) => n[0] === x && n[1] === y), known = f.done.has(`${x},${y}`), left = ox + x * s + 2, top = oy + y * s + 2;
      c.font = `${now ? 700 : 400} ${cell * 0.4}px system-ui, sans-serif`;
      for (let j = 0; j < side; j++) for (let i = 0; i < side; i++) {
        const [u, v] = [x * side + i, y * side + j], value = t[v + 1][u + 1], shade = Math.round((value / most) * 235) + 20;
        c.fillStyle = now ? hues[now[2]] : known ? css(shade) : 'transparent';
        c.fillRect(left + i * cell, top + j * cell, cell + 0.5, cell + 0.5);
        c.fillStyle = now || (known && shade < 150) ? '#fff' : known ? '#1e1b2b' : inkOf(style);
        c.fillText(known ? value : pixels[v][u], left + (i + 0.5) * cell, top + (j + 0.5) * cell);
      }
      c.strokeStyle = now ? inkOf(style) : lineOf(style);
      c.lineWidth = now ? 2 : 1;
      c.strokeRect(left, top, s - 4, s - 4);
      if (now) {
        c.strokeStyle = hues[now[2]];
        c.lineWidth = 3;
        arrow(c, ox + (x + 0.5) * s, oy + y * s - s * 0.16, ox + (x + 0.5) * s, oy + y * s + 4, y > 0);
        arrow(c, ox + x * s - s * 0.16, oy + (y + 0.5) * s, ox + x * s + 4, oy + (y + 0.5) * s, x > 0);
        c.fillStyle = hues[now[2]];
        c.beginPath();
        c.arc(left + s - 4, top, s * 0.13, 0, 7);
        c.fill();
        c.strokeStyle = '#fff';
        c.lineWidth = 1.5;
        c.stroke();
        c.fillStyle = '#fff';
        c.font = `700 ${s * 0.15}px system-ui, sans-serif`;
        c.fillText(names[now[2]], left + s - 4, top + 1);
      }
    }
  } });
}

function arrow(c, x0, y0, x1, y1, show) {
  if (!show) return;
  const a = Math.atan2(y1 - y0, x1 - x0);
  c.beginPath();
  c.moveTo(x0, y0);
  c.lineTo(x1, y1);
  c.lineTo(x1 - 6 * Math.cos(a - 0.6), y1 - 6 * Math.sin(a - 0.6));
  c.moveTo(x1, y1);
  c.lineTo(x1 - 6 * Math.cos(a + 0.6), y1 - 6 * Math.sin(a + 0.6));
  c.stroke();
}

function lookback() {
  const own = [7, 3, 9, 4, 6, 2, 8, 5], n = own.length;
  const prefix = own.map((_, i) => own.slice(0, i + 1).reduce((a, b) => a + b, 0));
  const frames = [], state = new Array(n).fill(' ');
  const push = (text, looks = [], at = -1) => frames.push({ text, state: [...state], looks, at });
  push('Eight tiles of one row start at the same time. None has published anything yet.');
  for (const i of [0, 1, 2, 3]) state[i] = 'A';
  push('The first four have summed their own pixels and publish the sum: A.');
  state[0] = 'P';
  push(`No tile precedes tile 1, so its sum ${own[0]} is also its prefix. It publishes P.`);
  for (const i of [4, 5, 6, 7]) state[i] = 'A';
  push('The others have summed theirs as well, without waiting for anything.');
  const look = (i) => {
    let sum = 0, j = i - 1;
    const seen = [];
    for (; j >= 0; j--) {
      seen.push(j);
      if (state[j] === 'P') { sum += prefix[j]; break; }
      sum += own[j];
    }
    const text = seen.map((k) => (state[k] === 'P' ? `${prefix[k]} (P of tile ${k + 1})` : `${own[k]} (A of tile ${k + 1})`)).join(' + ');
    push(`Tile ${i + 1} looks back: ${text} = ${sum}. It stops at the first P.`, seen, i);
    state[i] = 'P';
    push(`With its own ${own[i]} that is ${prefix[i]}: tile ${i + 1} publishes P and writes its part of the table.`, [], i);
  };
  for (const i of [3, 1, 6, 2, 4, 5, 7]) look(i);
  push('All know their prefix. The tiles finished in any order, and each pixel was read once.');
  return play({ label: 'Look-back on a GPU', frames, draw: (c, W, H, f, style) => {
    const s = Math.min(W / (n + 0.6), H / 3.2), ox = (W - s * n) / 2, oy = H / 2 - s * 0.2;
    for (let i = 0; i < n; i++) {
      c.fillStyle = f.state[i] === 'P' ? 'rgb(60 150 90 / 55%)' : f.state[i] === 'A' ? 'rgb(230 170 60 / 45%)' : 'transparent';
      c.fillRect(ox + i * s + 3, oy, s - 6, s - 6);
      c.strokeStyle = i === f.at ? style.getPropertyValue('--mark') : lineOf(style);
      c.lineWidth = i === f.at ? 3 : 1;
      c.strokeRect(ox + i * s + 3, oy, s - 6, s - 6);
      c.fillStyle = inkOf(style);
      c.font = `700 ${s * 0.26}px system-ui, sans-serif`;
      c.fillText(f.state[i] === ' ' ? '…' : f.state[i], ox + (i + 0.5) * s, oy + s * 0.25);
      c.font = `${s * 0.24}px system-ui, sans-serif`;
      if (f.state[i] !== ' ') c.fillText(f.state[i] === 'P' ? prefix[i] : own[i], ox + (i + 0.5) * s, oy + s * 0.62);
      c.fillText(`${i + 1}`, ox + (i + 0.5) * s, oy + s * 1.12);
    }
    c.strokeStyle = style.getPropertyValue('--mark');
    c.lineWidth = 2;
    for (const j of f.looks) {
      const x0 = ox + (f.at + 0.5) * s, x1 = ox + (j + 0.5) * s, lift = s * (0.25 + 0.12 * (f.at - j));
      c.beginPath();
      c.moveTo(x0, oy);
      c.quadraticCurveTo((x0 + x1) / 2, oy - 2 * lift, x1, oy - 3);
      c.stroke();
      arrow(c, x1 + 6, oy - 12, x1, oy - 2, true);
    }
  } });
}
