// The histogram of oriented gradients of the cell under the pointer.
import { $, make, svg, number } from './dom.js';
import { latest } from './engine.js';

export class Gradients {
  constructor(app) {
    this.app = app;
    this.stage = app.stage;
    this.at = null; // where the pointer is; without one, the middle of the selected box counts
    this.ask = latest(() => this.answer());
    $('cell-size').onchange = () => this.look();
    $('image').addEventListener('pointerdown', (e) => this.hover(this.stage.at(e))); // a finger does not hover
    this.render();
  }

  // shown handles a change of the view.
  shown(view) {
    const active = view === 'gradients' && !!this.app.hello;
    if (active && !this.active) this.app.panes('image');
    if (this.active && view === 'boxes') this.app.panes(this.stage.doc?.table ? 'both' : 'image');
    this.active = active;
    if (active) $('show-tool').hidden = true;
    this.look();
  }

  reset() {
    this.at = null;
    this.look();
  }

  // key moves the cell by the arrow keys, and leaves others to the boxes.
  key(e) {
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (arrow && this.cell && !e.ctrlKey && !e.metaKey) {
      const side = Number($('cell-size').value), [x, y] = this.cell.box;
      this.hover({ x: x + arrow[0] * side, y: y + arrow[1] * side });
      e.preventDefault();
    } else if (arrow || '+=-0'.includes(e.key)) this.app.boxes.key(e);
  }

  hover(p) {
    this.at = p;
    this.look();
  }

  // look asks for the cell, unless it is there already.
  look() {
    if (!this.active || this.stage.doc?.kind !== 'image') {
      if (this.cell) { this.cell = this.result = null; this.stage.draw(); }
      this.render();
      return;
    }
    const d = this.stage.doc, b = this.app.boxes.selected, side = Number($('cell-size').value);
    const p = this.at || (b ? { x: (b.x0 + b.x1) / 2, y: (b.y0 + b.y1) / 2 } : { x: d.width / 2, y: d.height / 2 });
    if (!(p.x >= 0 && p.y >= 0 && p.x < d.width && p.y < d.height)) return;
    const x = Math.floor(p.x / side) * side, y = Math.floor(p.y / side) * side;
    const key = [d.id, this.stage.channel, x, y, side].join();
    if (this.cell?.key === key) return;
    this.cell = { key, box: [x, y, Math.min(x + side, d.width), Math.min(y + side, d.height)] };
    this.result = null;
    this.ask();
    this.stage.draw();
  }

  async answer() {
    const cell = this.cell;
    if (!cell) return;
    let result;
    try { result = await this.app.engine.ask({ do: 'gradients', doc: this.stage.doc.id, channel: this.stage.channel, box: cell.box }); } catch (e) { result = { error: e.message }; }
    if (cell !== this.cell) return;
    this.result = result;
    this.render();
    this.stage.draw();
  }

  render() {
    const host = $('gradient-chart'), doc = this.stage.doc;
    if (doc && doc.kind !== 'image') return host.replaceChildren(make('p', { className: 'hint' }, 'Gradients are available for images in memory.'));
    const { cell, result } = this;
    if (!cell || !result) return cell ? undefined : host.replaceChildren();
    if (result.error) return host.replaceChildren(make('p', { className: 'hint' }, result.error));
    const [x0, y0, x1, y1] = cell.box, { sums, centers } = result, total = sums.reduce((a, b) => a + b, 0), best = sums.indexOf(Math.max(...sums));
    const text = total ? `They add up to ${number(Math.round(total))} gray levels, ${Math.round((100 * sums[best]) / total)}% of them around ${number(centers[best])}°.` : 'All pixels are equal.';
    host.replaceChildren(bars(sums, centers), make('p', { id: 'gradient-text', className: 'hint', 'data-sums': sums.join(), 'data-cell': cell.box.join() },
      `Cell ${x1 - x0}×${y1 - y0} at (${x0}, ${y0}): its gradients by direction. ${text} On the image, lines run along the edges, across the gradients.`));
  }

  // overlay draws the cell and, for each bin, a line across its direction.
  overlay(c) {
    if (!this.active || !this.cell) return;
    const [x0, y0, x1, y1] = this.cell.box, s = this.stage, [left, top] = s.toScreen(x0, y0), [right, bottom] = s.toScreen(x1, y1);
    const sums = this.result?.sums, most = sums ? Math.max(...sums) : 0;
    for (const [color, width] of [['rgb(0 0 0 / 80%)', 4], ['#ffd24a', 1.75]]) {
      c.strokeStyle = color;
      c.lineWidth = width * s.unit;
      c.strokeRect(left, top, right - left, bottom - top);
      if (!most) continue;
      const radius = Math.max(Math.min(right - left, bottom - top) / 2, 18 * s.unit), cx = (left + right) / 2, cy = (top + bottom) / 2;
      c.beginPath();
      sums.forEach((v, i) => {
        const a = ((this.result.centers[i] + 90) * Math.PI) / 180, r = (radius * v) / most;
        c.moveTo(cx - r * Math.cos(a), cy - r * Math.sin(a));
        c.lineTo(cx + r * Math.cos(a), cy + r * Math.sin(a));
      });
      c.stroke();
    }
  }
}

// bars draws a bar for each bin, with the direction below it.
function bars(sums, centers) {
  const w = 320, height = 84, most = Math.max(...sums) || 1, step = w / sums.length;
  const parts = sums.map((v, i) => svg('rect', { class: 'bar', x: i * step + 2, width: step - 4, y: height - (v / most) * (height - 4), height: (v / most) * (height - 4) }, svg('title', {}, `${number(centers[i])}°: ${number(Math.round(v))}`)));
  const labels = centers.map((d, i) => svg('text', { x: (i + 0.5) * step, y: height + 14, 'text-anchor': 'middle' }, `${number(d)}°`));
  return svg('svg', { class: 'chart', viewBox: `0 0 ${w} ${height + 18}`, role: 'img', 'aria-label': 'Gradients by direction: ' + sums.map((v, i) => `${number(centers[i])}°: ${number(Math.round(v))}`).join(', ') }, svg('path', { class: 'axis', d: `M0 ${height}H${w}` }), ...parts, ...labels);
}
