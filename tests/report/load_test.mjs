// How long a report takes from the address to its last chart: the median of five loads.
//
// usage: node load_test.mjs PAGE=MILLISECONDS ...      NODE_PATH: the modules that scripts/npm_env.sh browser prints
import assert from 'node:assert/strict';
import path from 'node:path';

import { finish, open, test } from './browser.mjs';

// The page's clock begins with the navigation. It is read after the frame that shows what was drawn last.
const whenShown = () => new MutationObserver((_, observer) => {
  if (document.documentElement.dataset.ready !== 'true') return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.shownAfter = performance.now(); }));
}).observe(document, { attributes: true, childList: true, subtree: true, attributeFilter: ['data-ready'] });

for (const given of process.argv.slice(2)) {
  const [page, most] = given.split('=');
  await test(`${path.basename(path.dirname(page))} is there within ${most} ms`, async () => {
    const times = [];
    for (let i = 0; i < 5; ++i) {
      const { view, close } = await open(page, {}, whenShown);
      await view.waitForFunction(() => window.shownAfter);
      times.push(await view.evaluate(() => window.shownAfter));
      await close();
    }
    console.log(`        ${times.map((t) => t.toFixed(0)).join(', ')} ms`);
    const median = times.sort((a, b) => a - b)[2];
    assert.ok(median < Number(most) * Number(process.env.HESPAS_SLOWER ?? 1), `${median} ms`);
  });
}
await finish();
