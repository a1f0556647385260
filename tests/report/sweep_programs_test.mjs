// The page of a sweep of several programs in a headless browser: light, dark, narrow; what each has of its own.
//
// usage: node sweep_programs_test.mjs FOLDER-OF-SWEEP PICTURES
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { checkEverywhere, finish, open, test } from './browser.mjs';

const [folder, pictures] = process.argv.slice(2);
await checkEverywhere(path.resolve(folder, 'report.html'), pictures, 'sweep-programs-');
const apart = await open(path.resolve(folder, 'report.html'));
const all = fs.readFileSync(path.resolve(folder, 'rows.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
await test('several programs have best points, fronts and maps of their own', async () => {
  const names = [...new Set(all.map((row) => row.program))];
  const best = await apart.view.locator('#answers tbody tr').filter({ hasText: 'least step_time' }).locator('td:nth-child(3)').allInnerTexts();
  assert.deepEqual(best, names.map((name) => String(all.filter((row) => row.program === name).reduce((a, b) => (b.step_time_ps < a.step_time_ps ? b : a)).point)));
  for (const [i, name] of names.entries()) {
    assert.match(await apart.view.locator('h2.program').nth(i).innerText(), new RegExp(name.split('/').pop()));
    const drawn = await apart.view.locator(`#pareto-${i + 1} circle[r="3"]`).evaluateAll((circles) => circles.map((c) => Number(c.parentElement.getAttribute('href').split('-')[1])));
    const own = all.filter((row) => row.program === name).map((row) => row.point);
    assert.ok(drawn.length > 0 && drawn.every((point) => own.includes(point)));
  }
  assert.doesNotMatch(await apart.view.locator('#answers').innerText(), /UNEQUAL/i);
});
await apart.close();
await finish();
