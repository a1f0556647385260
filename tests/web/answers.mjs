// What tests of the engine in WebAssembly share: the command's result.json, and what of it may differ.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const root = process.env.HESPAS_ROOT;
const command = path.join(process.env.HESPAS_BIN, 'hespas');

// The line of the command itself is the only field of the environment: it names the program's folder and the output's.
export const comparable = (text) => text.replace(/^ *"command": .*\n/m, '');

// Runs the command in a folder of its own, where the program has the name that the engine sees.
export function native(program, args) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hespas-web-'));
  try {
    const name = path.basename(program);
    fs.copyFileSync(program, path.join(folder, name));
    execFileSync(command, ['run', name, ...args, '--output', 'output', '-q'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    return fs.readFileSync(path.join(folder, 'output/result.json'), 'utf8');
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

// What the command says of a program that it refuses.
export function refusal(program, args) {
  try {
    native(program, args);
  } catch (error) {
    return String(error.stderr).trim();
  }
  throw new Error(`the command takes ${program}`);
}

// Programs of the tree: every workload that ships.
export function workloads() {
  const found = ['data/workloads', 'data/workloads/gemm', 'examples'].flatMap((folder) => fs.readdirSync(path.join(root, folder)).map((name) => path.join(root, folder, name)));
  return found.filter((file) => /\.mlir(\.gz|\.zst)?$/.test(file)).sort();
}

// The cases that every test of the engine runs, tests/web/native_test.py as well.
export const five = JSON.parse(fs.readFileSync(new URL('five.json', import.meta.url))).map((name) => path.join(root, name));
