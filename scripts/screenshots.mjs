// Takes the pictures of pages that README and documents show.
//
// usage: node screenshots.mjs FOLDER NAME=PAGE[#SECTION[~BOX...]] ...      writes FOLDER/NAME.png, once the graph's boxes of these names are
// opened      NODE_PATH: scripts/npm_env.sh browser
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(path.join(process.env.NODE_PATH, 'x'));
const { chromium } = require('playwright-core');
const [folder, ...pictures] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
for (const picture of pictures) {
  const [name, page] = picture.split('=');
  const [file, place] = page.split('#');
  const [section, ...boxes] = (place ?? '').split('~');
  const view = await browser.newPage({ viewport: { width: 1180, height: 860 }, colorScheme: 'light' });
  await view.goto(pathToFileURL(path.resolve(file)).href);
  await view.waitForFunction(() => document.documentElement.dataset.ready === 'true');
  for (const box of boxes) await view.locator('#graph svg .box', { hasText: box }).first().click();
  const target = section ? view.locator(`#${section}`) : view;
  await target.screenshot({ path: path.join(folder, `${name}.png`) });
  await view.close();
}
await browser.close();
