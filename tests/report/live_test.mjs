// What the page recomputes against `hespas run --keep-kernels` with the same figures, on random settings.
//
// usage: node live_test.mjs PAGE COUNT SEED RUN...      RUN: the arguments of `hespas` that made the page, without --output
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';

import { finish, open, test } from './browser.mjs';

const [page, count, seed, ...words] = process.argv.slice(2);
const HESPAS = path.join(process.env.HESPAS_BIN, 'hespas');
const CLOSE = 1e-3;

// Numbers in [0, 1), the same for one seed (mulberry32).
let state = Number(seed);
const random = () => {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};
const factor = () => 2 ** (4 * random() - 2);

const { view, close } = await open(path.resolve(page));
let worst = 0;
await test(`${count} random settings differ by less than 0.1 % from runs`, async () => {
  for (let i = 0; i < Number(count); ++i) {
    const factors = Array.from({ length: 24 }, () => (random() < 0.25 ? 1 : factor()));
    const found = await view.evaluate((f) => {
      const { live } = window.hespas;
      const { now } = live;
      const settings = { peak: now.peak * f[0], bandwidth: now.bandwidth * f[1], launch: now.launch * f[2], capacity: now.capacity,
        links: structuredClone(now.links) };
      live.levels.forEach((dimensions, level) => dimensions.forEach((d) => {
        settings.links[d].bandwidth *= f[3 + 2 * level];
        settings.links[d].latency *= f[4 + 2 * level];
      }));
      const result = live.step(settings);
      return { changes: live.changesOf(settings), step: result.step, compute: result.compute, exposed: result.exposed };
    }, factors);
    const run = JSON.parse(execFileSync(HESPAS, [...words, '--keep-kernels', '--no-what-if', '--quiet', '--format', 'json', ...found.changes.flatMap((c) => ['--set', c])],
      { encoding: 'utf8', maxBuffer: 1 << 28 }));
    const off = Math.abs(found.step / run.step_time_ps - 1);
    worst = Math.max(worst, off);
    assert.ok(off < CLOSE, `${found.changes.join(' ')}: ${found.step} instead of ${run.step_time_ps} ps`);
    assert.ok(Math.abs(found.compute - run.compute_time_ps) < CLOSE * run.step_time_ps, `compute with ${found.changes.join(' ')}`);
    assert.ok(Math.abs(found.exposed - run.exposed_communication_ps) < CLOSE * run.step_time_ps, `exposed with ${found.changes.join(' ')}`);
  }
});
console.log(`        largest difference ${(100 * worst).toFixed(5)} %`);
await close();
await finish();
