// The page: the open documents and the visible view.
import { $, make, millis, number, save } from './dom.js';
import { connect } from './engine.js';
import { Stage } from './viewer.js';
import { Boxes } from './boxes.js';
import { Gradients } from './gradients.js';
import { Work } from './work.js';
import { showHow } from './how.js';
import { showReport } from './reports.js';

const app = { engine: connect() };
const views = ['boxes', 'work', 'detect', 'gradients', 'how', 'reports'];

function say(text) { $('message').textContent = text || ''; }
app.say = say;

function route() {
  const name = views.includes(location.hash.slice(1)) ? location.hash.slice(1) : 'boxes';
  app.view = name;
  const section = name === 'detect' ? 'work' : name; // they share a panel
  for (const v of views) if (v !== 'detect') $('view-' + v).hidden = v !== section; // not the hash itself: the browser would scroll there
  $('stage').hidden = name === 'how' || name === 'reports';
  for (const a of document.querySelectorAll('nav a')) {
    if (a.hash === '#' + name) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  }
  if (name === 'how') showHow($('how-content'));
  if (name === 'reports') showReport(app, $('report-content'));
  app.work?.shown(name);
  app.gradients?.shown(name);
  $('drag-tool').hidden = !drawsBoxes();
  document.querySelector('.touch').hidden = !drawsBoxes();
  app.stage?.resized();
}

// drawsBoxes reports whether a drag on the image draws a box.
function drawsBoxes() { return app.view === 'boxes' || !!app.work?.wantsBox; }
app.drawsBoxes = drawsBoxes;

function describe(d) {
  const parts = [`${d.width}×${d.height}${d.depth ? '×' + d.depth : ''}${d.channels > 1 ? `, ${d.channels} channels` : ''}`, d.sum ? `${d.pixel} pixels, ${d.sum} sums` : d.pixel];
  if (d.ms) {
    const pixels = d.width * d.height * (d.depth || 1) * d.channels;
    parts.push(`tables of sums and squares built in ${millis(d.ms)} (${number(Math.round(pixels / d.ms / 1000))} megapixels/s, ${d.level}, ${d.workers} thread${d.workers > 1 ? 's' : ''})`);
  }
  if (d.missing) parts.push('NaN ignored');
  if (d.note) parts.push(d.note);
  return parts.join(' · ');
}

const upright = 'Integral image: each entry sums the pixels above and left of it';

function open(id) {
  const d = app.documents.find((o) => o.id === id);
  if (!d) return;
  $('document').value = String(id);
  say('');
  if (d.kind === 'report') {
    app.report = d;
    location.hash = '#reports';
    if (app.view === 'reports') showReport(app, $('report-content'));
    return;
  }
  $('slice-tool').hidden = !d.depth;
  $('slice').max = Math.max((d.depth || 1) - 1, 0);
  $('slice').value = 0;
  $('slice-value').textContent = '0';
  $('channel-tool').hidden = !(d.channels > 1);
  $('channel').replaceChildren(...Array.from({ length: d.channels || 1 }, (_, i) => make('option', { value: i }, String(i))));
  $('facts').textContent = describe(d);
  document.title = d.name + ' – boxsum';
  $('heat-caption').textContent = d.table ? upright : 'No table';
  $('image-caption').textContent = d.name === 'demo' ? 'Image, drawn by boxsum' : d.name;
  for (const id of ['show-both', 'show-heat']) $(id).disabled = !d.table;
  app.stage.show(d);
  if (app.view === 'boxes') app.panes(d.table ? 'both' : 'image');
  if (d.depth) slice(Math.floor(d.depth / 2));
  app.boxes.reset();
  app.gradients.reset();
  app.work.reset();
  document.body.dataset.open = d.name;
}

function slice(z) {
  $('slice').value = z;
  $('slice-value').textContent = String(z);
  app.stage.z = z;
  app.stage.draw();
}

function listDocuments() {
  $('document').replaceChildren(...app.documents.map((d) => make('option', { value: d.id }, d.name)));
}

// savePixels saves the file that the programs of the code panels read.
app.savePixels = async (name, request) => {
  try { save(name, 'application/octet-stream', (await app.engine.ask(request)).bytes); } catch (e) { say(e.message); }
  if (app.view === 'detect' && app.work.what === 'detect' && app.work.values.cascade === 'sun') save('sun.xml', 'text/xml', (await app.engine.ask({ do: 'cascade', cascade: 'sun' })).bytes);
};

async function take(name, body) {
  const r = await app.engine.ask({ do: 'open', name }, body);
  return taken(r);
}

function taken(r) {
  if (r.cascade) {
    app.work.addCascade(r.cascade);
    say('');
    return;
  }
  delete r.bytes;
  app.documents.push(r);
  listDocuments();
  open(r.id);
}

// addFiles opens files that were chosen, dropped or pasted.
async function addFiles(files) {
  for (const file of files) {
    say(`Opening ${file.name}…`);
    try {
      if (file.size > app.hello.body) throw new Error(`${file.name} is ${(file.size / 2 ** 20).toFixed(0)} MiB, but the page accepts at most ${(app.hello.body / 2 ** 20).toFixed(0)} MiB: name the file on the command line`);
      await take(file.name || 'pasted', new Uint8Array(await file.arrayBuffer()));
    } catch (e) { say(e.message); return; }
  }
}

// addFolder sends the files of a folder: a store, a report or slices.
async function addFolder(entry) {
  const all = [];
  const walk = async (dir, path) => {
    const reader = dir.createReader();
    for (;;) {
      const batch = await new Promise((ok, no) => reader.readEntries(ok, no));
      if (!batch.length) return;
      for (const e of batch) {
        if (e.isDirectory) await walk(e, path + e.name + '/');
        else all.push([path + e.name, await new Promise((ok, no) => e.file(ok, no))]);
      }
    }
  };
  try {
    say(`Opening ${entry.name}…`);
    await walk(entry, '');
    const total = all.reduce((n, [, f]) => n + f.size, 0);
    if (total > app.hello.body) throw new Error(`${entry.name} is ${(total / 2 ** 20).toFixed(0)} MiB, but the page accepts at most ${(app.hello.body / 2 ** 20).toFixed(0)} MiB: name the folder on the command line`);
    for (const [key, file] of all) await app.engine.ask({ do: 'put', name: entry.name, key }, new Uint8Array(await file.arrayBuffer()));
    taken(await app.engine.ask({ do: 'bundle', name: entry.name }));
  } catch (e) { say(e.message); }
}

function listen() {
  $('add').onclick = () => $('file').click();
  $('file').onchange = () => { addFiles([...$('file').files]); $('file').value = ''; };
  $('document').onchange = () => open(Number($('document').value));
  let inside = 0;
  addEventListener('dragenter', (e) => { e.preventDefault(); inside++; $('drop').hidden = false; });
  addEventListener('dragleave', () => { if (--inside <= 0) $('drop').hidden = true; });
  addEventListener('dragover', (e) => e.preventDefault());
  addEventListener('drop', async (e) => {
    e.preventDefault();
    inside = 0;
    $('drop').hidden = true;
    const entries = [...e.dataTransfer.items].map((i) => i.webkitGetAsEntry?.()), files = [...e.dataTransfer.files];
    if (!entries.some((x) => x?.isDirectory)) return addFiles(files);
    for (const [i, x] of entries.entries()) await (x?.isDirectory ? addFolder(x) : addFiles([files[i]]));
  });
  addEventListener('paste', (e) => {
    const files = [...(e.clipboardData?.files || [])];
    if (files.length) addFiles(files);
  });
  $('slice').oninput = () => slice(Number($('slice').value));
  $('channel').onchange = () => { app.stage.channel = Number($('channel').value); app.stage.draw(); if (app.boxes.selected) app.boxes.changed(app.boxes.selected); app.gradients.look(); };
  $('zoom-in').onclick = () => app.stage.zoom(1.5);
  $('zoom-out').onclick = () => app.stage.zoom(1 / 1.5);
  $('zoom-fit').onclick = () => app.stage.fit();
  $('zoom-one').onclick = () => app.stage.zoom(1 / app.stage.scale);
  const pressed = (on, ...rest) => { $(on).setAttribute('aria-pressed', 'true'); for (const id of rest) $(id).setAttribute('aria-pressed', 'false'); };
  app.panes = (what) => {
    const ids = { both: 'show-both', image: 'show-image', heat: 'show-heat' };
    pressed(ids[what], ...Object.values(ids).filter((i) => i !== ids[what]));
    $('image-pane').hidden = what === 'heat';
    $('heat-pane').hidden = what === 'image';
    $('panes').classList.toggle('one', what !== 'both');
    app.stage.resized();
    app.stage.fit();
  };
  app.stage.turned = (ratio) => { $('heat-caption').textContent = ratio ? `Rotated integral image, along ${ratio}` : upright; };
  $('show-both').onclick = () => app.panes('both');
  $('show-image').onclick = () => app.panes('image');
  $('show-heat').onclick = () => app.panes('heat');
  const mode = (m) => {
    app.stage.mode = m;
    app.stage.armed = m === 'box';
    pressed(m === 'pan' ? 'drag-pan' : 'drag-box', m === 'pan' ? 'drag-box' : 'drag-pan');
    for (const c of [$('image'), $('heat')]) { c.style.cursor = ''; c.classList.toggle('pan', m === 'pan'); }
  };
  $('drag-box').onclick = () => mode('box');
  $('drag-pan').onclick = () => mode('pan');
  $('theme').onclick = () => {
    const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
  };
  addEventListener('hashchange', route);
  new ResizeObserver(() => document.documentElement.style.setProperty('--header', `${document.querySelector('header').offsetHeight}px`)).observe(document.querySelector('header'));
  addEventListener('resize', () => app.stage.resized());
}

async function start() {
  app.stage = new Stage(app.engine, { image: $('image'), heat: $('heat') });
  app.boxes = new Boxes(app);
  app.gradients = new Gradients(app);
  app.work = new Work(app);
  app.stage.begin = (p, e, kind) => (drawsBoxes() ? app.boxes.begin(p, e, kind) : app.work.begin(p, e));
  app.stage.hover = (p, c) => {
    if (drawsBoxes()) app.boxes.hover(p, c);
    else app.work.hover(p, c);
    app.gradients.hover(p);
  };
  app.stage.holds = (p) => (drawsBoxes() ? !!app.boxes.hit(app.boxes.selected, p, true) : app.work.holds(p));
  app.stage.looked = () => app.work.looked();
  app.stage.key = (e) => (app.view === 'gradients' ? app.gradients.key(e) : app.boxes.key(e));
  app.stage.overlay = (c, kind, canvas) => { if (drawsBoxes()) app.boxes.overlay(c, kind, canvas); if (kind === 'image') app.gradients.overlay(c); if (app.work.active && kind === 'image') app.work.overlay(c); };
  app.stage.failed = (e, kind) => { if (kind === 'image') say(e.message); else $('heat-caption').textContent = e.message; };
  listen();
  route();
  say(app.engine.kind === 'wasm' ? 'Loading the engine…' : '');
  try {
    app.hello = await app.engine.ask({ do: 'hello' });
  } catch (e) { say(e.message); return; }
  say('');
  app.documents = app.hello.documents;
  app.work.ready();
  app.gradients.shown(app.view);
  listDocuments();
  const h = app.hello;
  if (app.view === 'reports') showReport(app, $('report-content'));
  $('engine').textContent = app.engine.kind === 'wasm' ? 'boxsum runs in this page as WebAssembly. Your files stay on this computer.' : `boxsum runs on this computer (${h.system}, ${h.level}, ${h.workers} threads). Your files stay on it.`;
  open((app.documents.find((d) => d.kind !== 'report') || app.documents[0]).id);
  const report = app.documents.find((d) => d.kind === 'report');
  if (report) {
    app.report = report;
    if (app.documents[0].kind === 'report') open(report.id);
  }
  document.body.dataset.ready = 'yes';
}

window.boxsum = app; // for the curious, and for tests
start();
