// A sweep's report.html in a headless browser: light, dark, narrow; its figures against rows.jsonl.
//
// usage: node sweep_page_test.mjs FOLDER-OF-SWEEP SCREENSHOTS FOLDER-OF-SWEEP-OF-TWO-PROGRAMS FOLDER-OF-THOUSANDS-OF-POINTS
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { checkEverywhere, finish, open, test } from './browser.mjs';

const [folder, pictures, programs, many] = process.argv.slice(2);
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

if (programs) {
  await checkEverywhere(path.resolve(programs, 'report.html'), pictures, 'sweep-programs-');
  const apart = await open(path.resolve(programs, 'report.html'));
  const all = fs.readFileSync(path.resolve(programs, 'rows.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  await test('several programs have best points, fronts and maps of their own', async () => {
    const names = [...new Set(all.map((row) => row.program))];
    const best = await apart.view.locator('#answers tbody tr').filter({ hasText: 'least step_time' }).locator('td:nth-child(3)').allInnerTexts();
    assert.deepEqual(best, names.map((name) => String(all.filter((row) => row.program === name).reduce((a, b) => (b.step_time_ps < a.step_time_ps ? b : a)).point)));
    for (const [i, name] of names.entries()) {
      assert.match(await apart.view.locator('h2.program').nth(i).innerText(), new RegExp(name.split('/').pop()));
      const drawn = await apart.view.locator(`#pareto-${i + 1} circle[r="3"]`).evaluateAll((circles) => circles.map((c) => Number(c.parentElement.getAttribute('href').split('-')[1])));
      const own = all.filter((row) => row.program === name).map((row) => row.point);
      assert.ok(drawn.length > 0 && drawn.every((point) => own.includes(point)));
    }
    assert.doesNotMatch(await apart.view.locator('#answers').innerText(), /UNEQUAL/i);
  });
  await apart.close();
}
{
  const { view, said, close } = await open(path.resolve(many, 'report.html'));
  const all = fs.readFileSync(path.resolve(many, 'rows.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line)).filter((row) => row.error === null);
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
}
await finish();
