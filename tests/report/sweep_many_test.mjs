// The page of a sweep of thousands of points in a headless browser: filters count those that are not drawn.
//
// usage: node sweep_many_test.mjs FOLDER-OF-SWEEP
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { finish, open, test } from './browser.mjs';

const [folder] = process.argv.slice(2);
const { view, said, close } = await open(path.resolve(folder, 'report.html'));
const all = fs.readFileSync(path.resolve(folder, 'rows.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line)).filter((row) => row.error === null);
const note = () => view.locator('#explore .controls .note').innerText();
const told = (n) => `${n.toLocaleString('en')} of ${all.length.toLocaleString('en')} points`;
await test('of thousands of points some are drawn, and filters count all', async () => {
  assert.ok(all.length > 3000);
  assert.ok(await view.locator('.parallel .line').count() <= 3000);
  assert.equal(await note(), told(all.length));
  // The middle half of the step times, by the page's own scale.
  const [least, most] = await view.evaluate(() => {
    const i = hespasSweep.axes.findIndex((a) => a.name === 'step time');
    const places = hespasSweep.points.map((p) => hespasSweep.scales[i].at(p.values[i])).sort((a, b) => a - b);
    const ends = [0.25, 0.75].map((part) => places[Math.floor(part * (places.length - 1))]);
    hespasSweep.setRange(i, ends);
    const inside = hespasSweep.points.map((p) => p.values[i]).filter((v) => hespasSweep.scales[i].at(v) >= ends[0] && hespasSweep.scales[i].at(v) <= ends[1]);
    return [inside.reduce((a, b) => Math.min(a, b)), inside.reduce((a, b) => Math.max(a, b))];
  });
  const wanted = all.filter((row) => row.step_time_s >= least * (1 - 1e-7) && row.step_time_s <= most * (1 + 1e-7)).length;
  assert.ok(wanted > 0 && wanted < all.length);
  assert.equal(await note(), told(wanted));
  await view.getByRole('button', { name: 'Clear filters' }).click();
  assert.equal(await note(), told(all.length));
});
await test('a rectangle in a chart picks points that are not drawn, and lists those that the table lacks', async () => {
  const plot = view.locator('#pareto svg').first();
  await plot.scrollIntoViewIfNeeded();
  // From beside the first point to the middle one, over all heights.
  const [left, right, top, foot] = await plot.evaluate((svg) => {
    const boxes = [...svg.querySelectorAll('circle[r="3"]')].map((circle) => circle.getBoundingClientRect());
    const across = boxes.map((b) => b.x).sort((a, b) => a - b);
    return [across[0] - 6, across[Math.floor(across.length / 2)], Math.min(...boxes.map((b) => b.y)) - 6, Math.max(...boxes.map((b) => b.bottom)) + 6];
  });
  await view.mouse.move(left, top);
  await view.mouse.down();
  await view.mouse.move(right, foot, { steps: 4 });
  await view.mouse.up();
  const few = Number((await note()).split(' ')[0].replaceAll(',', ''));
  assert.equal(few, await view.evaluate(() => hespasSweep.points.filter(hespasSweep.passes).length));
  const marks = await plot.locator('a:not(.off) circle[r="3"]').count();
  assert.ok(few > marks && marks > 0, `${few} points, ${marks} marks`);
  const listed = await view.locator('#points tbody tr:not(.filtered)').count();
  const beside = await view.locator('#explore p', { hasText: 'not among the best ones' }).innerText();
  assert.equal(Number(/^([\d,]+) of these/.exec(beside)[1].replaceAll(',', '')), few - listed);
  await view.getByRole('button', { name: 'Clear filters' }).click();
  assert.deepEqual(said, []);
});
await close();
await finish();
