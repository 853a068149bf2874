// The model: the WebAssembly module in a worker, asked in JSON.

/** Unpacks base64 text. */
function bytesOf(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Unpacks gzip. */
async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Runs in the worker. Its text is the worker's script, so it uses nothing of this page. */
function worker() {
  let model;
  const put = (bytes) => {
    const at = model.n2sim_input(bytes.length);
    new Uint8Array(model.memory.buffer, at, bytes.length).set(bytes);
  };
  let module;
  const start = async () => {
    model = (await WebAssembly.instantiate(module, {})).exports;
  };
  let trace;
  const answer = async ({ kind, bytes, text }) => {
    if (kind === "start") {
      module = await WebAssembly.compile(bytes);
      await start();
      return "";
    }
    if (kind === "trace") {
      trace = bytes;
      put(trace);
      model.n2sim_trace();
      return "";
    }
    try {
      put(new TextEncoder().encode(text));
      const length = model.n2sim_answer();
      return new TextDecoder().decode(new Uint8Array(model.memory.buffer, model.n2sim_output(), length));
    } catch (error) {
      // A trap leaves the module in an unknown state: begin with a new one.
      await start();
      if (trace) {
        put(trace);
        model.n2sim_trace();
      }
      return JSON.stringify({ error: "the model stopped: " + error.message });
    }
  };
  let last = Promise.resolve();
  onmessage = ({ data }) => {
    last = last.then(() => answer(data)).then((text) => postMessage({ id: data.id, text }));
  };
}

/** The model of this page. Requests are answered in order. */
class Model {
  constructor() {
    const script = new Blob([`(${worker})()`], { type: "text/javascript" });
    this.worker = new Worker(URL.createObjectURL(script));
    this.waiting = new Map();
    this.count = 0;
    this.worker.onmessage = ({ data }) => {
      this.waiting.get(data.id)(data.text);
      this.waiting.delete(data.id);
    };
  }

  send(message) {
    return new Promise((resolve) => {
      message.id = ++this.count;
      this.waiting.set(message.id, resolve);
      this.worker.postMessage(message);
    });
  }

  async start() {
    const packed = bytesOf(document.getElementById("model-data").textContent);
    await this.send({ kind: "start", bytes: await unpacked(packed) });
  }

  /** Gives the bytes of a trace (Uint8Array) to the model. */
  async setTrace(bytes) {
    await this.send({ kind: "trace", bytes });
  }

  /**
   * Asks; resolves to the answer, or throws an Error with a sentence for the reader and, if one is
   * at fault, the name of the field.
   */
  async ask(request) {
    const answer = JSON.parse(await this.send({ kind: "ask", text: JSON.stringify(request) }));
    if (answer.error !== undefined) throw Object.assign(new Error(answer.error), { field: answer.field });
    return answer.ok;
  }
}
