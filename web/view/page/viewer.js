// A Stage shows a document on two canvases that move together: the picture and its table.
import { palette } from './palette.js';

export class Stage {
  constructor(engine, canvases) {
    this.engine = engine;
    this.canvases = canvases; // { image, heat }
    this.doc = null;
    this.scale = 1; // screen pixels per image pixel
    this.x = 0; // image coordinate at the canvas' left edge
    this.y = 0;
    this.z = 0;
    this.channel = 0;
    this.tiles = new Map();
    this.mode = 'box'; // the action of a drag; 'pan' moves the image
    this.armed = false; // the next swipe of a finger draws a box instead of scrolling the page
    this.ratio = ''; // of the rotated table that is shown; '' for the upright one
    this.overlay = () => {};
    this.result = null; // a filter's result for the visible part, and how much of the image it covers
    this.inSight = '';
    this.waiting = 0;
    this.dirty = false;
    this.unit = 1; // size of handles, proportional to text
    for (const kind of ['image', 'heat']) this.listen(canvases[kind], kind);
    new ResizeObserver(() => this.resized()).observe(canvases.image);
    new ResizeObserver(() => this.resized()).observe(canvases.heat);
  }

  show(doc) {
    this.doc = doc;
    this.tiles.clear();
    this.result = null;
    this.z = 0;
    this.channel = 0;
    this.ratio = '';
    this.shape();
    this.fit();
  }

  // turn shows the table along a ratio, or the upright one for ''.
  turn(ratio) {
    if (ratio === this.ratio) return;
    this.ratio = ratio;
    this.turned?.(ratio);
    this.draw();
  }

  forget() { this.tiles.clear(); this.draw(); }

  get tileSize() { return this.doc && this.doc.kind === 'store' ? 256 : 512; }

  // shape puts two panes side by side or one above the other, whichever shows more. On narrow
  // pages the canvases are as high as the image needs; elsewhere they share the height of the
  // window.
  shape() {
    if (!this.doc?.width) return;
    const panes = this.canvases.image.closest('#panes'), both = !panes.classList.contains('one'), narrow = innerWidth <= 960;
    const w = panes.clientWidth, h = narrow ? Infinity : panes.clientHeight, ratio = this.doc.width / this.doc.height;
    const beside = Math.min(w / 2 / ratio, h), above = Math.min(w / ratio, h / 2);
    panes.classList.toggle('stack', both && (above > beside || innerWidth < 640));
    for (const c of Object.values(this.canvases)) {
      if (narrow && c.clientWidth) c.style.height = `${Math.round(Math.min(innerHeight * (both ? 0.42 : 0.6), Math.max(140, c.clientWidth / ratio + 2)))}px`;
      else if (!narrow) c.style.height = '';
    }
  }

  resized() {
    this.shape();
    this.unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
    const ratio = devicePixelRatio || 1;
    for (const c of Object.values(this.canvases)) {
      const w = Math.round(c.clientWidth * ratio), h = Math.round(c.clientHeight * ratio);
      if (w && h && (c.width !== w || c.height !== h)) {
        c.width = w;
        c.height = h;
      }
    }
    if (this.doc && !this.moved) this.fit();
    else this.draw();
  }

  // visible returns the canvas that determines the size of the view.
  get visible() { return this.canvases.image.clientWidth ? this.canvases.image : this.canvases.heat; }

  fit() {
    if (!this.doc) return;
    const c = this.visible, w = c.clientWidth || 600, h = c.clientHeight || 400;
    this.scale = Math.min(w / this.doc.width, h / this.doc.height);
    this.x = this.doc.width / 2 - w / 2 / this.scale;
    this.y = this.doc.height / 2 - h / 2 / this.scale;
    this.moved = false;
    this.draw();
  }

  zoom(factor, at) {
    if (!this.doc) return;
    const c = this.visible;
    at ||= { x: c.clientWidth / 2, y: c.clientHeight / 2 };
    const least = Math.min(c.clientWidth / this.doc.width, c.clientHeight / this.doc.height) / 2;
    const scale = Math.min(Math.max(this.scale * factor, least), 64);
    this.x += at.x / this.scale - at.x / scale;
    this.y += at.y / this.scale - at.y / scale;
    this.scale = scale;
    this.moved = true;
    this.keep();
    this.draw();
  }

  pan(dx, dy) {
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
    this.moved = true;
    this.keep();
    this.draw();
  }

  // keep keeps part of the picture visible.
  keep() {
    const c = this.visible, w = c.clientWidth / this.scale, h = c.clientHeight / this.scale;
    this.x = Math.min(Math.max(this.x, -w * 0.75), this.doc.width - w * 0.25);
    this.y = Math.min(Math.max(this.y, -h * 0.75), this.doc.height - h * 0.25);
  }

  at(event) { return this.atClient(event.target, event); }

  atClient(canvas, event) {
    const r = canvas.getBoundingClientRect();
    return { sx: event.clientX - r.left, sy: event.clientY - r.top, x: this.x + (event.clientX - r.left) / this.scale, y: this.y + (event.clientY - r.top) / this.scale };
  }

  toScreen(x, y) { return [(x - this.x) * this.scale, (y - this.y) * this.scale]; }

  // view returns the visible part of the image, in whole pixels.
  view() {
    const c = this.visible, d = this.doc;
    const x0 = Math.max(0, Math.floor(this.x)), y0 = Math.max(0, Math.floor(this.y));
    const x1 = Math.min(d.width, Math.ceil(this.x + c.clientWidth / this.scale)), y1 = Math.min(d.height, Math.ceil(this.y + c.clientHeight / this.scale));
    return [x0, y0, x1, y1];
  }

  listen(canvas, kind) {
    const pointers = new Map();
    let pinch = 0;
    // A finger scrolls the page, unless it touches a box, pans, or draws: after a press of the
    // button or a long press.
    let hold = 0, begun = false, from = null;
    const touched = (e) => {
      const p = this.at(e);
      from = e;
      begun = this.armed || this.mode === 'pan' || !!this.holds?.(p);
      if (!begun) hold = setTimeout(() => { begun = true; this.drag = this.begin?.(p, e, kind) || null; navigator.vibrate?.(15); }, 400);
    };
    canvas.addEventListener('touchstart', (e) => { if (begun || e.touches.length > 1) e.preventDefault(); }, { passive: false }); // after pointerdown
    canvas.addEventListener('touchmove', (e) => { if (begun || e.touches.length > 1) e.preventDefault(); }, { passive: false });
    canvas.addEventListener('contextmenu', (e) => { if (begun || hold) e.preventDefault(); });
    canvas.addEventListener('pointerdown', (e) => {
      if (!this.doc) return;
      canvas.setPointerCapture(e.pointerId);
      pointers.set(e.pointerId, e);
      if (pointers.size === 2) {
        clearTimeout(hold);
        pinch = this.spread(pointers);
        this.drag?.cancel?.();
        this.drag = null;
        return;
      }
      if (e.pointerType === 'touch') {
        touched(e);
        if (!begun) return;
      }
      if (e.button === 1 || this.mode === 'pan') {
        e.preventDefault();
        this.drag = { pan: true, px: e.clientX, py: e.clientY };
        return;
      }
      if (e.button === 0) this.drag = this.begin?.(this.at(e), e, kind) || null;
    });
    canvas.addEventListener('pointermove', (e) => {
      if (!this.doc) return;
      if (pointers.has(e.pointerId)) pointers.set(e.pointerId, e);
      if (pointers.size === 2) {
        const [a, b] = [...pointers.values()], now = this.spread(pointers), r = canvas.getBoundingClientRect();
        this.zoom(now / pinch, { x: (a.clientX + b.clientX) / 2 - r.left, y: (a.clientY + b.clientY) / 2 - r.top });
        pinch = now;
        return;
      }
      if (hold && !begun && Math.hypot(e.clientX - from.clientX, e.clientY - from.clientY) > 8) {
        clearTimeout(hold);
        hold = 0;
      }
      if (this.drag?.pan) {
        this.pan(e.clientX - this.drag.px, e.clientY - this.drag.py);
        this.drag.px = e.clientX;
        this.drag.py = e.clientY;
      } else if (this.drag) this.drag.move(this.at(e), e);
      else this.hover?.(this.at(e), canvas);
    });
    const end = (e) => {
      pointers.delete(e.pointerId);
      clearTimeout(hold);
      hold = 0;
      if (this.drag && !this.drag.pan) this.drag.end?.(this.at(e), e);
      this.drag = null;
      begun = false;
    };
    canvas.addEventListener('pointerup', end);
    canvas.addEventListener('pointercancel', end);
    canvas.addEventListener('wheel', (e) => {
      e.preventDefault();
      const { sx, sy } = this.at(e);
      this.zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), { x: sx, y: sy });
    }, { passive: false });
    canvas.addEventListener('keydown', (e) => this.key?.(e));
  }

  spread(pointers) {
    const [a, b] = [...pointers.values()];
    return Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY));
  }

  draw() {
    if (this.dirty) return;
    this.dirty = true;
    requestAnimationFrame(() => { this.dirty = false; this.paint(); });
  }

  paint() {
    if (!this.doc || this.doc.kind === 'report') return;
    for (const [kind, canvas] of Object.entries(this.canvases)) {
      if (!canvas.clientWidth) continue;
      const c = canvas.getContext('2d'), ratio = canvas.width / canvas.clientWidth;
      c.setTransform(1, 0, 0, 1, 0, 0);
      c.clearRect(0, 0, canvas.width, canvas.height);
      c.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.paintTiles(c, canvas, kind, ratio);
      if (kind === 'image' && this.result) this.paintResult(c, canvas);
      this.overlay(c, kind, canvas);
    }
    const now = [...this.view(), this.scale, devicePixelRatio].join();
    if (now !== this.inSight) {
      this.inSight = now;
      this.looked?.();
    }
  }

  // screen returns the visible part of the image, and the number of screen pixels that show it:
  // at most one for each image pixel.
  screen() {
    const [x0, y0, x1, y1] = this.view(), f = Math.min(1, this.scale * (devicePixelRatio || 1));
    return { view: [x0, y0, x1, y1], width: Math.max(1, Math.round((x1 - x0) * f)), height: Math.max(1, Math.round((y1 - y0) * f)) };
  }

  paintTiles(c, canvas, kind, ratio) {
    const d = this.doc, size = this.tileSize;
    const level = Math.max(0, Math.min(Math.ceil(Math.log2(Math.max(d.width, d.height) / 64)), Math.floor(-Math.log2(this.scale * ratio) + 0.35)));
    const n = 2 ** level, side = size * n;
    c.imageSmoothingEnabled = this.scale * ratio < 3;
    const extra = kind === 'heat' ? 1 : 0;
    const right = Math.min(d.width + extra, this.x + canvas.clientWidth / this.scale), bottom = Math.min(d.height + extra, this.y + canvas.clientHeight / this.scale);
    const wanted = [];
    for (let ty = Math.max(0, Math.floor(this.y / side)); ty * side < bottom; ty++) {
      for (let tx = Math.max(0, Math.floor(this.x / side)); tx * side < right; tx++) {
        const tile = this.tiles.get(this.tileKey(kind, level, tx, ty));
        if (tile && tile.bitmap) this.paintTile(c, tile);
        else {
          this.paintParent(c, kind, level, tx, ty, side);
          wanted.push([tx, ty]);
        }
        if (tile) tile.used = performance.now();
        if (tile && tile.missing) wanted.push([tx, ty]);
      }
    }
    const mx = (this.x + right) / 2 / side, my = (this.y + bottom) / 2 / side;
    wanted.sort((a, b) => Math.hypot(a[0] + 0.5 - mx, a[1] + 0.5 - my) - Math.hypot(b[0] + 0.5 - mx, b[1] + 0.5 - my));
    for (const [tx, ty] of wanted) this.load(kind, level, tx, ty);
  }

  tileKey(kind, level, tx, ty) { return `${kind}${kind === 'heat' ? this.ratio : ''}/${this.channel}/${this.z}/${level}/${tx}/${ty}`; }

  paintTile(c, t) {
    const [x, y] = this.toScreen(t.x * t.n, t.y * t.n);
    const f = this.scale * t.n;
    c.drawImage(t.bitmap, x, y, t.bitmap.width * f + 0.5, t.bitmap.height * f + 0.5);
  }

  // paintParent draws a coarser tile until the right one has loaded.
  paintParent(c, kind, level, tx, ty, side) {
    for (let up = 1; up < 6; up++) {
      const t = this.tiles.get(this.tileKey(kind, level + up, tx >> up, ty >> up));
      if (!t || !t.bitmap) continue;
      c.save();
      c.beginPath();
      const [x, y] = this.toScreen(tx * side, ty * side);
      c.rect(x, y, side * this.scale, side * this.scale);
      c.clip();
      this.paintTile(c, t);
      c.restore();
      return;
    }
  }

  async load(kind, level, tx, ty) {
    const key = this.tileKey(kind, level, tx, ty), doc = this.doc, size = this.tileSize;
    let tile = this.tiles.get(key);
    if (tile && (tile.loading || tile.failed || (tile.missing && performance.now() < tile.again))) {
      if (tile.missing && !tile.timer) tile.timer = setTimeout(() => { tile.timer = 0; this.draw(); }, 300);
      return;
    }
    if (this.waiting >= 6) return;
    if (!tile) this.tiles.set(key, tile = { x: tx * size, y: ty * size, n: 2 ** level, used: performance.now() });
    tile.loading = true;
    this.waiting++;
    try {
      const r = await this.engine.ask({ do: 'tile', doc: doc.id, kind, level, x: tx, y: ty, size, z: this.z, channel: this.channel, ratio: kind === 'heat' ? this.ratio : '' });
      const data = new ImageData(r.width, r.height);
      if (r.format === 'rgba') data.data.set(r.bytes);
      else {
        const out = new Uint32Array(data.data.buffer), table = kind === 'heat' ? palette() : gray();
        for (let i = 0; i < out.length; i++) out[i] = table[r.bytes[i]];
      }
      tile.bitmap = await createImageBitmap(data);
      if (!this.seen) { this.seen = true; performance.mark('first-picture'); }
      tile.missing = r.missing;
      tile.again = performance.now() + 300;
    } catch (e) {
      tile.failed = true;
      this.failed?.(e, kind);
    } finally {
      tile.loading = false;
      this.waiting--;
    }
    if (this.tiles.size > 400) {
      for (const [k] of [...this.tiles].sort((a, b) => a[1].used - b[1].used).slice(0, 100)) this.tiles.delete(k);
    }
    if (doc === this.doc) this.draw();
  }

  // divider returns where the result begins on the canvas, as a share of the visible part of the
  // image.
  divider(canvas) {
    const left = Math.max(0, this.toScreen(0, 0)[0]), right = Math.min(canvas.clientWidth, this.toScreen(this.doc.width, 0)[0]);
    return left + (right - left) * this.result.part;
  }

  // paintResult draws the result over the image, to the right of the divider.
  paintResult(c, canvas) {
    const { bitmap, at, part } = this.result, u = this.unit;
    const [x, y] = this.toScreen(at[0], at[1]), w = (at[2] - at[0]) * this.scale, h = (at[3] - at[1]) * this.scale;
    const split = this.divider(canvas);
    c.save();
    c.beginPath();
    c.rect(split, 0, canvas.clientWidth - split, canvas.clientHeight);
    c.clip();
    c.imageSmoothingEnabled = this.scale < 3;
    c.drawImage(bitmap, x, y, w, h);
    c.restore();
    if (part > 0 && part < 1) {
      const top = Math.max(y, 0), bottom = Math.min(y + h, canvas.clientHeight), middle = (top + bottom) / 2;
      for (const [color, width] of [['#000', 3], ['#fff', 1]]) {
        c.strokeStyle = color;
        c.lineWidth = width * u;
        c.beginPath();
        c.moveTo(split, top);
        c.lineTo(split, bottom);
        c.stroke();
      }
      c.beginPath();
      c.arc(split, middle, 13 * u, 0, 7);
      c.fillStyle = '#fff';
      c.fill();
      c.lineWidth = 1;
      c.strokeStyle = '#000';
      c.stroke();
      c.beginPath();
      for (const side of [-1, 1]) {
        c.moveTo(split + side * 4 * u, middle - 4 * u);
        c.lineTo(split + side * 8 * u, middle);
        c.lineTo(split + side * 4 * u, middle + 4 * u);
      }
      c.lineWidth = 2 * u;
      c.stroke();
    }
  }
}

let grays;
function gray() {
  if (!grays) grays = Uint32Array.from({ length: 256 }, (_, i) => (255 << 24) | (i << 16) | (i << 8) | i);
  return grays;
}
export { gray };
