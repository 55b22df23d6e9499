// The engine answers requests: JSON followed by bytes, in both directions. It is either the page's
// server, or the same code as WebAssembly in a worker. The rest of the page cannot tell the
// difference.

const encoder = new TextEncoder(), decoder = new TextDecoder();

function pack(request, body) {
  const text = encoder.encode(JSON.stringify(request));
  const frame = new Uint8Array(4 + text.length + (body ? body.length : 0));
  new DataView(frame.buffer).setUint32(0, text.length, true);
  frame.set(text, 4);
  if (body) frame.set(body, 4 + text.length);
  return frame;
}

function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const reply = JSON.parse(decoder.decode(new Uint8Array(buffer, 4, length)));
  if (reply.error) throw new Error(reply.error);
  return { ...(Array.isArray(reply) ? { list: reply } : reply), bytes: new Uint8Array(buffer, 4 + length) };
}

function server() {
  const session = [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');
  return {
    kind: 'server',
    async ask(request, body, signal) {
      let response;
      try {
        response = await fetch('api', { method: 'POST', body: pack(request, body), headers: { 'Boxsum-Session': session }, signal });
      } catch (e) {
        if (e.name === 'AbortError') throw e;
        throw new Error('boxsum view does not respond: it may have been stopped');
      }
      if (!response.ok) throw new Error((await response.text()).trim());
      return unpack(await response.arrayBuffer());
    },
  };
}

function wasm() {
  const worker = new Worker('worker.js');
  const waiting = new Map();
  let next = 0;
  worker.onmessage = ({ data }) => {
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) reject(new Error(data.error));
    else {
      try { resolve(unpack(data.reply)); } catch (e) { reject(e); }
    }
  };
  worker.onerror = (e) => { for (const { reject } of waiting.values()) reject(new Error(e.message || 'the engine could not be loaded')); };
  return {
    kind: 'wasm',
    ask(request, body) {
      const frame = pack(request, body), id = next++;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, frame: frame.buffer }, [frame.buffer]);
      });
    },
  };
}

export function connect() {
  const engine = document.querySelector('meta[name=boxsum-engine]').content === 'wasm' ? wasm() : server(), ask = engine.ask;
  engine.pending = 0; // requests in flight
  engine.ask = async (...args) => {
    engine.pending++;
    try { return await ask(...args); } finally { engine.pending--; }
  };
  return engine;
}

// latest runs one call at a time. While it runs, only the newest of the following calls is kept.
export function latest(run) {
  let busy = false, next = null;
  return function call(...args) {
    if (busy) { next = args; return; }
    busy = true;
    Promise.resolve(run(...args)).finally(() => {
      busy = false;
      if (next) { const again = next; next = null; call(...again); }
    });
  };
}
