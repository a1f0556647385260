// A sweep's report.html in a headless browser: light, dark, narrow; its figures against rows.jsonl.
//
// usage: node sweep_devices_test.mjs FOLDER-OF-SWEEP PICTURES
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
const kept = () => view.evaluate(() => document.querySelectorAll('#points tbody tr:not(.filtered)').length);
const brush = async (name, from, to) => {
  const axis = await view.evaluate((n) => hespasSweep.axes.findIndex((a) => a.name === n), name);
  const grip = view.locator('.parallel .grip').nth(axis);
  await grip.scrollIntoViewIfNeeded();
  const box = await grip.boundingBox();
  const y = (at) => box.y + 8 + (1 - at) * (box.height - 16);
  await view.mouse.move(box.x + box.width / 2, y(from));
  await view.mouse.down();
  await view.mouse.move(box.x + box.width / 2, y(to), { steps: 4 });
  await view.mouse.up();
};
await test('parallel coordinates have a line for each point and an axis for each setting and result, with units', async () => {
  assert.equal(await view.locator('.parallel .line').count(), good.length);
  const names = await view.evaluate(() => hespasSweep.axes.map((axis) => axis.name));
  assert.equal(await view.locator('.parallel .name').count(), names.length);
  for (const name of ['device', 'system.bandwidth', 'step time', 'a second and device', 'MFU']) assert.ok(names.includes(name), `${name} in ${names}`);
  const texts = await view.locator('.parallel text').allTextContents();
  for (const unit of [/ ms$/, / GB\/s$/, / %$/, / J$/, / GB$/]) assert.ok(texts.some((text) => unit.test(text)), String(unit));
  for (const device of new Set(good.map((row) => row.device))) assert.ok(texts.includes(device), device);
});
await test('a brush on an axis keeps the points there, in chart, fronts and table; a click shows all again', async () => {
  await brush('step time', 0, 0.4);
  const [low, high] = await view.evaluate(() => { const i = hespasSweep.axes.findIndex((a) => a.name === 'step time'); const v = hespasSweep.points.map((p) => p.values[i]); return [Math.min(...v), Math.max(...v)]; });
  const most = high > 8 * low ? low * (high / low) ** 0.4 : low + 0.4 * (high - low);
  const wanted = good.filter((row) => row.step_time_s <= most * 1.002).length;
  const few = await kept();
  assert.ok(wanted > 0 && wanted < good.length);
  assert.equal(few, wanted);
  assert.equal(await view.locator('.parallel .line:not(.off)').count(), wanted);
  assert.equal(await view.locator('#explore .controls .note').innerText(), `${wanted} of ${good.length} points`);
  assert.ok(await view.locator('#pareto svg a.off').count() > 0);
  await brush('step time', 0.5, 0.5);
  assert.equal(await kept(), rows.length);
});
await test('fields filter as brushes do, and Clear filters shows all', async () => {
  await view.locator('#explore summary').click();
  const field = view.getByLabel('MFU from');
  await field.focus();
  for (let i = 0; i < 3; ++i) await view.keyboard.press('PageUp');
  const few = await kept();
  assert.ok(few < rows.length && few > 0);
  await view.getByRole('button', { name: 'Clear filters' }).click();
  assert.equal(await kept(), rows.length);
});
await test('a rectangle over a chart keeps its points', async () => {
  const plot = view.locator('#pareto svg').first();
  await plot.scrollIntoViewIfNeeded();
  const circle = await plot.locator('circle').first().boundingBox();
  await view.mouse.move(circle.x - 6, circle.y - 6);
  await view.mouse.down();
  await view.mouse.move(circle.x + circle.width + 6, circle.y + circle.height + 6, { steps: 4 });
  await view.mouse.up();
  const few = await kept();
  assert.ok(few > 0 && few < rows.length, `${few}`);
  await view.getByRole('button', { name: 'Clear filters' }).click();
});
await test('each point tells its throughput and MFU', async () => {
  const titles = await view.locator('.parallel .line title').allTextContents();
  assert.ok(titles.every((title) => / a second and device, .* % MFU$/.test(title)));
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
