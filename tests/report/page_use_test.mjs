// What a reader does with report.html, in a headless browser: pointer, keyboard, sliders, tables, zoom, layers.
//
// usage: node page_use_test.mjs FOLDER-OF-RUN      with a run in FOLDER-OF-RUN/layers whose names tell its layers; NODE_PATH as for page_looks_test.mjs
import assert from 'node:assert/strict';
import path from 'node:path';

import { finish, open, processorClock, test } from './browser.mjs';

const [run] = process.argv.slice(2);
const page = path.resolve(run, 'report.html');

{
  const { view, close } = await open(page);
  await test('every block is a dot, every interval drawn, every bar there', async () => {
    const counts = await view.evaluate(() => {
      const { data, charts } = window.hespas;
      const by = Object.fromEntries(charts.map((c) => [c.id, c]));
      const drawn = (id, type) => by[id].instance.getModel().getSeries().filter((s) => s.subType === type).reduce((n, s) => n + s.getData().count(), 0);
      const marks = (id, type) => by[id].instance.getModel().getSeries().filter((s) => s.subType === type)
        .reduce((n, s) => { let shapes = 0; s.getData().eachItemGraphicEl(() => { shapes += 1; }); return n + shapes; }, 0);
      const intervals = data.timeline.classes.reduce((n, c) => n + c.compute.block.length + c.communication.block.length, 0);
      return [
        ['roofline', marks('roofline', 'scatter'), data.blocks.id.length], ['roofline data', drawn('roofline', 'scatter'), data.run.blocks.compute],
        ['timeline', by.timeline.drawn(), intervals], ['timeline marks', marks('timeline', 'custom'), by.timeline.instance.getOption().series[0].data.length],
        ['collectives', marks('collectives', 'scatter'), data.collectives.length], ['bounds', marks('bound', 'bar'), data.run.where_time_goes.by_bound.length],
        ['kinds', marks('kind', 'bar'), Math.min(13, data.run.where_time_goes.by_kind.length)], ['what if', marks('whatif', 'bar'), data.run.what_if.length + 1],
      ];
    });
    for (const [what, found, expected] of counts) {
      assert.equal(found, expected, what);
      assert.ok(found > 0, what);
    }
  });
  await test('charts are not empty', async () => {
    const empty = await view.evaluate(() => window.hespas.charts.filter((c) => c.instance.getZr().storage.getDisplayList(true).length < 5).map((c) => c.id));
    assert.deepEqual(empty, []);
  });
  await test('a tooltip tells operation, place, shapes and terms of the block under the pointer', async () => {
    await view.locator('#chart-roofline').scrollIntoViewIfNeeded();
    const target = await view.evaluate(() => {
      const chart = window.hespas.charts.find((c) => c.id === 'roofline');
      const series = chart.instance.getModel().getSeries().filter((s) => s.subType === 'scatter').at(-1);
      const data = series.getData();
      const at = data.count() - 1;
      const [x, y] = data.getItemLayout(at);
      const box = chart.holder.getBoundingClientRect();
      return { x: box.left + x, y: box.top + y };
    });
    await view.mouse.move(target.x - 3, target.y);
    await view.mouse.move(target.x, target.y);
    const tip = view.locator('#chart-roofline .tip');
    await tip.waitFor({ timeout: 5000 });
    const said = await tip.innerText();
    for (const word of ['block', 'kind', 'shapes', 'line', 'time', 'bound by', 'bytes']) assert.ok(said.includes(word), `${word} in ${said}`);
  });
  await test('the keyboard reaches every control, and arrow keys go through the blocks', async () => {
    const seen = new Set();
    await view.evaluate(() => { document.activeElement?.blur(); window.scrollTo(0, 0); });
    for (let i = 0; i < 80; ++i) {
      await view.keyboard.press('Tab');
      seen.add(await view.evaluate(() => document.activeElement.id || document.activeElement.textContent.slice(0, 20)));
    }
    for (const name of ['theme', 'print', 'chart-roofline', 'Zoom in', 'All']) assert.ok(seen.has(name), `${name} in ${[...seen]}`);
    await view.locator('#chart-roofline').focus();
    await view.keyboard.press('ArrowRight');
    assert.match(await view.locator('#told').innerText(), /^Block \d+, .*bound by/);
  });
  await test('sliders move the headline, the bars and the command within 100 ms of the processor, and As run comes back', async () => {
    const card = view.locator('#live .figure').first();
    const [before, command] = [await card.innerText(), await view.locator('#live pre').innerText()];
    const clock = await processorClock(view);
    const times = [];
    for (const value of ['20', '40', '60', '70', '80']) {
      const start = await clock();
      await view.locator('#live-1').evaluate(async (slider, to) => {
        slider.value = to;
        slider.dispatchEvent(new Event('input'));
        for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
      }, value);
      times.push(await clock() - start);
    }
    assert.notEqual(await card.innerText(), before);
    assert.match(await view.locator('#live pre').innerText(), /--set device\.memory_bandwidth=\d+.* --keep-kernels$/);
    assert.ok(Math.min(...times) < 100, `${times} ms`);
    await view.locator('#live').getByRole('button', { name: 'As run' }).click();
    await view.waitForFunction((text) => document.querySelector('#live .figure').innerText === text, before);
    assert.equal(await view.locator('#live pre').innerText(), command);
  });
  await test('a figure that is typed moves its slider, and a program that does not fit says so in red', async () => {
    await view.getByLabel('Memory capacity in GB').fill('1');
    await view.getByLabel('Memory capacity in GB').press('Tab');
    await view.waitForFunction(() => document.querySelector('#live .bad')?.textContent === 'does not fit');
    assert.ok(Number(await view.getByRole('slider', { name: 'Memory capacity' }).inputValue()) < 0);
    await view.locator('#live').getByRole('button', { name: 'As run' }).click();
  });
  await test('tables sort, search, hide columns and copy themselves', async () => {
    const section = view.locator('#costliest');
    const column = (n) => section.locator(`tbody tr:visible td:nth-child(${n})`).allInnerTexts();
    await section.getByRole('button', { name: 'bytes', exact: true }).click();
    const order = await column(8).then((all) => view.evaluate((texts) => texts.map(hespasShell.valueOf), all));
    assert.deepEqual(order, [...order].sort((a, b) => b - a));
    const all = (await column(1)).length;
    await section.getByRole('searchbox').fill('matmul');
    const some = await column(1);
    assert.ok(some.length > 0 && some.length < all);
    const csv = await section.locator('table').evaluate((table) => hespasShell.csvOf(table));
    assert.equal(csv.split('\n').length, some.length + 1);
    await section.getByRole('searchbox').fill('');
    await section.locator('.chooser summary').click();
    await section.getByLabel('shapes').uncheck();
    assert.ok(!await section.locator('th', { hasText: 'shapes' }).isVisible());
    await section.getByLabel('shapes').check();
  });
  await test('tables behind the folds hold what the charts show', async () => {
    await view.locator('figure:has(#chart-bound) summary').click();
    const rows = await view.locator('figure:has(#chart-bound) tbody tr').count();
    assert.equal(rows, await view.evaluate(() => window.hespas.data.run.where_time_goes.by_bound.length));
  });
  await test('the theme button turns the page and the charts dark, and back', async () => {
    const ground = () => view.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await ground();
    await view.locator('#theme').click();
    assert.notEqual(await ground(), before);
    assert.equal(await view.locator('#theme').getAttribute('aria-pressed'), 'true');
    await view.locator('#theme').click();
    assert.equal(await ground(), before);
  });
  await test('zooming the timeline draws more marks of fewer intervals, and All shows all again', async () => {
    const marks = () => view.evaluate(() => { const c = window.hespas.charts.find((e) => e.id === 'timeline'); return [c.instance.getOption().series[0].data.length, c.drawn(), c.total]; });
    const [, all, total] = await marks();
    assert.equal(all, total);
    await view.locator('#timeline').getByRole('button', { name: 'Zoom in' }).click();
    await view.locator('#timeline').getByRole('button', { name: 'Zoom in' }).click();
    const [, some] = await marks();
    assert.ok(some < total);
    await view.locator('#timeline').getByRole('button', { name: 'All', exact: true }).click();
    assert.equal((await marks())[1], total);
  });
  await close();
}

{
  const { view, close } = await open(path.resolve(run, 'layers/report.html'));
  await test('boxes of layers add up to the step, and a click makes one the whole', async () => {
    const [sum, step] = await view.evaluate(() => { const { scopes, run: r } = window.hespas.data; return [scopes.reduce((s, row) => s + row[3], 0), r.step_time_ps - r.idle_ps]; });
    assert.equal(sum, step);
    const first = view.locator('.flame b').first();
    await view.locator('.flame b', { hasText: 'log_softmax' }).first().click();
    assert.match(await first.innerText(), /^log_softmax/);
    await first.click();
    assert.match(await first.innerText(), /^step 100/);
  });
  await test('layers alive are told at the peak, under the pointer and in the table, as their changes say', async () => {
    const wanted = await view.evaluate(() => {
      const { layers, run: r } = window.hespas.data;
      const held = {};
      layers.at.forEach((at, i) => { if (at <= r.memory.peak_at_s * 1e12) held[layers.names[layers.layer[i]]] = (held[layers.names[layers.layer[i]]] ?? 0) + layers.bytes[i]; });
      return Object.entries(held).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]).map(([name]) => name);
    });
    assert.ok(wanted.length > 1);
    const table = view.locator('#memory table', { hasText: 'Layers alive at the peak' });
    assert.deepEqual(await table.locator('tbody td:first-child').allInnerTexts(), wanted.slice(0, 20));
    await view.locator('#chart-memory').scrollIntoViewIfNeeded();
    const place = await view.evaluate(() => {
      const chart = window.hespas.charts.find((c) => c.id === 'memory');
      const box = chart.holder.getBoundingClientRect();
      const at = chart.instance.convertToPixel({ seriesIndex: 0 }, [window.hespas.data.run.memory.peak_at_s * 1e12, 0]);
      return { x: box.left + at[0] + 1, y: box.top + at[1] - 60 };
    });
    await view.mouse.move(place.x - 4, place.y);
    await view.mouse.move(place.x, place.y);
    const tip = view.locator('#chart-memory .tip');
    await tip.waitFor({ timeout: 5000 });
    const said = await tip.innerText();
    assert.match(said, new RegExp(`${wanted.length} layers? alive`));
    assert.ok(said.includes(wanted[0]), said);
    await view.locator('figure:has(#chart-memory) summary').click();
    assert.ok((await view.locator('figure:has(#chart-memory) tbody td:last-child').allInnerTexts()).some((text) => text.includes(wanted[0])));
  });
  await test('neighbours in the memory chart are told apart, also without red or green', async () => {
    const apart = () => view.evaluate(() => {
      const pens = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => getComputedStyle(document.documentElement).getPropertyValue(`--series-${i}`).trim());
      const linear = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
      const times = (m, v) => m.map((row) => row.reduce((sum, x, i) => sum + x * v[i], 0));
      // Machado, Oliveira, Fernandes (2009): deuteranopia and protanopia, linear RGB. OKLab (Ottosson 2020).
      const eyes = [[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]];
      const lab = (rgb) => times([[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]],
        times([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]], rgb.map((c) => Math.max(0, c))).map(Math.cbrt));
      const out = [];
      for (const eye of eyes) {
        for (let a = 0; a < pens.length; ++a) {
          for (let b = 0; b < a; ++b) {
            const [p, q] = [pens[a], pens[b]].map((pen) => lab(times(eye, linear(pen))));
            const distance = Math.hypot(...p.map((x, i) => x - q[i]));
            if (distance < 0.07) out.push(`${pens[a]} ${pens[b]} ${distance.toFixed(3)}`);
          }
        }
      }
      return out;
    });
    assert.deepEqual(await apart(), []);
    await view.locator('#theme').click();
    assert.deepEqual(await apart(), []);
    await view.locator('#theme').click();
  });
  await close();
}

await finish();
