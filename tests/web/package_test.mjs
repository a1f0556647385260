// The npm package under Node: answers, files and errors are those of the command.
//
// usage: node package_test.mjs PACKAGE      HESPAS_ROOT, HESPAS_BIN: the tree and the native command
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import zlib from 'node:zlib';

import { comparable, five, native } from './answers.mjs';

const hespas = await import(pathToFileURL(path.resolve(process.argv[2], 'index.mjs')));
const device = 'H100_80GB';

for (const program of five) {
  const name = path.basename(program);
  test(`result.json of ${name} is the command's`, async () => {
    const { files, step_time_ps } = await hespas.run(fs.readFileSync(program), { device, path: name, report: true });
    const result = new TextDecoder().decode(files['result.json']);
    assert.equal(comparable(result), comparable(native(program, ['--device', device])));
    assert.equal(JSON.parse(result).step_time_ps, step_time_ps);
    assert.ok(new TextDecoder().decode(files['report.html']).includes('</html>'));
    assert.ok(files['timeline.pftrace'].length > 0);
  });
}

test('estimates a text', async () => {
  const text = 'func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {\n  %0 = stablehlo.add %a, %a : tensor<64x64xf32>\n  return %0 : tensor<64x64xf32>\n}\n';
  const rows = await hespas.estimate(text, { device });
  assert.deepEqual(rows.map((row) => row.count).filter(Boolean).length > 0, true);
  assert.ok(rows.some((row) => row.time_s > 0));
});

test('lists the presets', async () => {
  assert.ok((await hespas.devices()).includes(device));
  assert.ok((await hespas.systems()).includes('A100_SXM_40GB_4GPU'));
});

test('errors have the place, the line and the code', async () => {
  const text = 'func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.add %a, %b : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n';
  await assert.rejects(hespas.run(text, { device }), (error) => {
    assert.equal(error.status, 1);
    assert.match(error.code, /^E\d{4}$/);
    assert.match(error.message, /^program\.mlir:2:\d+: error/);
    assert.match(error.message, /stablehlo\.add %a, %b/);
    return true;
  });
  await assert.rejects(hespas.run(text, { device: 'H100_80' }), (error) => error.status === 2);
});

test('members of gzip and frames of zstd follow each other', async () => {
  const line = '  %0 = stablehlo.add %a, %a : tensor<64x64xf32> // much alike, so that compression refers to earlier lines\n';
  const lines = Array.from({ length: 40000 }, (_, i) => line.replace('%0', `%${i}`));
  const halves = [`func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {\n${lines.slice(0, 20000).join('')}`,
    `${lines.slice(20000).join('')}  return %a : tensor<64x64xf32>\n}\n`];
  const plain = await hespas.run(halves.join(''), { device });
  assert.equal((await hespas.run(Buffer.concat(halves.map((half) => zlib.gzipSync(half))), { device })).step_time_ps, plain.step_time_ps);
  const comment = Buffer.from('// end\n');
  const frame = Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, comment.length, 1 | (comment.length << 3), 0, 0]), comment]);
  const zstd = fs.readFileSync(five[1]);
  assert.equal((await hespas.run(Buffer.concat([zstd, frame]), { device })).step_time_ps, (await hespas.run(zstd, { device })).step_time_ps);
});

test('damaged compression and what the build has not are errors', async () => {
  const broken = fs.readFileSync(five[0]).subarray(0, 1000);
  await assert.rejects(hespas.run(broken, { device, path: 'broken.mlir.gz' }), (error) => error.code === 'E0003');
  const files = { '/sweep.yml': 'program: x.mlir\n' };
  const answer = await hespas.command(['sweep', 'sweep.yml'], { files });
  assert.equal(answer.status, 3);
  assert.match(answer.stderr, /E0009/);
});
