// The largest programs: the page answers or says that memory is too small; it can be cancelled meanwhile, and used afterwards.
//
// usage: node limits_test.mjs PAGE-FOLDER      NODE_PATH: scripts/npm_env.sh browser; HESPAS_ROOT, HESPAS_BIN as for the others
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import zlib from 'node:zlib';

import { finish, test } from '../report/browser.mjs';
import { comparable, native } from './answers.mjs';
import { openPage, serve } from './page.mjs';

const kSize = 200e6;
const kLongest = 3600e3;
const kOutOfMemory = /^error\[E0902\]: out of memory\nhelp: .*the command/;
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'hespas-limits-'));
const site = await serve(process.argv[2]);
const { view, said, predict, settled, problem, file, close } = await openPage(site.address);
await view.fill('#device', 'H100_80GB');

function written(name, parts) {
  const to = path.join(scratch, name);
  const out = fs.openSync(to, 'w');
  for (const part of parts) fs.writeSync(out, part);
  fs.closeSync(out);
  return to;
}

// One addition of a constant that is almost the whole file.
function* bigConstant() {
  const piece = '3F8CCCCD'.repeat(10000);
  const pieces = Math.floor(kSize / piece.length) - 1;
  const type = `tensor<${pieces * 10000}xf32>`;
  yield `func.func @main(%a: ${type}) -> ${type} {\n  %c = stablehlo.constant dense<"0x`;
  for (let i = 0; i < pieces; ++i) yield piece;
  yield `"> : ${type}\n  %0 = stablehlo.add %a, %c : ${type}\n  return %0 : ${type}\n}\n`;
}

// Millions of elementwise operations, each on the one before.
function* longChain(most) {
  const type = 'tensor<256x256xf32>';
  yield `func.func @main(%a: ${type}) -> ${type} {\n  %0 = stablehlo.add %a, %a : ${type}\n`;
  const names = ['add', 'multiply', 'maximum', 'subtract'];
  let last = 0;
  for (let size = 200; size < most;) {
    let piece = '';
    for (let i = 0; i < 1000; ++i, ++last) piece += `  %${last + 1} = stablehlo.${names[last % 4]} %${last}, %a : ${type}\n`;
    size += piece.length;
    yield piece;
  }
  yield `  return %${last} : ${type}\n}\n`;
}

const stillWorks = async () => {
  await view.selectOption('#example', 'llama3-100m-4dev.mlir.gz');
  await predict();
  assert.equal(await problem(), '');
};

await test('a program of 200 MB with one constant gives the command\'s answer', async () => {
  const program = written('constant.mlir', bigConstant());
  assert.ok(fs.statSync(program).size > kSize * 0.99);
  await view.setInputFiles('#file', program);
  await predict(kLongest);
  assert.equal(await problem(), '');
  assert.equal(comparable(await file('result.json')), comparable(native(program, ['--device', 'H100_80GB'])));
});

const chain = written('chain.mlir', longChain(kSize - 1e5));
await test('a program of 200 MB can be cancelled, and the page answers meanwhile', async () => {
  await view.setInputFiles('#file', chain);
  await view.click('#predict');
  for (let i = 0; i < 10; ++i) {
    const asked = Date.now();
    await view.evaluate(() => new Promise(requestAnimationFrame));
    assert.ok(Date.now() - asked < 1000 * Number(process.env.HESPAS_SLOWER ?? 1));
    await view.waitForTimeout(500);
  }
  assert.ok(await view.isDisabled('#predict'));
  const asked = Date.now();
  await view.click('#cancel');
  await settled();
  assert.ok(Date.now() - asked < 2000 * Number(process.env.HESPAS_SLOWER ?? 1));
  assert.equal(await problem(), 'Cancelled.');
  await stillWorks();
});

await test('a program of 200 MB with millions of operations gives an answer, or says that memory is too small', async () => {
  await view.setInputFiles('#file', chain);
  await predict(kLongest);
  const text = await problem();
  console.log(`        ${text ? text.replaceAll('\n', '; ') : await view.textContent('#state')}`);
  if (text) assert.match(text, kOutOfMemory);
  await stillWorks();
});

await test('an engine without memory left says so', async () => {
  const program = path.join(scratch, 'long.mlir.gz');
  await pipeline(Readable.from(longChain(5 * kSize)), zlib.createGzip({ level: 1 }), fs.createWriteStream(program));
  await view.setInputFiles('#file', program);
  await predict(kLongest);
  assert.match(await problem(), kOutOfMemory);
  await stillWorks();
});

await test('what unpacks to more than memory holds is a message', async () => {
  const member = zlib.gzipSync(Buffer.alloc(1 << 28, ' '));
  await view.setInputFiles('#file', written('spaces.mlir.gz', Array(20).fill(member)));
  await predict(kLongest);
  assert.match(await problem(), kOutOfMemory);
  await stillWorks();
});

await test('a file beyond the limit is refused at once', async () => {
  const large = path.join(scratch, 'large.mlir');
  fs.writeFileSync(large, '');
  fs.truncateSync(large, kSize + 1e6);
  await view.setInputFiles('#file', large);
  await view.waitForFunction(() => document.getElementById('problem').textContent);
  assert.match(await problem(), /^large\.mlir has 201 MB; the page takes up to 200 MB/);
  await stillWorks();
});

await test('nothing is said on the console', () => assert.deepEqual(said, []));
await close();
site.close();
fs.rmSync(scratch, { recursive: true });
await finish();
