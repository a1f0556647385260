// Hespas under Node and in bundlers: answers of the `hespas` command as objects (index.d.ts).
import fs from 'node:fs/promises';

import { Engine } from '../engine.mjs';

let loading;
function engine() {
  loading ??= Promise.all([
    fs.readFile(new URL('hespas.wasm', import.meta.url)).then((bytes) => WebAssembly.compile(bytes)),
    fs.readFile(new URL('data.json', import.meta.url), 'utf8').then(JSON.parse),
  ]).then(([module, data]) => new Engine(module, data));
  return loading;
}

export class HespasError extends Error {
  constructor({ status, stderr }) {
    super(stderr.trim() || `hespas ended with status ${status}`);
    this.name = 'HespasError';
    this.status = status;
    this.code = /error\[(E\d+)\]/.exec(stderr)?.[1];
  }
}

export async function command(args, options = {}) {
  return (await engine()).command(args, options);
}

// `program`: text or bytes, compressed or not. Options become flags: {device: 'H100_80GB', numNpus: 8, keepKernels: true}.
function flags(options) {
  const words = [];
  for (const [name, value] of Object.entries(options)) {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each === true) words.push(flag);
      else if (each !== false && each !== undefined) words.push(flag, String(each));
    }
  }
  return words;
}

async function ask(name, program, { path = 'program.mlir', files = {}, ...options }, output) {
  const answer = await command([name, path, '--format', 'json', ...flags(options)], { files: { ...files, [`/${path}`]: program }, output });
  if (answer.status !== 0) throw new HespasError(answer);
  return answer;
}

export async function estimate(program, options = {}) {
  return JSON.parse((await ask('estimate', program, options)).stdout);
}

export async function run(program, { report = false, ...options } = {}) {
  const output = report ? '/output' : undefined;
  const answer = await ask('run', program, report ? { ...options, output } : options, output);
  const files = Object.fromEntries(Object.entries(answer.files).map(([path, content]) => [path.slice('/output/'.length), content]));
  return { ...JSON.parse(answer.stdout), ...(report ? { files } : {}) };
}

export async function devices() {
  return (await engine()).names('devices');
}

export async function systems() {
  return (await engine()).names('systems');
}
