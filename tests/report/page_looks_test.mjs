// How report.html looks in a headless browser: light, dark, 400 px wide. Pictures of what fails stay under the folder given.
//
// usage: node page_looks_test.mjs FOLDER-OF-RUN PICTURES      NODE_PATH: the modules that scripts/npm_env.sh browser prints
import assert from 'node:assert/strict';
import path from 'node:path';

import { checkEverywhere, finish, test } from './browser.mjs';

const [run, pictures] = process.argv.slice(2);
const page = path.resolve(run, 'report.html');

await checkEverywhere(page, pictures, '', async (setting, view) => {
  await test(`${setting.name}: texts in charts have a contrast of 4.5 at least`, async () => {
    const bad = await view.evaluate(() => {
      const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
      const rgb = (colour) => { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3); };
      const light = (colour) => rgb(colour).map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((s, c, i) => s + c * [0.2126, 0.7152, 0.0722][i], 0);
      const out = [];
      for (const { id, holder, instance } of window.hespas.charts) {
        const ground = light(getComputedStyle(holder.closest('figure')).backgroundColor);
        for (const shape of instance.getZr().storage.getDisplayList(true)) {
          if (!['tspan', 'text'].includes(shape.type) || !String(shape.style.text ?? '').trim()) continue;
          const ink = light(shape.style.fill);
          const ratio = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
          if (ratio < 4.5) out.push(`${id}: ${shape.style.text} ${ratio.toFixed(2)}`);
        }
      }
      return out;
    });
    assert.deepEqual(bad, []);
  });
});
await finish();
