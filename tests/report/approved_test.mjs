// Pages against approved pictures of them, a third of their size; --write approves what is there now. What differs is left beside the screenshots.
//
// usage: node approved_test.mjs APPROVED SCREENSHOTS NAME=PAGE ... [--write]      NODE_PATH: the modules that scripts/npm_env.sh browser prints
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { finish, open, test } from './browser.mjs';

const write = process.argv.includes('--write');
const [approved, pictures, ...pages] = process.argv.slice(2).filter((word) => word !== '--write');
const settings = [{ name: 'light', width: 1280, theme: 'light' }, { name: 'dark', width: 1280, theme: 'dark' }, { name: 'narrow', width: 400, theme: 'light' }];
const kMostDifferent = 0.01; // of the pixels: fonts are drawn a little differently elsewhere

// In the page: a picture a third as large, in base64 as it came.
const shrink = async (source) => {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${source}`)).blob());
  const small = document.createElement('canvas');
  Object.assign(small, { width: Math.round(image.width / 3), height: Math.round(image.height / 3) });
  const draw = small.getContext('2d');
  draw.imageSmoothingQuality = 'high';
  draw.drawImage(image, 0, 0, small.width, small.height);
  return small.toDataURL('image/webp', 0.8).split(',')[1];
};

// In the page: the part of the pixels that differ to the eye, those included that one picture lacks.
const difference = async (sources) => {
  const images = await Promise.all(sources.map(async (source) => createImageBitmap(await (await fetch(`data:image/webp;base64,${source}`)).blob())));
  const [width, height] = ['width', 'height'].map((side) => Math.max(...images.map((image) => image[side])));
  const [a, b] = images.map((image) => {
    const draw = new OffscreenCanvas(width, height).getContext('2d');
    draw.drawImage(image, 0, 0);
    return draw.getImageData(0, 0, width, height).data;
  });
  let different = 0;
  for (let at = 0; at < a.length; at += 4) {
    if ([0, 1, 2, 3].some((channel) => Math.abs(a[at + channel] - b[at + channel]) > 20)) different += 1;
  }
  return different / (width * height);
};

for (const given of pages) {
  const [name, page] = given.split('=');
  for (const setting of settings) {
    const file = path.join(approved, `${name}-${setting.name}.webp`);
    const { view, close } = await open(page, setting);
    const taken = await view.evaluate(shrink, (await view.screenshot({ fullPage: true })).toString('base64'));
    if (write) fs.writeFileSync(file, Buffer.from(taken, 'base64'));
    await test(`${name}-${setting.name} looks as approved`, async () => {
      const part = await view.evaluate(difference, [taken, fs.readFileSync(file).toString('base64')]);
      if (part > kMostDifferent) fs.writeFileSync(path.join(pictures, path.basename(file)), Buffer.from(taken, 'base64'));
      assert.ok(part <= kMostDifferent, `${(100 * part).toFixed(1)} % of the pixels differ: see ${path.join(pictures, path.basename(file))}`);
    });
    await close();
  }
}
await finish();
