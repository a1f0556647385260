// How long report.html of 10,000 blocks takes to load, as a ratio against a bare ECharts page with as many points.
//
// usage: NODE_PATH=$(scripts/npm_env.sh browser) node bench/report_load.mjs REPORT.html [RUNS]
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [report, runs = '7'] = process.argv.slice(2);
const require = createRequire(path.join(process.env.NODE_PATH, 'x'));
const { chromium } = require('playwright-core');
const text = fs.readFileSync(report, 'utf8');
const library = text.match(/<script>(\s*\/\*\s*\* Licensed[\s\S]*?)<\/script>/)[1];
const blocks = JSON.parse(text.match(/<script type="application\/json" id="data">([\s\S]*?)<\/script>/)[1]).blocks.id.length;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hespas-'));
const bare = path.join(folder, 'bare.html');
fs.writeFileSync(bare, `<!DOCTYPE html><div id="c" style="width:1140px;height:420px"></div><script>${library}</script><script>
const data = Array.from({ length: ${blocks} }, (_, i) => [1 + (i * 7919) % 1000, 1 + (i * 104729) % 1000]);
echarts.init(document.getElementById('c')).setOption({ animation: false, tooltip: {}, xAxis: { type: 'log' }, yAxis: { type: 'log' }, series: [{ type: 'scatter', symbolSize: 5, progressive: 0, data }] });
document.documentElement.dataset.ready = 'true';</script>`);

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
async function load(file) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const began = process.hrtime.bigint();
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'true', null, { polling: 10 });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const took = Number(process.hrtime.bigint() - began) / 1e6;
  await page.close();
  return took;
}
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
await load(bare);
const pairs = [];
for (let i = 0; i < Number(runs); ++i) pairs.push([await load(bare), await load(path.resolve(report))]);
await browser.close();
fs.rmSync(folder, { recursive: true });
console.log(`${blocks} blocks: bare ECharts page ${median(pairs.map((p) => p[0])).toFixed(0)} ms, report ${median(pairs.map((p) => p[1])).toFixed(0)} ms, ratio ${median(pairs.map(([b, r]) => r / b)).toFixed(2)} (${(text.length / 1e6).toFixed(2)} MB)`);
