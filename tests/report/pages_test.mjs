// Pages of other commands in a headless browser, in every setting of browser.mjs: one design, nothing wider than the window, contrast, console.
//
// usage: node pages_test.mjs SCREENSHOTS NAME=PAGE ...
import assert from 'node:assert/strict';
import path from 'node:path';

import { checkEverywhere, finish, open, overlaps, test, textBoxes } from './browser.mjs';

const [pictures, ...pages] = process.argv.slice(2);
for (const given of pages) {
  const [name, page] = given.split('=');
  await checkEverywhere(path.resolve(page), pictures, `${name}-`, undefined, 40);
  const { view, close } = await open(path.resolve(page));
  await test(`${name}: the shared template, with light, dark, print and charts with ticks`, async () => {
    for (const button of ['#theme', '#print']) assert.ok(await view.locator(button).isVisible());
    assert.ok(await view.locator('h2').count() > 0);
    const ticks = await view.locator('svg.plot').evaluateAll((plots) => plots.map((plot) => plot.querySelectorAll('text').length));
    assert.ok(ticks.every((count) => count >= 5), String(ticks));
  });
  await test(`${name}: print: texts do not overlap on A4`, async () => {
    await view.setViewportSize({ width: 688, height: 1000 });
    await view.emulateMedia({ media: 'print' });
    await view.screenshot({ path: path.join(pictures, `${name}-print.png`), fullPage: true });
    assert.deepEqual(overlaps((await view.evaluate(textBoxes)).map((box) => ({ ...box, where: '' }))), []);
    assert.ok(await view.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'wider than the paper');
  });
  await close();
}
await finish();
