// The engine as WebAssembly. Requests wait until it is loaded.
importScripts('wasm_exec.js');

async function load() {
  const response = await fetch('boxsum.wasm.gz');
  if (!response.ok) throw new Error(`boxsum.wasm.gz could not be loaded (HTTP ${response.status})`);
  // Some servers decompress files that end in .gz.
  const bytes = new Uint8Array(await response.arrayBuffer());
  const packed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const stream = new Blob([bytes]).stream();
  const body = packed ? stream.pipeThrough(new DecompressionStream('gzip')) : stream;
  const go = new Go();
  const source = new Response(body, { headers: { 'Content-Type': 'application/wasm' } });
  const { instance } = await WebAssembly.instantiateStreaming(source, go.importObject);
  go.run(instance);
}

const ready = load();
onmessage = async ({ data }) => {
  try {
    await ready;
    const reply = boxsumDo(new Uint8Array(data.frame));
    postMessage({ id: data.id, reply: reply.buffer }, [reply.buffer]);
  } catch (e) {
    postMessage({ id: data.id, error: String(e.message || e) });
  }
};
