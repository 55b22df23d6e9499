// Filters, thresholds, matches and detection: the picture changes as the sliders move.
import { $, make, number, millis, codePanel } from './dom.js';
import { lines, table } from './chart.js';
import { latest } from './engine.js';
import { gray } from './viewer.js';

const filters = { box: 'Box blur', gaussian: 'Gaussian blur', median: 'Median', guided: 'Guided filter', std: 'Local deviation', normalize: 'Local contrast', mean: 'Local mean', entropy: 'Entropy' };

export class Work {
  constructor(app) {
    this.app = app;
    this.stage = app.stage;
    this.what = 'filter';
    this.values = {};
    this.times = new Map(); // of the filter, by the size of its window
    this.found = null;
    this.run = latest(() => this.go());
    for (const b of document.querySelectorAll('[data-work]')) b.onclick = () => this.choose(b.dataset.work);
    $('wipe').oninput = () => { if (this.stage.result) { this.stage.result.part = $('wipe').value / 100; this.stage.draw(); } };
    $('sweep').onclick = () => this.sweep();
    $('settings').addEventListener('submit', (e) => e.preventDefault());
    this.code = codePanel($('work-code'), () => app.engine.ask({ do: 'code', doc: this.stage.doc.id, what: this.request() }), (...file) => app.savePixels(...file));
  }

  get wantsBox() { return this.app.view === 'work' && this.what === 'match'; }

  ready() {
    this.cascades = [...this.app.hello.cascades];
    this.choose('filter');
    this.app.boxChanged = () => { if (this.wantsBox) this.run(); };
  }

  addCascade(name) {
    if (!this.cascades.includes(name)) this.cascades.push(name);
    this.values.cascade = name;
    location.hash = '#work';
    this.choose('detect');
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

  shown(active) {
    if (active === !!this.active) return;
    this.active = active;
    if (!this.app.hello) return;
    if (active) {
      this.app.panes('image');
      this.run();
    } else {
      this.clear();
      this.app.panes(this.stage.doc?.table ? 'both' : 'image');
    }
  }

  choose(what) {
    this.what = what;
    for (const b of document.querySelectorAll('[data-work]')) b.setAttribute('aria-pressed', String(b.dataset.work === what));
    this.times.clear();
    this.clear();
    this.fields();
    $('wipe-tool').hidden = $('sweep').hidden = $('times').hidden = what === 'match' || what === 'detect';
    if (this.active) this.run();
  }

  slider(key, label, min, max, step, start, format = number) {
    this.values[key] ??= start;
    this.values[key] = Math.min(Math.max(this.values[key], min), max);
    const out = make('output', {}, format(this.values[key]));
    const input = make('input', { type: 'range', min, max, step, value: this.values[key], name: key });
    input.value = this.values[key];
    input.addEventListener('input', () => {
      this.values[key] = Number(input.value);
      out.textContent = format(this.values[key]);
      this.run();
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
      rows.push(this.choice('filter', 'Filter', Object.entries(filters), 'box', again));
      if (v.filter === 'gaussian') rows.push(this.slider('sigma', 'Sigma', 0.5, 60, 0.5, 6));
      else rows.push(this.slider('radius', 'Radius', 1, v.filter === 'entropy' ? 40 : 120, 1, 12, (r) => `${r} (window ${2 * r + 1})`));
      if (v.filter === 'guided') rows.push(this.slider('epsilon', 'Epsilon', 1, 4000, 1, 400));
    } else if (this.what === 'threshold') {
      const methods = this.app.hello.methods;
      rows.push(this.choice('method', 'Method', methods.map((m) => [m.name, m.name]), 'sauvola', () => { delete v.k; again(); }));
      if (v.method !== 'otsu') rows.push(this.slider('window', 'Window', 3, 301, 2, 75));
      const m = methods.find((o) => o.name === v.method);
      if (v.method === 'bradley') rows.push(this.slider('k', 'Percent below the mean', 0, 60, 1, m.t));
      else if (v.method === 'meanc') rows.push(this.slider('k', 'C below the mean', -40, 60, 1, m.c));
      else if (!['otsu', 'su'].includes(v.method)) rows.push(this.slider('k', 'k', -1, 1, 0.01, m.k));
    } else if (this.what === 'match') {
      rows.push(make('p', { className: 'hint' }, 'The selected box is the template. Draw one on the picture, and its like are found.'));
      rows.push(this.choice('score', 'Score', [['zncc', 'ZNCC: brightness and contrast do not matter'], ['ncc', 'NCC: exposure does not matter'], ['ssd', 'SSD: squared differences']], 'zncc'));
      rows.push(this.slider('top', 'Best places', 1, 30, 1, 5));
    } else {
      rows.push(this.choice('cascade', 'Cascade', this.cascades.map((c) => [c, c === 'sun' ? 'sun (bright discs; boxsum’s own)' : c]), this.cascades.find((c) => c === 'haarcascade_frontalface_alt2' && !this.stage.doc?.demo) || 'sun'));
      rows.push(make('p', { className: 'hint' }, 'Drop a cascade of OpenCV’s, an .xml file, to find faces and more.'));
      rows.push(this.slider('scale', 'Scale', 1.02, 1.5, 0.01, 1.1), this.slider('neighbors', 'Neighbours', 1, 12, 1, 3), this.slider('least', 'Least size', 0, 400, 4, 4 * Math.round(Math.max(24, Math.min(this.stage.doc?.width || 0, this.stage.doc?.height || 0) / 15) / 4)));
      rows.push(this.slider('angle', 'Angle °', -180, 180, 7.5, 0), this.check('all', 'At all angles'));
    }
    const focused = $('settings').contains(document.activeElement) ? document.activeElement.name : '';
    $('settings').replaceChildren(...rows);
    if (focused) $('settings').querySelector(`[name=${focused}]`)?.focus(); // who works by keys goes on there
  }

  request() {
    const v = this.values, doc = this.stage.doc, base = { doc: doc.id, channel: this.stage.channel, z: this.stage.z };
    if (doc.kind === 'store') base.box = this.stage.view();
    switch (this.what) {
      case 'filter': return { ...base, do: 'filter', method: v.filter, radius: v.radius, sigma: v.sigma, epsilon: v.epsilon };
      case 'threshold': return { ...base, do: 'threshold', method: v.method, window: v.method === 'otsu' ? 75 : v.window, k: ['otsu', 'su'].includes(v.method) ? undefined : v.k };
      case 'match': {
        const b = this.app.boxes.selected;
        return { ...base, do: 'match', method: v.score, top: v.top, box: b ? [b.x0, b.y0, b.x1, b.y1] : [0, 0, 0, 0] };
      }
      default: return { ...base, do: 'detect', cascade: v.cascade, scale: v.scale, neighbors: v.neighbors, least: v.least, angle: v.all ? 0 : v.angle, all: !!v.all };
    }
  }

  // size is what the chart has on its x axis.
  size(r) { return r.do === 'threshold' ? r.window : r.method === 'gaussian' ? r.sigma : 2 * r.radius + 1; }

  async go() {
    if (!this.active || !this.stage.doc || this.stage.doc.kind === 'report') return;
    const doc = this.stage.doc, request = this.request();
    let r;
    try {
      r = await this.app.engine.ask(request);
    } catch (e) {
      this.clear();
      $('took').textContent = e.message;
      return;
    }
    if (doc !== this.stage.doc || !this.active) return;
    if (request.do === 'match' || request.do === 'detect') this.showFound(request, r);
    else await this.showPicture(request, r);
    this.code();
    document.body.dataset.work = JSON.stringify(request);
  }

  async showPicture(request, r) {
    const data = new ImageData(r.width, r.height), out = new Uint32Array(data.data.buffer), colors = gray();
    for (let i = 0; i < out.length; i++) out[i] = colors[r.bytes[i]];
    const bitmap = await createImageBitmap(data), box = request.box || [0, 0, r.width, r.height];
    this.stage.result = { bitmap, at: [box[0], box[1], r.width, r.height], part: $('wipe').value / 100 };
    this.stage.draw();
    this.time(request, r.ms);
    $('took').textContent = `${millis(r.ms)} for ${(r.width * r.height / 1e6).toFixed(1)} megapixels`;
    $('took').dataset.ms = r.ms;
  }

  time(request, ms) {
    const x = this.size(request);
    this.times.set(x, Math.min(ms, this.times.get(x) ?? Infinity));
    $('times').replaceChildren(lines({ small: true, height: 150, title: 'Time by the size of the window', series: [{ name: this.values.filter, points: [...this.times] }], x: { name: request.method === 'gaussian' ? 'sigma' : 'window, pixels', unit: 'pixels' }, y: { name: 'ms', unit: 'ms' } }));
  }

  // sweep measures sizes from small to large.
  async sweep() {
    const key = this.what === 'threshold' ? 'window' : this.values.filter === 'gaussian' ? 'sigma' : 'radius';
    const input = $('settings').querySelector(`input[name=${key}]`);
    if (!input) return;
    $('sweep').disabled = true;
    try {
      const low = Number(input.min), high = Number(input.max), step = Number(input.step);
      for (let i = 0; i <= 8; i++) {
        const value = Math.max(low + Math.round(((high - low) * i) / 8 / step) * step, low);
        for (let k = 0; k < 3; k++) {
          const request = { ...this.request(), [key]: value };
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
    $('took').textContent = `${list.length} found in ${millis(r.ms)}`;
    $('took').dataset.ms = r.ms;
    $('found').hidden = false;
    $('found').replaceChildren(request.do === 'match' ? table(['Place', 'Score', 'x', 'y'], list.map((p, i) => [i + 1, p.score.toFixed(5), p.x, p.y]), 'The best places')
      : table(['Found', 'Score', 'Angle °', 'x', 'y', 'Width', 'Height', 'Windows'], list.map((f, i) => [i + 1, f.score.toFixed(3), number(f.angle), f.x, f.y, f.width, f.height, f.neighbors]), 'What was found'));
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
      c.arc(tx, ty, 4 * u, 0, 7); // its top
      c.fillStyle = '#7ff0b0';
      c.fill();
      const w = c.measureText(f.label).width;
      c.fillStyle = 'rgb(0 0 0 / 75%)';
      const above = ty > 28 * u ? ty - 26 * u : ty + 8 * u; // in sight
      c.fillRect(tx - w / 2 - 4 * u, above, w + 8 * u, 18 * u);
      c.fillStyle = '#fff';
      c.fillText(f.label, tx - w / 2, above + 14 * u);
    }
  }
}
