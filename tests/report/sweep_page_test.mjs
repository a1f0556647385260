// A sweep's report.html in a headless browser: light, dark, narrow; its figures against rows.jsonl.
//
// usage: node sweep_page_test.mjs FOLDER-OF-SWEEP SCREENSHOTS
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { checkEverywhere, finish, open, test } from './browser.mjs';

const [folder, pictures] = process.argv.slice(2);
const page = path.resolve(folder, 'report.html');
const rows = fs.readFileSync(path.resolve(folder, 'rows.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
const good = rows.filter((row) => row.error === null);

await checkEverywhere(page, pictures, 'sweep-');
const { view, close } = await open(page);
await test('every point is listed, and opens its command', async () => {
  assert.equal(await view.locator('#points tbody tr').count(), rows.length);
  assert.equal(await view.locator('#points tbody details').count(), rows.length);
});
await test('the best point is the one with the least step time', async () => {
  const best = good.reduce((a, b) => (b.step_time_ps < a.step_time_ps ? b : a));
  const first = view.locator('#answers tbody tr').first();
  assert.equal(await first.locator('td').nth(2).innerText(), String(best.point));
});
await test('the front holds the points that no other beats', async () => {
  const price = good.every((row) => row.cost_per_step !== null) ? 'cost_per_step' : 'energy_all_devices_j';
  const beaten = (a) => good.some((b) => b.step_time_s <= a.step_time_s && b[price] <= a[price] && (b.step_time_s < a.step_time_s || b[price] < a[price]));
  const front = new Set(good.filter((row) => !beaten(row)).map((row) => `${row.step_time_s} ${row[price]}`));
  const drawn = await view.locator('#pareto circle[r="4.5"]').count();
  assert.equal(drawn, front.size);
});
await test('heat maps and sensitivity cover the axes that vary', async () => {
  assert.ok((await view.locator('#sensitivity .row').count()) >= 2);
  assert.ok((await view.locator('#maps table.heat').count()) >= 1);
});
await test('a point opens its own report', async () => {
  const link = view.locator('#points a', { hasText: 'report' }).first();
  await link.click();
  await view.waitForLoadState();
  assert.match(view.url(), /points\/\d+\/report\.html$/);
  assert.ok((await view.locator('h1').count()) >= 1);
});
await close();
await finish();
