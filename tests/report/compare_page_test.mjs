// compare.html in a headless browser: light, dark, 400 px wide and on paper.
//
// usage: node compare_page_test.mjs FOLDER-OF-COMPARISON SCREENSHOTS
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { checkEverywhere, checkPrint, finish, open, pictured, test } from './browser.mjs';

const [folder, pictures] = process.argv.slice(2);
const page = path.resolve(folder, 'compare.html');
const data = JSON.parse(fs.readFileSync(path.resolve(folder, 'compare.json'), 'utf8'));

await checkEverywhere(page, pictures, 'compare-');
const { view, close } = await open(page);
await test('each side has a card, each kind a bar of its length', async () => {
  assert.equal(await view.locator('.card').count(), data.sides.length);
  const bars = await view.locator('#kinds .track i').evaluateAll((all) => all.map((bar) => ({ wide: bar.getBoundingClientRect().width, slower: bar.className === 'slower' })));
  const changes = data.kinds.map((row) => row.difference_ps[1]).slice(0, 12);
  assert.equal(bars.length, changes.length);
  const scale = bars[0].wide / Math.abs(changes[0]);
  bars.forEach((bar, i) => {
    assert.ok(Math.abs(bar.wide - scale * Math.abs(changes[i])) < 1);
    assert.equal(bar.slower, changes[i] > 0);
  });
});
await test('tables hold every group, and those without a partner', async () => {
  const rows = (id) => view.locator(`#${id} tbody tr`).count();
  assert.equal(await rows('blocks'), Math.min(200, data.groups.length));
  assert.equal(await rows('kinds'), data.kinds.length);
  assert.equal(await rows('layers'), Math.min(200, data.layers.length));
  assert.equal(await rows('unmatched'), Math.min(200, data.groups.filter((row) => !row.matched).length));
});
await pictured(view, path.join(pictures, 'compare-print.png'), () => test('print: texts do not overlap on A4', () => checkPrint(view)));
await close();
await finish();
