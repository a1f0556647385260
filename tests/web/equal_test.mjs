// The engine's result.json against the command's, byte for byte: all workloads on one device of each kind, the example on every device
// and, with as many devices as that has, on every system preset; a smaller program on those of more than 1,024 devices.
//
// usage: node equal_test.mjs PACKAGE      HESPAS_ROOT, HESPAS_BIN: the tree and the native command
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';

import { comparable, five, native, workloads } from './answers.mjs';

const { command, devices, systems } = await import(pathToFileURL(path.resolve(process.argv[2], 'index.mjs')));
const small = five.find((program) => program.includes('/gemm/'));

async function equal(program, args) {
  const name = path.basename(program);
  const given = [...args, '--no-report', '--no-partition']; // XLA's partitioner is a Python program; without it, both refuse global programs
  const answer = await command(['run', name, ...given, '--output', '/output', '-q'], { files: { [`/${name}`]: fs.readFileSync(program) }, output: '/output' });
  let expected;
  try {
    expected = native(program, given);
  } catch (error) {
    assert.equal(answer.stderr, String(error.stderr));
    assert.equal(answer.status, error.status);
    const advice = /(--retarget) (\d+)/.exec(error.stderr); // the system has another size
    if (advice) await equal(advice[2] > 1024 ? small : program, [...args, ...advice.slice(1)]);
    return;
  }
  assert.equal(answer.status, 0, answer.stderr);
  const result = new TextDecoder().decode(answer.files['/output/result.json']);
  assert.equal(comparable(result), comparable(expected));
}

for (const device of ['H100_80GB', 'TPUv5e', 'MI300X']) {
  for (const program of workloads()) test(`${path.basename(program)} on ${device}`, () => equal(program, ['--device', device]));
}
for (const device of await devices()) test(`the example on ${device}`, () => equal(five[0], ['--device', device]));
for (const system of await systems()) test(`the example on ${system}`, () => equal(five[0], ['--device', 'A100_SXM_40GB', '--system', system]));
