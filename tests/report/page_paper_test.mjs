// report.html on paper, with damaged data and without its chart library, in a headless browser.
//
// usage: node page_paper_test.mjs FOLDER-OF-RUN PICTURES      NODE_PATH as for page_looks_test.mjs
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { checkPrint, finish, open, pictured, test } from './browser.mjs';

const [run, pictures] = process.argv.slice(2);
const page = path.resolve(run, 'report.html');

{
  const { view, said, close } = await open(page, { theme: 'dark' });
  const pdf = path.resolve(run, 'print.pdf');
  await test('printing gives A4 pages in light colours, and the screen comes back', async () => {
    await view.pdf({ path: pdf, format: 'A4', preferCSSPageSize: true, printBackground: true });
    assert.ok(fs.statSync(pdf).size > 20000);
    assert.equal(await view.evaluate(() => document.documentElement.dataset.theme), 'dark');
  });
  await pictured(view, path.join(pictures, 'print.png'), () => test('print: texts do not overlap on A4', async () => {
    await checkPrint(view);
    assert.deepEqual(said, []);
  }));
  await close();
}

{
  const text = fs.readFileSync(page, 'utf8');
  const broken = { cut: text.replace(/(<script type="application\/json" id="data">.{2000})[^<]*/, '$1'), version: text.replace('{"schema_version":1,', '{"schema_version":7,') };
  for (const [name, content] of Object.entries(broken)) {
    await test(`damaged data (${name}) is told on the page and the console`, async () => {
      assert.notEqual(content, text);
      const file = path.resolve(run, `broken-${name}.html`);
      fs.writeFileSync(file, content);
      const { view, said, close } = await open(file);
      assert.match(await view.locator('#problem').innerText(), /damaged/);
      assert.ok(said.length > 0);
      await close();
    });
  }
  await test('without the chart library a notice and tables stand in its place', async () => {
    const file = path.resolve(run, 'no-charts.html');
    fs.writeFileSync(file, text.replace(/<script>\s*\/\*\n\* Licensed[\s\S]*?<\/script>/, '<script></script>'));
    const { view, said, close } = await open(file);
    assert.equal(await view.evaluate(() => typeof echarts), 'undefined');
    assert.match(await view.locator('.notice').innerText(), /no chart library/);
    assert.ok(await view.locator('table').count() >= 7);
    assert.deepEqual(said, []);
    await close();
  });
}

await finish();
