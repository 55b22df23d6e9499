// Filters, thresholds, templates and detection: the picture changes as the sliders move. Filters
// and thresholds are computed for the pixels on the screen, and for the whole image when it is
// saved.
import { $, make, number, millis, save, codePanel } from './dom.js';
import { lines, table } from './chart.js';
import { latest } from './engine.js';
import { gray } from './viewer.js';

const filters = { box: 'Box blur', gaussian: 'Gaussian blur', median: 'Median', guided: 'Guided filter (keeps edges)', std: 'Local standard deviation', normalize: 'Local contrast', mean: 'Local mean', entropy: 'Local entropy', percentile: 'Percentile', equalize: 'Local equalization', clahe: 'Equalization by tiles (CLAHE)', denoise: 'Noise removal (non-local means)' }
const levels = ['percentile', 'equalize', 'clahe', 'denoise']; // filters for pixels of 8 and 16 bits
const views = { work: ['filter', 'threshold'], detect: ['detect', 'match'] };;

export class Work {
  constructor(app) {
    this.app = app;
    this.stage = app.stage;
    this.what = 'filter';
    this.values = {};
    this.times = new Map(); // of the filter, by window size
    this.found = null;
    this.last = { work: 'filter', detect: 'detect' }; // the last panel of each view
    this.run = latest((quick) => this.go(quick));
    for (const b of document.querySelectorAll('#operations [data-work]')) b.onclick = () => this.choose(b.dataset.work);
    $('wipe').oninput = () => this.divide($('wipe').value / 100);
    $('sweep').onclick = () => this.sweep();
    $('save-result').onclick = () => this.save();
    $('settings').addEventListener('submit', (e) => e.preventDefault());
    this.code = codePanel($('work-code'), () => app.engine.ask({ do: 'code', doc: this.stage.doc.id, what: this.request() }), (...file) => app.savePixels(...file));
  }

  get wantsBox() { return this.app.view === 'detect' && this.what === 'match'; }

  get pictures() { return views.work.includes(this.what); }

  ready() {
    this.cascades = [...this.app.hello.cascades];
    this.app.boxChanged = () => { if (this.wantsBox) this.run(); };
    this.shown(this.app.view);
  }

  addCascade(name) {
    if (!this.cascades.includes(name)) this.cascades.push(name);
    this.values.cascade = name;
    this.last.detect = 'detect';
    if (this.app.view === 'detect') this.choose('detect');
    else location.hash = '#detect';
  }

  reset() {
    this.clear();
    this.times.clear();
    if (this.active) { this.fields(); this.run(); }
  }

  clear() {
    this.stage.result = null;
    this.found = null;
    $('found').hidden = true;
    $('took').textContent = '';
    this.stage.draw();
  }

  // shown handles a change of the view.
  shown(view) {
    const active = view in views && !!this.app.hello;
    if (active) {
      if (!this.active) this.app.panes('image');
      this.active = true;
      this.choose(this.last[view]);
    } else if (this.active) {
      this.active = false;
      this.clear();
      if (view === 'boxes') this.app.panes(this.stage.doc?.table ? 'both' : 'image');
    }
    $('show-tool').hidden = view in views;
  }

  choose(what) {
    this.what = what;
    this.last[this.app.view] = what;
    for (const b of document.querySelectorAll('#operations [data-work]')) {
      b.setAttribute('aria-pressed', String(b.dataset.work === what));
      b.hidden = b.dataset.view !== this.app.view;
    }
    $('work-title').textContent = this.app.view === 'detect' ? 'Detect' : 'Filters';
    this.times.clear();
    this.clear();
    this.fields();
    $('wipe-tool').hidden = $('timing').hidden = $('save-result').hidden = !this.pictures;
    $('drag-tool').hidden = document.querySelector('.touch').hidden = !this.app.drawsBoxes();
    if (this.active) this.run();
  }

  // looked updates the result after the visible part has changed.
  looked() {
    if (!this.active || !this.pictures) return;
    clearTimeout(this.looking);
    this.looking = setTimeout(() => { if (this.active && this.pictures) this.run(); }, 40);
  }

  // changed runs the filter with the sliders' values: coarsely while they move, and exactly when
  // they rest.
  changed() {
    this.since = performance.now();
    this.run(true);
    clearTimeout(this.resting);
    this.resting = setTimeout(() => { if (this.active && this.stage.result?.scale > 1) this.run(); }, 250);
  }

  // divide moves the divider between before and after.
  divide(part) {
    if (!this.stage.result) return;
    this.stage.result.part = part;
    $('wipe').value = Math.round(part * 100);
    this.stage.draw();
  }

  holds(p) { return !!this.stage.result && Math.abs(p.sx - this.stage.divider(this.stage.canvases.image)) <= 16 * this.stage.unit; }

  // begin starts a drag: of the divider, or else of the image.
  begin(p, event) {
    if (!this.holds(p)) return { pan: true, px: event.clientX, py: event.clientY };
    const stage = this.stage, left = Math.max(0, stage.toScreen(0, 0)[0]), right = Math.min(stage.canvases.image.clientWidth, stage.toScreen(stage.doc.width, 0)[0]);
    return { move: (q) => this.divide(Math.min(Math.max((q.sx - left) / (right - left), 0), 1)) };
  }

  hover(p, canvas) { canvas.style.cursor = this.holds(p) ? 'ew-resize' : 'grab'; }

  slider(key, label, min, max, step, start, format = number) {
    this.values[key] ??= start;
    this.values[key] = Math.min(Math.max(this.values[key], min), max);
    const out = make('output', {}, format(this.values[key]));
    const input = make('input', { type: 'range', min, max, step, value: this.values[key], name: key });
    input.value = this.values[key];
    input.addEventListener('input', () => {
      this.values[key] = Number(input.value);
      out.textContent = format(this.values[key]);
      this.changed();
    });
    return make('label', {}, make('span', {}, label, out), input);
  }

  choice(key, label, options, start, after) {
    if (!options.some(([v]) => v === this.values[key])) this.values[key] = start;
    const select = make('select', { name: key }, ...options.map(([v, text]) => make('option', { value: v }, text)));
    select.value = this.values[key];
    select.addEventListener('change', () => {
      this.values[key] = select.value;
      after?.();
      this.run();
    });
    return make('label', {}, make('span', {}, label), select);
  }

  check(key, label) {
    const box = make('input', { type: 'checkbox', name: key, checked: !!this.values[key] });
    box.addEventListener('change', () => { this.values[key] = box.checked; this.run(); });
    return make('label', { className: 'check' }, box, label);
  }

  fields() {
    if (!this.app.hello) return;
    const again = () => { this.times.clear(); this.fields(); };
    const rows = [], v = this.values;
    if (this.what === 'filter') {
      const fine = !this.stage.doc || ['uint8', 'uint16'].includes(this.stage.doc.pixel);
      rows.push(this.choice('filter', 'Filter', Object.entries(filters).filter(([f]) => fine || !levels.includes(f)), 'box', again));
      if (v.filter === 'percentile') rows.push(this.slider('percent', 'Percentile', 0, 100, 1, 90));
      if (v.filter === 'gaussian') rows.push(this.slider('sigma', 'Sigma', 0.5, 60, 0.5, 6));
      else if (v.filter === 'clahe') rows.push(this.slider('clip', 'Limit of contrast', 1, 20, 0.5, 2));
      else if (v.filter === 'denoise') rows.push(this.slider('strength', 'Strength', 1, 60, 1, 10));
      else rows.push(this.slider('radius', 'Radius', 1, v.filter === 'entropy' ? 40 : 120, 1, 12, (r) => `${r} (${2 * r + 1}×${2 * r + 1} window)`));
      if (v.filter === 'guided') rows.push(this.slider('epsilon', 'Epsilon', 1, 4000, 1, 400));
    } else if (this.what === 'threshold') {
      const methods = this.app.hello.methods;
      rows.push(this.choice('method', 'Method', methods.map((m) => [m.name, m.name]), 'sauvola', () => { delete v.k; again(); }));
      if (v.method !== 'otsu') rows.push(this.slider('window', 'Window', 3, 301, 2, 75));
      const m = methods.find((o) => o.name === v.method);
      if (v.method === 'bradley') rows.push(this.slider('k', 'Percent below mean', 0, 60, 1, m.t));
      else if (v.method === 'meanc') rows.push(this.slider('k', 'C (levels below mean)', -40, 60, 1, m.c));
      else if (!['otsu', 'su'].includes(v.method)) rows.push(this.slider('k', 'k', -1, 1, 0.01, m.k));
    } else if (this.what === 'match') {
      rows.push(make('p', { className: 'hint' }, 'The box is the template: draw one around something, and the most similar places are marked.'));
      rows.push(this.choice('score', 'Score', [['zncc', 'ZNCC (ignores brightness and contrast)'], ['ncc', 'NCC (ignores exposure)'], ['ssd', 'SSD (squared differences)']], 'zncc'));
      rows.push(this.slider('top', 'Number of matches', 1, 30, 1, 5));
    } else {
      rows.push(this.choice('cascade', 'Cascade', this.cascades.map((c) => [c, c === 'sun' ? 'sun (bright discs)' : c]), this.cascades.find((c) => c === 'haarcascade_frontalface_alt2' && !this.stage.doc?.demo) || 'sun'));
      rows.push(make('p', { className: 'hint' }, 'To find other objects, open one of OpenCV’s cascade files (.xml).'));
      rows.push(this.slider('scale', 'Scale factor', 1.02, 1.5, 0.01, 1.1), this.slider('neighbors', 'Minimum neighbors', 1, 12, 1, 3), this.slider('least', 'Minimum size', 0, 400, 4, 4 * Math.round(Math.max(24, Math.min(this.stage.doc?.width || 0, this.stage.doc?.height || 0) / 15) / 4)));
      rows.push(this.slider('angle', 'Rotation', -180, 180, 7.5, 0, (a) => `${number(a)}°`), this.check('all', 'Search all rotations'));
    }
    const focused = $('settings').contains(document.activeElement) ? document.activeElement.name : '';
    $('settings').replaceChildren(...rows);
    if (focused) $('settings').querySelector(`[name=${focused}]`)?.focus(); // keeps the focus for keyboard users
  }

  request() {
    const v = this.values, doc = this.stage.doc, base = { doc: doc.id, channel: this.stage.channel, z: this.stage.z };
    if (doc.kind === 'store') base.box = this.stage.view();
    switch (this.what) {
      case 'filter': return { ...base, do: 'filter', method: v.filter, radius: v.radius, sigma: v.sigma, epsilon: v.epsilon, percent: v.percent, clip: v.clip, strength: v.strength };
      case 'threshold': return { ...base, do: 'threshold', method: v.method, window: v.method === 'otsu' ? 75 : v.window, k: ['otsu', 'su'].includes(v.method) ? undefined : v.k };
      case 'match': {
        const b = this.app.boxes.selected;
        return { ...base, do: 'match', method: v.score, top: v.top, box: b ? [b.x0, b.y0, b.x1, b.y1] : [0, 0, 0, 0] };
      }
      default: return { ...base, do: 'detect', cascade: v.cascade, scale: v.scale, neighbors: v.neighbors, least: v.least, angle: v.all ? 0 : v.angle, all: !!v.all };
    }
  }

  // size returns the value on the chart's x axis, and axis its slider and name.
  size(r) {
    const { key } = this.axis(r);
    return key === 'radius' ? 2 * r.radius + 1 : r[key];
  }

  axis(r) {
    if (r.do === 'threshold') return { key: 'window', name: 'Window width (pixels)' };
    return { gaussian: { key: 'sigma', name: 'Sigma (pixels)' }, clahe: { key: 'clip', name: 'Limit of contrast' }, denoise: { key: 'strength', name: 'Strength' } }[r.method] ?? { key: 'radius', name: 'Window width (pixels)' };
  }

  // onScreen adds the visible part of the image to a request.
  onScreen(request) {
    const { view, width, height } = this.stage.screen();
    return { ...request, view, width, height };
  }

  async go(quick) {
    if (!this.active || !this.stage.doc || this.stage.doc.kind === 'report') return;
    const doc = this.stage.doc, request = this.request(), since = this.since;
    const asked = this.pictures ? this.onScreen({ ...request, quick: !!quick }) : request;
    let r;
    try {
      r = await this.app.engine.ask(asked);
    } catch (e) {
      this.clear();
      $('took').textContent = e.message;
      return;
    }
    if (doc !== this.stage.doc || !this.active || request.do !== this.what) return;
    if (this.pictures) {
      await this.showPicture(asked, r);
      if (since) document.body.dataset.slid = (performance.now() - since).toFixed(2);
    } else this.showFound(request, r);
    this.code();
    document.body.dataset.work = JSON.stringify(request);
  }

  async showPicture(request, r) {
    const data = new ImageData(r.width, r.height);
    if (r.format === 'rgba') data.data.set(r.bytes);
    else {
      const out = new Uint32Array(data.data.buffer), colors = gray();
      for (let i = 0; i < out.length; i++) out[i] = colors[r.bytes[i]];
    }
    this.stage.result = { bitmap: await createImageBitmap(data), at: request.view, part: $('wipe').value / 100, scale: r.scale };
    this.stage.draw();
    this.time(request, r.ms);
    $('took').replaceChildren(`${millis(r.ms)} for the ${(r.width * r.height / 1e6).toFixed(1)} megapixels on screen`, ...(r.scale > 1 ? [make('small', {}, `Preview at 1:${r.scale}. Save picture computes every pixel.`)] : []));
    $('took').dataset.ms = r.ms;
  }

  // save computes the whole image and saves it as a file.
  async save() {
    const request = this.request(), button = $('save-result');
    button.disabled = true;
    button.textContent = 'Saving…';
    try {
      const r = await this.app.engine.ask({ ...request, save: true });
      save(`${this.stage.doc.name.replace(/\.[^.]*$/, '')}-${request.method}.png`, 'image/png', r.bytes);
      this.app.say('');
    } catch (e) { this.app.say(e.message); }
    button.disabled = false;
    button.textContent = 'Save picture';
  }

  time(request, ms) {
    const x = this.size(request), { key, name } = this.axis(request);
    const input = $('settings').querySelector(`input[name=${key}]`), ends = input ? [Number(input.min), Number(input.max)] : [0, x];
    this.times.set(x, Math.min(ms, this.times.get(x) ?? Infinity));
    $('times').replaceChildren(lines({ small: true, height: 150, title: '', label: 'Time by window size', series: [{ name: request.method, points: [...this.times] }],
      x: { name, unit: name.includes('pixels') ? 'pixels' : '', range: [0, key === 'radius' ? 2 * ends[1] + 1 : ends[1]] }, y: { name: 'ms', unit: 'ms' } }));
  }

  // sweep measures the times for small to large sizes.
  async sweep() {
    const { key } = this.axis(this.request());
    const input = $('settings').querySelector(`input[name=${key}]`);
    if (!input) return;
    $('sweep').disabled = true;
    try {
      const low = Number(input.min), high = Number(input.max), step = Number(input.step);
      for (let i = 0; i <= 8; i++) {
        const value = Math.max(low + Math.round(((high - low) * i) / 8 / step) * step, low);
        for (let k = 0; k < 3; k++) {
          const request = this.onScreen({ ...this.request(), [key]: value });
          const r = await this.app.engine.ask(request);
          this.time(request, r.ms);
        }
      }
    } catch (e) { this.app.say(e.message); }
    $('sweep').disabled = false;
  }

  showFound(request, r) {
    const list = request.do === 'match' ? r.peaks.map((p) => ({ corners: [[p.x, p.y], [p.x + r.width, p.y], [p.x + r.width, p.y + r.height], [p.x, p.y + r.height]], label: p.score.toFixed(3), ...p })) : r.found.map((f) => ({ ...f, label: `${f.score.toFixed(1)}, ${f.angle.toFixed(0)}°` }));
    this.found = list;
    const what = request.do === 'match' ? ['match', 'matches'] : ['object', 'objects'];
    $('took').textContent = `${list.length || 'No'} ${list.length === 1 ? what[0] : what[1]} found in ${millis(r.ms)}`;
    $('took').dataset.ms = r.ms;
    $('found').hidden = !list.length;
    $('found').replaceChildren(request.do === 'match' ? table(['', 'Score', 'x', 'y'], list.map((p, i) => [i + 1, p.score.toFixed(5), p.x, p.y]), 'Matches')
      : table(['', 'Score', 'x', 'y', 'Size', 'Angle', 'Hits'], list.map((f, i) => [i + 1, f.score.toFixed(2), f.x, f.y, f.width === f.height ? f.width : `${f.width}×${f.height}`, `${number(f.angle)}°`, f.neighbors]), 'Objects'));
    this.stage.draw();
  }

  overlay(c) {
    if (!this.found) return;
    const u = this.stage.unit;
    c.font = `${13 * u}px system-ui, sans-serif`;
    for (const f of this.found) {
      c.beginPath();
      for (const p of f.corners) c.lineTo(...this.stage.toScreen(...p));
      c.closePath();
      c.strokeStyle = '#000';
      c.lineWidth = 4 * u;
      c.stroke();
      c.strokeStyle = '#7ff0b0';
      c.lineWidth = 2 * u;
      c.stroke();
      const [[ax, ay], [bx, by]] = f.corners, [tx, ty] = this.stage.toScreen((ax + bx) / 2, (ay + by) / 2);
      c.beginPath();
      c.arc(tx, ty, 4 * u, 0, 7); // the handle at its top
      c.fillStyle = '#7ff0b0';
      c.fill();
      const w = c.measureText(f.label).width;
      c.fillStyle = 'rgb(0 0 0 / 75%)';
      const above = ty > 28 * u ? ty - 26 * u : ty + 8 * u; // stays visible
      c.fillRect(tx - w / 2 - 4 * u, above, w + 8 * u, 18 * u);
      c.fillStyle = '#fff';
      c.fillText(f.label, tx - w / 2, above + 14 * u);
    }
  }
}
