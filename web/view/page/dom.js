// Helpers that create elements. Text is never parsed as HTML.
export const $ = (id) => document.getElementById(id);

export function make(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props)) {
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (k in e && k !== 'list' && k !== 'form') e[k] = v;
    else if (v !== null && v !== undefined) e.setAttribute(k, v);
  }
  e.append(...children);
  return e;
}

const space = 'http://www.w3.org/2000/svg';
export function svg(tag, props = {}, ...children) {
  const e = document.createElementNS(space, tag);
  for (const [k, v] of Object.entries(props)) if (v !== null && v !== undefined) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

// group separates thousands by commas.
function group(digits) { return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ','); }

// number formats a value for display: integers with all digits, other numbers with six. Text that
// is not a number is unchanged.
export function number(v) {
  if (v === null || v === undefined) return '–';
  if (typeof v === 'string') {
    if (/^[+-]?\d+$/.test(v)) return group(v); // 64-bit sums have more digits than a Number
    if (v === '' || !Number.isFinite(Number(v))) return v;
    v = Number(v);
  }
  if (Number.isInteger(v) && Math.abs(v) < 1e15) return group(String(v));
  const a = Math.abs(v);
  if (a < 1e-4 || a >= 1e12) return v.toExponential(5).replace(/\.?0+e/, 'e').replace('e+', 'e');
  const [whole, rest] = String(Number(v.toPrecision(6))).split('.');
  return group(whole) + (rest ? '.' + rest : '');
}

// exact formats a value with all its digits, for tooltips and files.
export function exact(v) { return v === null || v === undefined ? '' : String(v); }

export function millis(ms) {
  return ms < 1 ? `${(ms * 1000).toFixed(0)} µs` : ms < 100 ? `${ms.toFixed(1)} ms` : ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

export function save(name, type, text) {
  const a = make('a', { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

// codePanel shows code in three languages, with a button that copies it.
export function codePanel(host, load, savePixels) {
  let language = 'go', code = {};
  const pre = make('pre', { tabIndex: 0, role: 'region', 'aria-label': 'Code' });
  const buttons = ['go', 'python', 'shell'].map((name) => make('button', { type: 'button', onclick: () => { language = name; show(); } }, { go: 'Go', python: 'Python', shell: 'Shell' }[name]));
  const copy = make('button', { type: 'button', onclick: async () => {
    try { await navigator.clipboard.writeText(code[language]); copy.textContent = 'Copied'; } catch { copy.textContent = 'Select the text to copy it'; }
    setTimeout(() => { copy.textContent = 'Copy'; }, 1500);
  } }, 'Copy');
  const pixels = make('button', { type: 'button', hidden: !savePixels, onclick: () => savePixels(code.file, code.save) }, 'Save pixels');
  const show = () => {
    pixels.hidden = !savePixels || !code.file;
    buttons.forEach((b, i) => b.setAttribute('aria-pressed', String(['go', 'python', 'shell'][i] === language)));
    pre.textContent = code[language] || code.error || '';
    pre.dataset.language = language;
  };
  host.replaceChildren(make('div', { className: 'row' }, make('span', { className: 'group', role: 'group', ariaLabel: 'Language' }, ...buttons), copy, pixels), pre);
  const details = host.closest('details');
  const refresh = async () => {
    if (!details.open) return;
    try { code = await load(); } catch (e) { code = { error: e.message }; }
    show();
  };
  details.addEventListener('toggle', refresh);
  show();
  return refresh;
}
