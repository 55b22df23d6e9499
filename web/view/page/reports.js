// Reports of boxsum reproduce and boxsum bench: charts, and all numbers in tables.
import { make, number } from './dom.js';
import { lines, table } from './chart.js';

let shown = null;

// plain lists fields that do not distinguish two results of one size, or are shown elsewhere.
const plain = new Set(['algorithm', 'name', 'gpu', 'on', 'precision', 'types', 'channels', 'width', 'height', 'depth', 'size', 'runs', 'repeat', 'bytes', 'verified', 'left_out', 'missing', 'title']);
const measured = /(_ms|^ms|per_second|gb_s|occupancy|registers|shared|copy|fraction|speed)/;

export async function showReport(app, host) {
  const d = app.report || 'bundled';
  if (shown === d || !app.hello) return;
  shown = d;
  host.replaceChildren(make('p', {}, 'Loading…'));
  let r;
  try {
    r = await app.engine.ask(d === 'bundled' ? { do: d } : { do: 'report', doc: d.id });
  } catch (e) {
    shown = null;
    host.replaceChildren(make('p', {}, e.message));
    return;
  }
  if (shown !== d) return;
  const results = (r.results || []).filter((x) => x && typeof x === 'object');
  const parts = [make('h3', {}, r.title || d.name)], facts = [];
  const help = d === 'bundled' ? 'These measurements come with boxsum. To see your own, open the results.json of a report or a file written by boxsum bench --json.' : '';
  if (r.made) facts.push(r.made);
  if (r.version) facts.push(r.version);
  if (r.command) facts.push(r.command);
  if (r.machine) facts.push([r.machine.cpu, r.machine.cores && `${r.machine.cores} cores`, r.machine.level, r.machine.device].filter(Boolean).join(', '));
  if (help) parts.push(make('p', {}, help));
  if (facts.length) parts.push(make('p', { className: 'hint' }, facts.join(' · ')));
  const groups = new Map();
  for (const x of results) {
    const ms = x.median_ms ?? x.ms ?? x.min_ms;
    const [w, h] = sizeOf(x);
    if (!(ms > 0) || !(w * h > 0)) continue;
    const group = [x.on || (x.gpu ? 'gpu' : 'cpu'), x.precision || x.types || '', x.channels > 1 ? `${x.channels} channels` : ''].filter(Boolean).join(', ');
    if (!groups.has(group)) groups.set(group, new Map());
    const name = [x.algorithm || x.name || 'result', ...Object.keys(x).filter((k) => !plain.has(k) && !measured.test(k) && ['number', 'string', 'boolean'].includes(typeof x[k])).map((k) => (x[k] === true ? k : `${k} ${x[k]}`))].join(', ');
    const lines = groups.get(group);
    if (!lines.has(name)) lines.set(name, []);
    lines.get(name).push([w * h, ms, x.verified === false ? 'not verified' : '', w, h]);
  }
  for (const [group, by] of groups) {
    const all = [...by].map(([name, points]) => ({ name, points })), series = all.filter((s) => new Set(s.points.map((p) => p[0])).size > 1); // one size makes no line
    const card = make('div', { className: 'card' });
    const sizes = new Map([...by.values()].flat().map((p) => [p[0], `${p[3]}×${p[4]}`]));
    const chunks = [];
    for (let i = 0; i < series.length; i += 10) chunks.push(series.slice(i, i + 10)); // more lines are hard to distinguish
    chunks.forEach((part, i) => card.append(lines({ title: `Time by size: ${group}${chunks.length > 1 ? ` (${i + 1} of ${chunks.length})` : ''}`, series: part, logX: true, logY: true, height: 320, x: { name: 'Image size', unit: '', format: (v) => sizes.get(v) || number(v) }, y: { name: 'Milliseconds', unit: 'ms' } })));
    if (!series.length) card.append(make('h3', {}, `Times at a single size: ${group}`));
    else if (series.length < all.length) card.append(make('p', { className: 'hint' }, `The table also has ${all.length - series.length} that were measured at a single size.`));
    const rows = [...by].flatMap(([name, points]) => points.map((p) => [name, `${p[3]}×${p[4]}`, number(p[1]), p[2] || 'yes']));
    card.append(make('details', { open: !series.length }, make('summary', {}, `All ${rows.length} results`), table(['Algorithm', 'Image', 'Median ms', 'Verified'], rows, group)));
    parts.push(card);
  }
  if (!groups.size) parts.push(make('p', {}, 'This report has no times by image size.'), make('pre', { tabIndex: 0 }, JSON.stringify(r.results, null, 2).slice(0, 100000)));
  host.replaceChildren(...parts);
}

function sizeOf(x) {
  if (x.width && x.height) return [x.width, x.height * (x.depth || 1)];
  const m = /^(\d+)[x×](\d+)/.exec(x.size || '');
  return m ? [Number(m[1]), Number(m[2])] : [0, 0];
}
