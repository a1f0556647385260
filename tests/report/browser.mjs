// What tests of pages share: a headless browser, boxes of texts, and checks that every page must pass.
//
// NODE_PATH: the modules that scripts/npm_env.sh browser prints
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(path.join(process.env.NODE_PATH, 'x'));
const { chromium } = require('playwright-core');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const failures = [];
export const test = async (name, body) => {
  try {
    await body();
    console.log(`ok      ${name}`);
  } catch (error) {
    failures.push(name);
    console.log(`FAILED  ${name}\n        ${String(error.message).replaceAll('\n', '\n        ')}`);
  }
};

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

// Opens an address and keeps what the page said and asked for; `counts` tells which requests count, `before` runs in the page first.
export async function openAddress(address, { width = 1280, theme = 'light' } = {}, counts = (url) => url !== address, before = () => {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme, deviceScaleFactor: 1 });
  const view = await context.newPage();
  const said = [];
  const asked = [];
  view.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
  view.on('pageerror', (error) => said.push(`error: ${error.message}`));
  view.on('request', (request) => { if (counts(request.url())) asked.push(request.url()); });
  await view.addInitScript(before);
  await view.goto(address);
  await view.waitForFunction(() => document.documentElement.dataset.ready === 'true' || document.getElementById('problem')?.textContent, null, { timeout: 60000 });
  return { view, said, asked, close: () => context.close() };
}

export const open = (file, settings, before) => openAddress(pathToFileURL(file).href, settings, undefined, before);

// Milliseconds of the processor that the page has taken so far: other programs on the machine do not count.
export async function processorClock(view) {
  const session = await view.context().newCDPSession(view);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => 1e3 * (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value;
}

// Boxes of all visible texts: of elements and, inside charts, of what ECharts drew.
export const textBoxes = () => {
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest('script,style,noscript,svg,.unseen,.skip,details:not([open]) > :not(summary)')) continue;
    if (!parent.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const r of range.getClientRects()) {
      if (r.width > 0.5 && r.height > 0.5) boxes.push({ text: node.data.trim().slice(0, 40), left: r.left, right: r.right, top: r.top + scrollY, bottom: r.bottom + scrollY, where: parent.closest('.scroll') ? 'scroll' : '' });
    }
  }
  for (const { id, holder, instance } of window.hespas?.charts ?? []) {
    const at = holder.getBoundingClientRect();
    for (const shape of instance.getZr().storage.getDisplayList(true)) {
      if (!['tspan', 'text'].includes(shape.type) || shape.invisible || shape.ignore || !String(shape.style.text ?? '').trim()) continue;
      const rect = shape.getBoundingRect().clone();
      const transform = shape.getComputedTransform?.() ?? shape.transform;
      if (transform) rect.applyTransform(transform);
      boxes.push({ text: `${id}: ${shape.style.text}`, chart: id, left: at.left + rect.x, right: at.left + rect.x + rect.width, top: at.top + scrollY + rect.y, bottom: at.top + scrollY + rect.y + rect.height, holder: { left: at.left, right: at.right } });
    }
  }
  return boxes;
};

// Pairs that overlap by more than the slack of a line box.
export function overlaps(boxes) {
  const found = [];
  const sorted = boxes.filter((b) => b.where !== 'scroll').sort((a, b) => a.top - b.top);
  for (let i = 0; i < sorted.length; ++i) {
    for (let j = i + 1; j < sorted.length && sorted[j].top < sorted[i].bottom; ++j) {
      const [a, b] = [sorted[i], sorted[j]];
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1.5 && high > 3) found.push(`"${a.text}" and "${b.text}"`);
    }
  }
  return found;
}

export const cut = (boxes) => boxes.filter((b) => b.holder && (b.left < b.holder.left - 1 || b.right > b.holder.right + 1)).map((b) => b.text);

// Two of them, with both themes and the usual and a narrow window; HESPAS_ALL_SETTINGS=1 (`make test-full`) adds the others.
export const settings = [
  { name: 'light', width: 1280, theme: 'light' },
  { name: 'narrow-dark', width: 400, theme: 'dark' },
  { name: 'dark', width: 1280, theme: 'dark' },
  { name: 'narrow', width: 400, theme: 'light' },
  { name: 'middle', width: 800, theme: 'light' },
  { name: 'wide', width: 2000, theme: 'dark' },
].slice(0, process.env.HESPAS_ALL_SETTINGS ? undefined : 2);

// Leaves a picture of the whole page where one of these checks failed, or everywhere with HESPAS_PICTURES=1: a picture costs as much as a page.
export async function pictured(view, file, checks) {
  const before = failures.length;
  await checks();
  if (failures.length > before || process.env.HESPAS_PICTURES) await view.screenshot({ path: file, fullPage: true });
}

// What holds of any page in any state, one that shows at least so many texts.
export async function checkView(name, view, texts) {
  await test(`${name}: texts do not overlap and are not cut`, async () => {
    const boxes = await view.evaluate(textBoxes);
    assert.ok(boxes.length > texts);
    assert.deepEqual(overlaps(boxes), []);
    assert.deepEqual(cut(boxes), []);
  });
  await checkUsable(name, view);
}

// The same of a dialog before a page.
export async function checkUsable(name, view) {
  await test(`${name}: the page is not wider than the window`, async () => {
    assert.ok(await view.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
  });
  await test(`${name}: axe reports nothing, contrast included`, async () => {
    await view.evaluate(axe);
    const { violations } = await view.evaluate(() => window.axe.run(document, { resultTypes: ['violations'], iframes: false }));
    assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).slice(0, 3)}`), []);
  });
}

// The page on A4.
export async function checkPrint(view) {
  await view.setViewportSize({ width: 688, height: 1000 });
  await view.emulateMedia({ media: 'print' });
  await view.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  const boxes = await view.evaluate(textBoxes);
  assert.deepEqual(overlaps(boxes.map((box) => ({ ...box, where: '' }))), []);
  assert.deepEqual(cut(boxes), []);
  assert.ok(await view.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'wider than the paper');
}

// Looks at a page with more than so many texts in every setting; `more` adds checks. Pictures are called PREFIX-SETTING.png.
export async function checkEverywhere(page, pictures, prefix, more = async () => {}, texts = 100) {
  for (const setting of settings) {
    const name = `${prefix}${setting.name}`;
    const { view, said, asked, close } = await open(page, setting);
    await pictured(view, path.join(pictures, `${name}.png`), async () => {
      await test(`${name}: says nothing on the console and asks for nothing`, () => {
        assert.deepEqual(said, []);
        assert.deepEqual(asked, []);
      });
      await checkView(name, view, texts);
      await more(setting, view);
    });
    await close();
  }
}

// Prints the verdict and ends the program.
export async function finish() {
  await browser.close();
  console.log(failures.length ? `${failures.length} failed` : 'all passed');
  process.exit(failures.length ? 1 : 0);
}
