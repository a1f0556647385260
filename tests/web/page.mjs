// The page in a headless browser, as its tests use it.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

import { openAddress } from '../report/browser.mjs';

const types = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm' };

// The files of a folder on a port of this machine.
export async function serve(folder) {
  const server = http.createServer((request, response) => {
    const file = path.join(folder, path.normalize(new URL(request.url, 'http://x').pathname).replace(/\/$/, '/index.html'));
    if (!fs.existsSync(file)) return response.writeHead(404).end();
    return response.writeHead(200, { 'content-type': types[path.extname(file)] ?? 'application/octet-stream' }).end(fs.readFileSync(file));
  }).listen(0, '127.0.0.1');
  await new Promise((ready) => server.once('listening', ready));
  return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

export async function openPage(address, settings = {}) {
  const opened = await openAddress(address, settings, () => true);
  const { view } = opened;
  const settled = (timeout = 120000) => view.waitForFunction(() => !document.getElementById('predict').disabled, null, { timeout });
  return {
    ...opened,
    settled,
    predict: async (timeout) => { await view.click('#predict'); await settled(timeout); },
    problem: () => view.evaluate(() => document.getElementById('problem').textContent),
    file: (name) => view.evaluate(async (wanted) => {
      const link = [...document.querySelectorAll('#files a')].find((a) => a.textContent === wanted);
      return (await fetch(link.href)).text();
    }, name),
  };
}
