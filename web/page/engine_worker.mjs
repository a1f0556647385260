// The engine in a worker, for the page: everything is fetched once, so that later commands and cancelled ones ask for nothing.
import { textOf } from '../errors.mjs';

async function fetched(name, as) {
  const got = await fetch(name);
  if (!got.ok) throw new Error(`${name}: ${got.status}`);
  return got[as]();
}

export class EngineWorker {
  static async load() {
    const [bytes, data, script] = await Promise.all([fetched('hespas.wasm', 'arrayBuffer'), fetched('data.json', 'json'), fetched('worker.js', 'blob')]);
    const parts = { module: await WebAssembly.compile(bytes), data };
    return new EngineWorker(parts, URL.createObjectURL(new Blob([script], { type: 'text/javascript' })));
  }

  constructor(parts, script) {
    this.parts = parts;
    this.script = script;
    this.next = 0;
    this.start();
  }

  start() {
    this.waiting = new Map();
    this.worker = new Worker(this.script);
    this.worker.onmessage = ({ data: { id, heard, answer } }) => {
      const waits = this.waiting.get(id);
      if (heard !== undefined) waits?.heard(heard);
      if (!answer) return;
      this.waiting.delete(id);
      waits?.resolve(answer);
    };
    this.worker.onerror = (event) => this.restart(textOf(event));
    this.worker.onmessageerror = () => this.restart(textOf(new RangeError('memory'))); // an answer that the page cannot hold
    this.worker.postMessage({ parts: this.parts });
  }

  command(args, { files, output, heard = () => {} }) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, heard });
      this.worker.postMessage({ id, args, files, output });
    });
  }

  // Ends what runs; its promises fail with `why`.
  restart(why) {
    this.worker.terminate();
    const ended = [...this.waiting.values()];
    this.start();
    for (const { reject } of ended) reject(new Error(why));
  }

  names(folder) {
    return Object.keys(this.parts.data).filter((path) => path.startsWith(`${folder}/`) && path.endsWith('.json')).map((path) => path.slice(folder.length + 1, -5)).sort();
  }
}
