// Pages of other commands in a headless browser, in every setting of browser.mjs: one design, nothing wider than the window, contrast, console.
//
// usage: node pages_test.mjs SCREENSHOTS NAME=PAGE ...
import assert from 'node:assert/strict';
import path from 'node:path';

import { checkEverywhere, checkPrint, finish, open, pictured, test } from './browser.mjs';

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
  await pictured(view, path.join(pictures, `${name}-print.png`), () => test(`${name}: print: texts do not overlap on A4`, () => checkPrint(view)));
  await close();
}
await finish();
