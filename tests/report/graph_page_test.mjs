// The dependency graph in report.html, and the dialog of a block, in a headless browser.
//
// usage: node graph_page_test.mjs PAGE SOURCE SCREENSHOTS      SOURCE: the program as text
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { checkUsable, finish, open, pictured, processorClock, test } from './browser.mjs';

const [page, source, pictures] = process.argv.slice(2);
const kMostBoxes = 100 + 16;  // of a group, and its neighbours
const { view, said, close } = await open(path.resolve(page));
const figure = view.locator('#graph');
const boxes = () => figure.locator('svg .box').count();
const shown = () => view.evaluate(() => { const { shown: s, nodes, edges } = hespas.graph.now(); return { label: s.label, count: s.count, nodes: nodes.length, edges: edges.length }; });

await test('every block is in one group, no group has more than a hundred boxes, times add up', async () => {
  const found = await view.evaluate(() => {
    const { graph, blocks } = hespas.graph;
    const seen = new Map();
    let most = 0;
    const walk = (node) => {
      if (node.block !== null) seen.set(node.block, (seen.get(node.block) ?? 0) + 1);
      most = Math.max(most, node.children.length);
      node.children.forEach(walk);
    };
    walk(graph.top);
    return { blocks: blocks.length, seen: seen.size, twice: [...seen.values()].filter((n) => n !== 1).length, most, count: graph.top.count,
      time: graph.top.time, sum: blocks.reduce((s, b) => s + b.time, 0), total: hespas.data.run.blocks.total };
  });
  assert.equal(found.blocks, found.total);
  assert.deepEqual([found.seen, found.twice, found.count], [found.total, 0, found.total]);
  assert.ok(found.most <= 100);
  assert.ok(Math.abs(found.time - found.sum) < 1e-9 * found.sum);
});

await test('arrows are the dependencies between boxes, in every group on the way to a block', async () => {
  const wrong = await view.evaluate(() => {
    const { graph, show, now } = hespas.graph;
    const out = [];
    const under = (node, top) => { for (let at = node; at; at = at.parent) if (at === top) return true; return false; };
    for (let at = graph.leaves[Math.floor(graph.leaves.length / 2)].parent; at; at = at.parent) {
      show(at);
      const { nodes, edges } = now();
      const boxOf = graph.leaves.map((leaf) => (under(leaf, at) ? at.children.find((child) => under(leaf, child)) : null));
      const wanted = new Set();
      graph.before.forEach((list, to) => list.forEach((from) => {
        if (boxOf[from] && boxOf[to] && boxOf[from] !== boxOf[to]) wanted.add(`${at.children.indexOf(boxOf[from])} ${at.children.indexOf(boxOf[to])}`);
      }));
      const drawn = new Set(edges.filter((e) => !nodes[e.from].side && !nodes[e.to].side).map((e) => `${at.children.indexOf(nodes[e.from].node)} ${at.children.indexOf(nodes[e.to].node)}`));
      if (drawn.size !== wanted.size || [...wanted].some((pair) => !drawn.has(pair))) out.push(`${at.label}: ${drawn.size} of ${wanted.size}`);
    }
    return out;
  });
  assert.deepEqual(wrong, []);
});

await test('boxes do not overlap, their texts fit, and a group opens within 100 ms of the processor', async () => {
  const clock = await processorClock(view);
  const groups = await view.evaluateHandle(() => {
    const { leaves } = hespas.graph.graph;
    const all = [];
    for (let at = leaves[Math.floor(leaves.length / 3)].parent; at; at = at.parent) all.push(at);
    return all;
  });
  for (let i = 0; i < await groups.evaluate((all) => all.length); ++i) {
    const times = [];
    for (const _ of [1, 2, 3]) {
      const before = await clock();
      await groups.evaluate((all, at) => {
        hespas.graph.show(all[at]);
        document.querySelector('#graph svg').getBoundingClientRect();
      }, i);
      times.push(await clock() - before);
    }
    assert.ok(Math.min(...times) < 100, `${times} ms`);
    const wrong = await groups.evaluate((all, at) => {
      const { positions } = hespas.graph.now();
      const found = [];
      positions.forEach((p, a) => positions.forEach((q, b) => { if (b > a && Math.abs(p.x - q.x) < 204 && Math.abs(p.y - q.y) < 50) found.push(`${all[at].label}: ${a} and ${b}`); }));
      for (const text of document.querySelectorAll('#graph svg text')) if (text.getComputedTextLength() > 198) found.push(text.textContent);
      return found;
    }, i);
    assert.deepEqual(wrong, []);
  }
});

await test('a click opens a group, the path above it leads back', async () => {
  await view.evaluate(() => hespas.graph.show(hespas.graph.graph.top));
  const before = await shown();
  assert.equal(await boxes(), before.nodes);
  assert.ok(before.nodes <= kMostBoxes && before.edges > 0);
  await figure.locator('svg .box.many:not(.outside)').first().click();
  const inside = await shown();
  assert.notEqual(inside.label, before.label);
  assert.ok(inside.count < before.count);
  assert.equal(await boxes(), inside.nodes);
  await figure.locator('.crumbs button').first().click();
  assert.deepEqual(await shown(), before);
});

await test('arrow keys go from box to box, Enter opens, Escape goes up', async () => {
  const first = figure.locator('svg .box[tabindex="0"]');
  await first.focus();
  const from = await view.evaluate(() => document.activeElement.querySelector('title')?.textContent);
  await view.keyboard.press('ArrowDown');
  assert.notEqual(await view.evaluate(() => document.activeElement.querySelector('title')?.textContent), from);
  const before = await shown();
  await figure.locator('svg .box.many').first().focus();
  await view.keyboard.press('Enter');
  assert.notEqual((await shown()).label, before.label);
  await view.keyboard.press('Escape');
  assert.equal((await shown()).label, before.label);
});

await test('the search finds every block of that name and goes to one after the other', async () => {
  const word = 'matmul';
  await figure.getByRole('searchbox').fill(word);
  const wanted = await view.evaluate((w) => hespas.graph.blocks.flatMap((b, i) => (`block ${i} ${b.full} ${b.kind}`.includes(w) ? [i] : [])), word);
  assert.ok(wanted.length > 2);
  assert.equal(await figure.locator('.controls .note').first().innerText(), `${wanted.length.toLocaleString('en')} found`);
  assert.ok(await figure.locator('svg .box.found').count() > 0);
  for (const block of wanted.slice(0, 2)) {
    await figure.getByRole('button', { name: 'Next', exact: true }).click();
    assert.match(await figure.locator('svg .box.chosen title').textContent(), new RegExp(`^block ${block}:`));
    const [box, frame] = [await figure.locator('svg .box.chosen').boundingBox(), await figure.locator('svg').boundingBox()];
    assert.ok(box.x >= frame.x && box.x + box.width <= frame.x + frame.width && box.y >= frame.y && box.y + box.height <= frame.y + frame.height, 'inside the frame');
  }
});

await test('the wheel with Ctrl and buttons zoom, dragging moves, All shows all', async () => {
  const scale = () => view.evaluate(() => hespas.graph.now().at.scale);
  const start = await scale();
  await figure.getByRole('button', { name: 'Zoom in', exact: true }).click();
  assert.ok(await scale() > start);
  const frame = await figure.locator('svg').boundingBox();
  const corner = () => view.evaluate(() => hespas.graph.now().at);
  const at = await corner();
  const label = (await shown()).label;
  await view.mouse.move(frame.x + 300, frame.y + 200);
  await view.mouse.down();
  await view.mouse.move(frame.x + 360, frame.y + 240, { steps: 4 });
  await view.mouse.up();
  const moved = await corner();
  assert.deepEqual([Math.round(moved.x - at.x), Math.round(moved.y - at.y)], [60, 40]);
  assert.equal((await shown()).label, label);
  await view.keyboard.down('Control');
  await view.mouse.wheel(0, 300);
  await view.keyboard.up('Control');
  await view.waitForFunction((s) => hespas.graph.now().at.scale < s, moved.scale);
  await figure.getByRole('button', { name: 'All', exact: true }).click();
  const inside = await view.evaluate(() => { const n = hespas.graph.now(); const svg = document.querySelector('#graph svg'); return n.width * n.at.scale <= svg.clientWidth && n.height * n.at.scale <= svg.clientHeight; });
  assert.ok(inside);
});

await test('a kernel of a table opens its source line, formula and what-ifs; the address leads there', async () => {
  const link = view.locator('#costliest tbody a').first();
  const id = Number((await link.getAttribute('href')).match(/\d+/)[0]);
  await link.click();
  const dialog = view.locator('dialog');
  await dialog.waitFor();
  const block = await view.evaluate((i) => { const { data } = hespas; const k = data.blocks.id.indexOf(i); const d = data.blocks.distinct[k];
    return { line: data.blocks.line[k], time: data.distinct.time[d], distinct: d }; }, id);
  if (block.line > 0) {
    const text = fs.readFileSync(source, 'utf8').split('\n')[block.line - 1].trim();
    assert.ok(text.startsWith((await dialog.getByLabel('Source line').innerText()).trim()));
    assert.ok(text.length > 10);
  }
  assert.ok(await dialog.locator('table', { hasText: 'launch' }).first().locator('tbody tr').count() >= 3);
  const changes = dialog.locator('table', { hasText: 'change of it' }).locator('tbody tr');
  assert.equal(await changes.count(), 3);
  const best = await view.evaluate(({ distinct }) => {
    const { live } = hespas;
    const then = live.step({ ...live.now, peak: 2 });
    return then.blocks[distinct].time;
  }, block);
  const cells = await changes.filter({ hasText: '2x peak rate' }).locator('td').allInnerTexts();
  assert.ok(Math.abs(await view.evaluate((text) => hespasShell.valueOf(text), cells[1]) / (best * 1e-12) - 1) < 0.01);
  assert.match(await dialog.getByLabel('Command that explains the block').innerText(), new RegExp(` ${id} --device`));
  assert.match(view.url(), new RegExp(`#block-${id}$`));
  await checkUsable('block dialog', view);
  await view.keyboard.press('Escape');
  await view.waitForFunction(() => !document.querySelector('dialog').open);
  await view.waitForURL(/#$/); // written behind the dialog's close event
});
await pictured(view, path.join(pictures, 'graph.png'), () => test('nothing was said on the console', () => assert.deepEqual(said, [])));
await close();

await test('the address of a block opens it', async () => {
  const opened = await open(path.resolve(page));
  await opened.view.goto(`${opened.view.url()}#block-1`);
  await opened.view.locator('dialog h2').waitFor();
  assert.match(await opened.view.locator('dialog h2').innerText(), /^Block 1/);
  await opened.close();
});
await finish();
