// Boxes that are drawn, moved, resized and turned on the picture, with their values from the table.
import { $, make, svg, number, exact, millis, save, codePanel } from './dom.js';
import { histogram } from './chart.js';
import { latest } from './engine.js';

const grip = 9; // radius of a handle in pixels

export class Boxes {
  constructor(app) {
    this.app = app;
    this.stage = app.stage;
    this.list = [];
    this.selected = null;
    this.next = 1;
    this.kind = null;
    this.fields();
    this.ask = latest((box) => this.answer(box));
    this.askMore = latest((box) => this.more(box));
    $('new-box').onclick = () => this.create();
    $('delete-box').onclick = () => this.remove();
    $('csv').onclick = () => save('boxes.csv', 'text/csv', this.csv());
    $('json').onclick = () => save('boxes.json', 'application/json', JSON.stringify(this.export(), null, 2) + '\n');
    this.code = codePanel($('boxes-code'), () => this.loadCode(), (...file) => app.savePixels(...file));
    $('moments-part').addEventListener('toggle', () => this.askMore(this.selected));
  }

  get doc() { return this.stage.doc; }
  get deep() { return this.doc && this.doc.kind === 'volume'; }

  fields() {
    this.inputs = {};
    const names = { x0: 'Left', y0: 'Top', x1: 'Right', y1: 'Bottom', z0: 'Front', z1: 'Back', angle: 'Angle °' };
    for (const [key, label] of Object.entries(names)) {
      const input = make('input', { type: 'number', step: key === 'angle' ? 'any' : 1, name: key });
      input.addEventListener('input', () => { input.typing = true; });
      for (const end of ['change', 'blur']) input.addEventListener(end, () => { input.typing = false; });
      input.addEventListener('change', () => this.typed(key, Number(input.value)));
      this.inputs[key] = input;
      $('numbers').append(make('label', { id: 'field-' + key }, label, input));
    }
    $('numbers').addEventListener('submit', (e) => e.preventDefault());
  }

  typed(key, value) {
    const b = this.selected;
    if (!b || !Number.isFinite(value)) return this.fill();
    if (key !== 'angle') value = Math.round(value);
    b[key] = value;
    this.order(b);
    this.changed(b);
  }

  // order sorts the corners of a box and clips them to the image.
  order(b) {
    const d = this.doc, put = (v, most) => Math.min(Math.max(v, 0), most);
    [b.x0, b.x1] = [Math.min(b.x0, b.x1), Math.max(b.x0, b.x1)];
    [b.y0, b.y1] = [Math.min(b.y0, b.y1), Math.max(b.y0, b.y1)];
    if (!b.angle) [b.x0, b.x1, b.y0, b.y1] = [put(b.x0, d.width), put(b.x1, d.width), put(b.y0, d.height), put(b.y1, d.height)];
    if (this.deep) {
      [b.z0, b.z1] = [Math.min(b.z0, b.z1), Math.max(b.z0, b.z1)];
      [b.z0, b.z1] = [put(b.z0, d.depth), put(b.z1, d.depth)];
    }
    b.angle = ((((b.angle || 0) + 180) % 360) + 360) % 360 - 180;
  }

  reset() {
    this.list = [];
    this.selected = null;
    this.next = 1;
    this.kinds();
    for (const key of ['z0', 'z1']) $('field-' + key).hidden = !this.deep;
    $('numbers').classList.toggle('deep', !!this.deep);
    $('field-angle').hidden = !this.doc || this.doc.kind !== 'image';
    if (this.doc && this.doc.kind !== 'report') {
      const { width: w, height: h } = this.doc;
      if (this.doc.demo) this.add({ x0: 1050, y0: 290, x1: 1330, y1: 570 });
      else if (!this.doc.table) this.add({ x0: Math.max(0, (w >> 1) - 512), y0: Math.max(0, (h >> 1) - 512), x1: Math.min(w, (w >> 1) + 512), y1: Math.min(h, (h >> 1) + 512) }); // summed from its pixels
      else this.add({ x0: Math.round(w * 0.35), y0: Math.round(h * 0.35), x1: Math.max(Math.round(w * 0.65), 1), y1: Math.max(Math.round(h * 0.65), 1) });
    }
    this.render();
  }

  add(box) {
    const b = { angle: 0, name: 'Box ' + this.next++, ...box };
    if (this.deep) { b.z0 ??= 0; b.z1 ??= this.doc.depth; }
    this.list.push(b);
    if (this.list.length > 1 && !this.listed) this.listed = $('all-boxes').open = true;
    this.order(b);
    this.select(b);
    this.changed(b);
    return b;
  }

  create() {
    const [x0, y0, x1, y1] = this.stage.view(), w = Math.max(1, Math.round((x1 - x0) / 4)), h = Math.max(1, Math.round((y1 - y0) / 4));
    const x = Math.round((x0 + x1 - w) / 2), y = Math.round((y0 + y1 - h) / 2);
    this.add({ x0: x, y0: y, x1: x + w, y1: y + h });
  }

  remove() {
    this.list = this.list.filter((b) => b !== this.selected);
    this.select(this.list[this.list.length - 1] || null);
  }

  select(b) {
    this.selected = b;
    this.turnTable();
    this.render();
    if (b) { this.askMore(b); this.code(); }
    this.stage.draw();
  }

  // turnTable displays the table that the selected box is read from.
  turnTable() {
    const b = this.selected, ratio = b?.angle ? b.answer?.ratio : '';
    if (ratio !== undefined) this.stage.turn(ratio && !ratio.startsWith('0/') ? ratio : '');
  }

  changed(b) {
    this.fill();
    this.stage.draw();
    b.since = performance.now();
    this.ask(b);
    this.askMore(b);
    this.app.boxChanged?.();
  }

  rect(b) { return [(b.x0 + b.x1) / 2, (b.y0 + b.y1) / 2, b.x1 - b.x0, b.y1 - b.y0, b.angle]; }
  corners(b) { return this.deep ? [b.x0, b.y0, b.z0, b.x1, b.y1, b.z1] : [b.x0, b.y0, b.x1, b.y1]; }

  request(b) {
    const base = { doc: this.doc.id, channel: this.stage.channel, z: this.stage.z };
    return b.angle ? { do: 'rotated', rect: this.rect(b), limit: 8, ...base } : { do: 'boxes', boxes: [this.corners(b)], ...base };
  }

  // answer requests the numbers of a box; a drag waits for it.
  async answer(b) {
    if (!b || !this.list.includes(b)) return;
    const doc = this.doc, asked = b.angle;
    try {
      const r = await this.app.engine.ask(this.request(b));
      if (doc !== this.doc) return;
      b.answer = b.angle ? r : r.boxes[0];
      b.error = null;
      if (b.angle) {
        b.histogram = r.histogram;
        if (!b.turning && b.angle === asked) b.angle = r.degrees; // unless it was turned meanwhile
      }
    } catch (e) {
      b.answer = null;
      b.error = e.message;
    }
    b.latency = performance.now() - b.since;
    this.turnTable();
    this.render();
    this.stage.draw();
    document.body.dataset.latency = b.latency.toFixed(2);
  }

  // more requests slower results: histogram, feature, moments.
  async more(b) {
    if (!b || b !== this.selected) return;
    const base = { doc: this.doc.id, channel: this.stage.channel, z: this.stage.z }, doc = this.doc;
    const ask = async (request) => {
      try { return await this.app.engine.ask({ ...base, ...request }); } catch (e) { return { error: e.message }; }
    };
    b.histogram = b.angle ? b.answer?.histogram || b.histogram : await ask({ do: 'histogram', box: this.corners(b) });
    if (doc !== this.doc) return;
    if (b.histogram?.error?.includes('being made')) setTimeout(() => { if (b === this.selected) this.askMore(b); }, 400);
    if (b === this.selected) this.renderMore();
    if (this.kind && doc.kind !== 'volume') {
      const box = this.featureBox(b);
      const request = { do: 'feature', kind: this.kind.name, box };
      if (b.angle && b.answer?.ratio) {
        const [cx, cy] = this.rect(b), r = (b.answer.degrees * Math.PI) / 180, [w, h] = [box[2] - box[0], box[3] - box[1]];
        const x = Math.round(cx - (w * Math.cos(r) + h * Math.sin(r)) / 2), y = Math.round(cy - (h * Math.cos(r) - w * Math.sin(r)) / 2);
        Object.assign(request, { ratio: b.answer.ratio, box: [x, y, x + w, y + h] });
      }
      b.feature = await ask(request);
      b.feature.request = request;
    } else b.feature = null;
    if (b === this.selected) this.renderMore();
    if ($('moments-part').open && doc.kind !== 'volume' && !b.angle) b.moments = await ask({ do: 'moments', box: this.corners(b) });
    if (b === this.selected) { this.renderMore(); this.code(); }
    this.stage.draw();
  }

  // featureBox returns the largest box in this one that a feature's cells divide.
  featureBox(b) {
    const w = Math.max(this.kind.across, Math.floor((b.x1 - b.x0) / this.kind.across) * this.kind.across), h = Math.max(this.kind.down, Math.floor((b.y1 - b.y0) / this.kind.down) * this.kind.down);
    return [b.x0, b.y0, b.x0 + w, b.y0 + h];
  }

  kinds() {
    const host = $('palette');
    if (host.children.length || !this.app.hello) return;
    const none = make('button', { type: 'button', onclick: () => this.choose(null) }, 'None');
    none.style.lineHeight = '1.5';
    this.kindButtons = [[null, none]];
    for (const k of this.app.hello.kinds) {
      const b = make('button', { type: 'button', title: k.name, onclick: () => this.choose(k) }, featureIcon(k));
      b.setAttribute('aria-label', k.name);
      this.kindButtons.push([k, b]);
    }
    host.replaceChildren(...this.kindButtons.map(([, b]) => b));
    this.choose(null);
  }

  choose(k) {
    this.kind = k;
    for (const [kind, b] of this.kindButtons) b.setAttribute('aria-pressed', String(kind === k));
    if (this.selected) this.askMore(this.selected);
  }

  fill() {
    const b = this.selected;
    for (const [key, input] of Object.entries(this.inputs)) {
      input.disabled = !b;
      if (!input.typing) input.value = b ? (key === 'angle' ? Number(b.angle.toFixed(3)) : b[key] ?? '') : '';
    }
  }

  render() {
    this.fill();
    const b = this.selected, a = b?.answer;
    const rows = [['Sum', a?.sum], ['Mean', a?.mean], ['Standard deviation', a?.std], [this.deep ? 'Voxels' : 'Area', a?.area, this.deep ? '' : ' px']];
    if (b?.angle && a) rows.push(['Ratio', a.ratio], ['Angle', a.degrees, '°']);
    const value = (name, v, unit = '') => make('div', {}, make('dt', {}, name), make('dd', { id: 'stat-' + name.toLowerCase().replace(/ .*/, ''), title: exact(v), 'data-value': exact(v) }, v === undefined ? '–' : number(v) + unit));
    const median = b?.histogram && !b.histogram.error ? b.histogram.median : undefined;
    $('stats').replaceChildren(...rows.map(([name, v, unit]) => value(name, a ? v : undefined, unit)), value('Median', median),
      make('div', {}, make('dt', {}, 'Answered in'), make('dd', { id: 'stat-latency' }, b?.latency ? millis(b.latency) : '–')));
    $('all-title').textContent = this.list.length === 1 ? 'All boxes' : `All ${this.list.length} boxes`;
    $('delete-box').disabled = !b;
    $('problem').hidden = !b?.error;
    $('problem').textContent = b?.error || '';
    if (a?.entries?.length) {
      const rowsOf = a.entries.map((e) => make('tr', {}, make('td', { className: e.sign > 0 ? 'plus' : 'minus' }, e.sign > 0 ? '+' : '−'), make('td', {}, `T(${e.at.join(', ')})`), make('td', {}, number(e.value))));
      $('entries').replaceChildren(make('table', {}, make('caption', { className: 'quiet' }, b.angle ? `Four entries of the table along ${a.ratio}` : `The sum is ${a.entries.length} entries, added and subtracted`), make('tbody', {}, ...rowsOf, make('tr', {}, make('td', {}, '='), make('td', {}, 'Sum'), make('td', {}, number(a.sum))))));
    } else $('entries').replaceChildren(make('p', { className: 'hint' }, this.doc?.note || 'Draw a box on the image.'));
    const head = ['', 'Box', 'Sum', 'Mean', 'Std', 'Area', ...(this.deep ? ['x0', 'y0', 'z0', 'x1', 'y1', 'z1'] : ['x0', 'y0', 'x1', 'y1']), '°'];
    $('list').tHead.replaceChildren(make('tr', {}, ...head.map((h) => (h ? make('th', { scope: 'col' }, h) : make('td', {})))));
    const focused = $('list').contains(document.activeElement); // the new rows keep the focus
    $('list').tBodies[0].replaceChildren(...this.list.map((one) => {
      const radio = make('input', { type: 'radio', name: 'selected', checked: one === b, ariaLabel: 'Select ' + one.name });
      radio.addEventListener('change', () => this.select(one));
      const r = make('tr', { className: one === b ? 'on' : '' }, make('td', {}, radio), make('td', {}, one.name), ...['sum', 'mean', 'std', 'area'].map((k) => make('td', {}, one.answer ? number(one.answer[k]) : '')),
        ...this.corners(one).map((v) => make('td', {}, String(v))), make('td', {}, number(Number(one.angle.toFixed(2)))));
      r.addEventListener('click', () => { if (one !== this.selected) this.select(one); });
      return r;
    }));
    if (focused) $('list').querySelector('input:checked')?.focus();
    this.renderMore();
  }

  renderMore() {
    const b = this.selected, h = b?.histogram;
    $('spark').replaceChildren(...(h && !h.error && h.counts ? [histogram(h), make('p', { className: 'hint' }, `Histogram${h.of ? ' of ' + h.of : ''}. The line marks the median.`)] : h?.error ? [make('p', { className: 'hint' }, h.error)] : []));
    const median = $('stat-median');
    if (median && h && !h.error) {
      median.textContent = (h.exact === false ? '≈ ' : '') + number(h.median);
      median.dataset.value = median.title = exact(h.median);
    }
    const f = b?.feature;
    $('feature').replaceChildren(...(!this.kind ? [] : f?.error ? [make('p', { className: 'hint' }, f.error)] : f ? [make('table', {}, make('tbody', {},
      ...[['Kind', f.kind], ['Value', f.value], ['Corrected for area', f.corrected], ['Pixels added', f.plus], ['Pixels subtracted', f.minus]].map(([k, v]) => make('tr', {}, make('td', {}, k), make('td', { id: 'feature-' + k.split(' ')[0].toLowerCase(), title: exact(v), 'data-value': exact(v) }, number(v))))))] : []));
    const m = b?.moments;
    $('moments').replaceChildren(...(b?.angle || this.deep ? [make('p', { className: 'hint' }, 'Moments are available for upright boxes in images.')] : m?.error ? [make('p', { className: 'hint' }, m.error)] : m ? [make('table', {}, make('tbody', {},
      ...[['Mass m00', m.m00], ['Centroid x', m.centroid?.[0]], ['Centroid y', m.centroid?.[1]], ['Major semi-axis', m.ellipse[0]], ['Minor semi-axis', m.ellipse[1]], ['Orientation °', m.ellipse[2]], ...m.hu.map((v, i) => ['Hu ' + (i + 1), v])].map(([k, v]) => make('tr', {}, make('td', {}, k), make('td', { id: 'moment-' + k.replace(/\W+/g, '-').toLowerCase(), title: exact(v), 'data-value': exact(v) }, number(v))))))] : []));
  }

  async loadCode() {
    const b = this.selected;
    if (!b) return { go: '', python: '', shell: '' };
    const what = b.feature && !b.feature.error && this.kind ? b.feature.request : $('moments-part').open && !b.angle && !this.deep ? { do: 'moments', box: this.corners(b) } : b.angle ? this.request(b) : { do: 'boxes', boxes: this.list.filter((o) => !o.angle).map((o) => this.corners(o)) };
    return this.app.engine.ask({ do: 'code', doc: this.doc.id, what: { ...what, channel: this.stage.channel, z: this.stage.z } });
  }

  export() {
    return this.list.map((b) => {
      const a = b.answer || {}, sum = Number.isSafeInteger(Number(a.sum)) || /[.e]/.test(a.sum || '') ? Number(a.sum) : a.sum;
      const out = { name: b.name, box: this.corners(b), sum, mean: a.mean, std: a.std, area: a.area };
      return b.angle ? { ...out, angle: b.angle, ratio: a.ratio, cells: a.cells } : out;
    });
  }

  csv() {
    const head = this.deep ? 'name,x0,y0,z0,x1,y1,z1,angle,sum,mean,std,area' : 'name,x0,y0,x1,y1,angle,sum,mean,std,area';
    return [head, ...this.list.map((b) => [b.name, ...this.corners(b), b.angle, b.answer?.sum ?? '', b.answer?.mean ?? '', b.answer?.std ?? '', b.answer?.area ?? ''].join(','))].join('\n') + '\n';
  }

  // handles returns the positions of a box's handles, in pixels of the image.
  handles(b) {
    const [cx, cy, w, h] = this.rect(b), r = (-b.angle * Math.PI) / 180, cos = Math.cos(r), sin = Math.sin(r);
    const at = (u, v) => [cx + (u * w * cos) / 2 - (v * h * sin) / 2, cy + (u * w * sin) / 2 + (v * h * cos) / 2];
    const all = {};
    for (const [name, u, v] of [['nw', -1, -1], ['n', 0, -1], ['ne', 1, -1], ['e', 1, 0], ['se', 1, 1], ['s', 0, 1], ['sw', -1, 1], ['w', -1, 0]]) all[name] = at(u, v);
    if (this.doc.kind === 'image') {
      const [nx, ny] = all.n, away = (26 * this.stage.unit) / this.stage.scale;
      all.turn = [nx + sin * away, ny - cos * away];
    }
    return all;
  }

  hit(b, p, touch) {
    if (!b) return null;
    const reach = (touch ? grip * 2.2 : grip) * this.stage.unit;
    for (const [name, [x, y]] of Object.entries(this.handles(b))) {
      const [sx, sy] = this.stage.toScreen(x, y);
      if (Math.hypot(sx - p.sx, sy - p.sy) <= reach) return name;
    }
    const [cx, cy, w, h] = this.rect(b), r = (b.angle * Math.PI) / 180, dx = p.x - cx, dy = p.y - cy;
    const u = dx * Math.cos(r) - dy * Math.sin(r), v = dx * Math.sin(r) + dy * Math.cos(r);
    return Math.abs(u) <= w / 2 && Math.abs(v) <= h / 2 ? 'move' : null;
  }

  begin(p, event) {
    const touch = event.pointerType === 'touch';
    let b = this.selected, part = this.hit(b, p, touch);
    if (!part || part === 'move') {
      const other = [...this.list].reverse().find((o) => o !== b && this.hit(o, p) === 'move' && (!part || (o.x1 - o.x0) * (o.y1 - o.y0) < (b.x1 - b.x0) * (b.y1 - b.y0)));
      if (other) { this.select(b = other); part = 'move'; }
    }
    if (!part || event.shiftKey) {
      const x = Math.round(p.x), y = Math.round(p.y);
      let fresh = null;
      return { move: (q) => {
        if (!fresh && Math.hypot(q.sx - p.sx, q.sy - p.sy) < 3) return;
        fresh ||= this.add({ x0: x, y0: y, x1: x, y1: y });
        Object.assign(fresh, { x0: x, y0: y, x1: Math.round(q.x), y1: Math.round(q.y) });
        const keep = { ...fresh };
        this.order(fresh);
        this.changed(fresh);
        fresh.from = keep;
      }, end: () => {
        this.stage.armed = false;
        if (fresh && (fresh.x0 === fresh.x1 || fresh.y0 === fresh.y1)) { this.selected = fresh; this.remove(); }
      } };
    }
    const start = { ...b };
    if (part === 'turn') {
      const [cx, cy] = this.rect(b);
      return { move: (q) => {
        b.turning = true;
        b.angle = (Math.atan2(q.x - cx, cy - q.y) * -180) / Math.PI;
        if (Math.abs(b.angle) < 1.5) b.angle = 0;
        this.changed(b);
      }, end: () => {
        b.turning = false; // the answer contains the nearest ratio
        this.changed(b);
      } };
    }
    return { move: (q) => {
      const dx = Math.round(q.x - p.x), dy = Math.round(q.y - p.y);
      if (part === 'move') this.shift(b, start, dx, dy);
      else {
        const r = (start.angle * Math.PI) / 180, u = Math.round(dx * Math.cos(r) - dy * Math.sin(r)), v = Math.round(dx * Math.sin(r) + dy * Math.cos(r));
        Object.assign(b, { x0: start.x0, y0: start.y0, x1: start.x1, y1: start.y1 });
        if (part.includes('w')) b.x0 += u;
        if (part.includes('e')) b.x1 += u;
        if (part.includes('n')) b.y0 += v;
        if (part.includes('s')) b.y1 += v;
        this.order(b);
      }
      this.changed(b);
    } };
  }

  shift(b, from, dx, dy) {
    const d = this.doc, w = from.x1 - from.x0, h = from.y1 - from.y0;
    b.x0 = from.x0 + dx;
    b.y0 = from.y0 + dy;
    if (!b.angle) {
      b.x0 = Math.min(Math.max(b.x0, 0), Math.max(d.width - w, 0));
      b.y0 = Math.min(Math.max(b.y0, 0), Math.max(d.height - h, 0));
    }
    b.x1 = b.x0 + w;
    b.y1 = b.y0 + h;
  }

  hover(p, canvas) {
    const part = this.hit(this.selected, p);
    canvas.style.cursor = { nw: 'nwse-resize', se: 'nwse-resize', ne: 'nesw-resize', sw: 'nesw-resize', n: 'ns-resize', s: 'ns-resize', e: 'ew-resize', w: 'ew-resize', move: 'move', turn: 'grab' }[part] || '';
  }

  key(e) {
    const b = this.selected, by = e.shiftKey ? 10 : 1;
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (arrow && (e.ctrlKey || e.metaKey || !b)) this.stage.pan(-arrow[0] * 60, -arrow[1] * 60);
    else if (arrow && e.altKey) {
      b.x1 = Math.max(b.x0 + 1, b.x1 + arrow[0] * by);
      b.y1 = Math.max(b.y0 + 1, b.y1 + arrow[1] * by);
      this.order(b);
      this.changed(b);
    } else if (arrow) {
      this.shift(b, { ...b }, arrow[0] * by, arrow[1] * by);
      this.changed(b);
    } else if (e.key === '+' || e.key === '=') this.stage.zoom(1.4);
    else if (e.key === '-') this.stage.zoom(1 / 1.4);
    else if (e.key === '0') this.stage.fit();
    else if (e.key === 'n' || e.key === 'N') this.create();
    else if ((e.key === '[' || e.key === ']') && b && this.doc.kind === 'image') {
      const snaps = ratios(), now = snaps.reduce((best, s, i) => (Math.abs(s - b.angle) < Math.abs(snaps[best] - b.angle) ? i : best), 0);
      b.angle = snaps[Math.min(Math.max(now + (e.key === '[' ? 1 : -1), 0), snaps.length - 1)];
      this.changed(b);
    } else if (e.key === 'Delete' || e.key === 'Backspace') this.remove();
    else return;
    e.preventDefault();
  }

  // overlay draws the boxes, and the table entries of the selected one.
  overlay(c, kind) {
    const u = this.stage.unit;
    for (const b of this.list) {
      const on = b === this.selected;
      if (on && kind === 'image' && b.angle && b.answer?.spans) this.fillSpans(c, b.answer.spans, 'rgb(255 255 255 / 35%)');
      if (on && this.kind && b.feature?.parts && kind === 'image') {
        for (const p of b.feature.parts) {
          const fill = p.weight > 0 ? 'rgb(255 255 255 / 55%)' : 'rgb(0 0 0 / 55%)';
          if (p.spans) this.fillSpans(c, p.spans, fill);
          else {
            const [x, y] = this.stage.toScreen(p.box[0], p.box[1]), [u, v] = this.stage.toScreen(p.box[2], p.box[3]);
            c.fillStyle = fill;
            c.fillRect(x, y, u - x, v - y);
          }
        }
      }
      const h = this.handles(b);
      c.beginPath();
      for (const name of ['nw', 'ne', 'se', 'sw']) c.lineTo(...this.stage.toScreen(...h[name]));
      c.closePath();
      const faded = this.deep && (this.stage.z < b.z0 || this.stage.z >= b.z1);
      c.setLineDash(faded ? [4, 4] : []);
      c.strokeStyle = '#000';
      c.lineWidth = (on ? 4 : 3) * u;
      c.stroke();
      c.strokeStyle = on ? '#ffd27a' : '#ffffff';
      c.lineWidth = (on ? 2 : 1) * u;
      c.stroke();
      c.setLineDash([]);
      if (!on) continue;
      if (kind === 'image') {
        if (h.turn) {
          c.beginPath();
          c.moveTo(...this.stage.toScreen(...h.n));
          c.lineTo(...this.stage.toScreen(...h.turn));
          c.stroke();
        }
        for (const [name, [x, y]] of Object.entries(h)) {
          const [sx, sy] = this.stage.toScreen(x, y);
          c.beginPath();
          if (name === 'turn') c.arc(sx, sy, 6 * u, 0, 7);
          else c.rect(sx - 4 * u, sy - 4 * u, 8 * u, 8 * u);
          c.fillStyle = '#ffd27a';
          c.fill();
          c.strokeStyle = '#000';
          c.lineWidth = 1;
          c.stroke();
        }
      }
      if (b.answer?.entries) for (const e of b.answer.entries) this.mark(c, e, kind, b);
    }
  }

  fillSpans(c, spans, fill) {
    c.fillStyle = fill;
    const s = this.stage.scale;
    for (const [y, x0, x1] of spans) {
      const [sx, sy] = this.stage.toScreen(x0, y);
      c.fillRect(sx, sy, (x1 - x0) * s, s + 0.3);
    }
  }

  // mark draws an entry of the table: a circle with its sign.
  mark(c, e, kind, b) {
    const [sx, sy] = this.stage.toScreen(e.at[0], e.at[1]);
    if (this.deep) { // entries of the far side are slightly offset from those of the near one
      const far = e.at[2] === b.z1 ? 0 : 1, off = far * 13 * this.stage.unit;
      this.sign(c, sx + off * 0.7, sy - off, e.sign, kind === 'heat' ? 9 : 7, far ? 0.75 : 1);
      return;
    }
    this.sign(c, sx, sy, e.sign, kind === 'heat' ? 10 : 8, 1);
  }

  sign(c, x, y, sign, r, alpha) {
    r *= this.stage.unit;
    c.globalAlpha = alpha;
    c.beginPath();
    c.arc(x, y, r, 0, 7);
    c.fillStyle = sign > 0 ? '#12652f' : '#98203a';
    c.fill();
    c.strokeStyle = '#fff';
    c.lineWidth = 1.5;
    c.stroke();
    c.beginPath();
    c.moveTo(x - r / 2, y);
    c.lineTo(x + r / 2, y);
    if (sign > 0) {
      c.moveTo(x, y - r / 2);
      c.lineTo(x, y + r / 2);
    }
    c.lineWidth = 2;
    c.stroke();
    c.globalAlpha = 1;
  }
}

// ratios returns the angles of all a/b with small numbers, from -90° to 90°.
function ratios() {
  const all = new Set();
  for (let b = 0; b <= 8; b++) for (let a = -8; a <= 8; a++) if (a || b) all.add(Number(((Math.atan2(a, b) * 180) / Math.PI).toFixed(9)));
  return [...all].sort((a, b) => a - b);
}

function featureIcon(k) {
  const cells = { EdgeX: [[0, 0, 1, 2, 0], [1, 0, 1, 2, 1]], EdgeY: [[0, 0, 2, 1, 0], [0, 1, 2, 1, 1]], LineX: [[0, 0, 1, 3, 0], [1, 0, 1, 3, 1], [2, 0, 1, 3, 0]], LineY: [[0, 0, 3, 1, 0], [0, 1, 3, 1, 1], [0, 2, 3, 1, 0]],
    LineX4: [[0, 0, 1, 4, 0], [1, 0, 2, 4, 1], [3, 0, 1, 4, 0]], LineY4: [[0, 0, 4, 1, 0], [0, 1, 4, 2, 1], [0, 3, 4, 1, 0]], Diagonal: [[0, 0, 1, 1, 1], [1, 0, 1, 1, 0], [0, 1, 1, 1, 0], [1, 1, 1, 1, 1]], CenterSurround: [[0, 0, 3, 3, 0], [1, 1, 1, 1, 1]] }[k.name] || [];
  const n = Math.max(k.across, k.down), side = { EdgeX: 2, EdgeY: 2, Diagonal: 2 }[k.name] || (n > 3 ? 4 : 3);
  return svg('svg', { viewBox: `-0.1 -0.1 ${side + 0.2} ${side + 0.2}`, 'aria-hidden': 'true' }, ...cells.map(([x, y, w, h, dark]) => svg('rect', { x, y, width: w, height: h, fill: dark ? '#222' : '#fff', stroke: '#888', 'stroke-width': 0.06 })));
}
