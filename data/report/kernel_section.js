// One block of a run's page in a dialog: its source line, its formula, and what would shorten it. #block-12 opens block 12.
'use strict';
// `page`: what page.js lends: data, element, time, bytes, flops, flopRate, byteRate, percent, count, blockOf, describe, table, live.
// eslint-disable-next-line no-unused-vars
const hespasKernel = (page) => {
  const { data, element, time, percent } = page;
  const { run, device } = data;
  const dialog = element('dialog', { id: 'kernel', 'aria-labelledby': 'kernel-heading' });
  document.body.append(dialog);
  const uses = new Map();
  for (const d of data.blocks.distinct) uses.set(d, (uses.get(d) ?? 0) + 1);

  // Equal blocks may stand in other lines: the text of the first is in the page.
  const sourceOf = (b, d) => {
    if (!b.line) return ['The program tells no source line.'];
    const file = run.program.path.split('/').pop();
    const own = data.source[b.line];
    const alike = data.blocks.distinct.findIndex((other, k) => other === d && data.source[data.blocks.line[k]]);
    const line = own === undefined && alike >= 0 ? data.blocks.line[alike] : b.line;
    const text = data.source[line];
    return [element('p', {}, `${file}, line ${b.line}${line === b.line ? '' : `; equal to line ${line}`}`),
      ...(text === undefined ? [] : [element('pre', { tabindex: '0', 'aria-label': 'Source line' }, text)])];
  };

  const formulaOf = (b) => {
    if (!b.terms.length) return [element('p', {}, 'The estimator gave a time without terms.')];
    const work = {
      'flops / rate': (ps) => `${page.flops(b.flops)} at ${page.flopRate(b.flops / (ps * 1e-12))}`,
      'bytes / bandwidth': () => `${page.bytes(b.bytes)} beyond the kernel, and what it reads again out of L2; memory has ${page.byteRate(device.memory_bandwidth)}`,
      launch: () => 'from the end of the kernel before to this one',
    };
    const rows = b.terms.map(([name, ps]) => [name, time(ps), percent(b.time ? ps / b.time : 0), ps && work[name] ? work[name](ps) : '']);
    return [element('p', {}, `time = ${run.estimator === 'calibrated' ? 'launch + soft maximum of the other terms' : 'what the estimator makes of these terms'} = `
      + `${time(b.time)}${b.sigma ? ` ± ${time(b.sigma)}` : ''}, bound by ${b.bound}.`),
    page.table('Terms of the formula', [['term', ''], ['takes', 'number'], ['of the time', 'number'], ['from', '']], rows)];
  };

  // The same changes as the table What if, as far as the page can recompute them.
  const CHANGES = [
    ['2x peak rate', (s) => { s.peak *= 2; }, '--set device.peak_flops=2x'],
    ['2x memory bandwidth', (s) => { s.bandwidth *= 2; }, '--set device.memory_bandwidth=2x'],
    ['no launch time', (s) => { s.launch = 0; }, '--set device.launch_time=0'],
  ];
  const whatIfOf = (b, d) => {
    const live = page.live();
    if (!live) return [element('p', {}, 'Not for this run: see What if for the step.')];
    const [now, alike] = [live.step(live.now), uses.get(d)];
    const rows = CHANGES.map(([name, change, option]) => {
      const settings = structuredClone(live.now);
      change(settings);
      const then = live.step(settings);
      return { name, option, kernel: then.blocks[d].time, step: then.step };
    }).sort((x, y) => x.kernel - y.kernel);
    return [page.table('What would shorten it', [['change', ''], ['this kernel', 'number'], ['change of it', 'number'], ['step', 'number'], ['change of the step', 'number'], ['options', '']],
      rows.map((r) => [r.name, time(r.kernel), percent(b.time ? r.kernel / b.time - 1 : 0), time(r.step), percent(r.step / now.step - 1), element('code', {}, `${r.option} --keep-kernels`)])),
    element('p', { class: 'note' }, `Of the step: ${page.count(alike, 'block')} like this one, and all others.`)];
  };

  const command = (id) => {
    const words = (text) => (/^[\w./:@=+-]+$/.test(text) ? text : `'${text.replaceAll('\'', '\'\\\'\'')}'`);
    return `hespas explain ${words(run.program.path)} ${id} --device ${words(run.device)}${run.optimise === 'auto' ? '' : ` --optimise ${run.optimise}`}`;
  };

  const fill = (id) => {
    const k = page.blockOf.get(id);
    const heading = element('h2', { id: 'kernel-heading' });
    const close = element('button', { type: 'button' }, 'Close');
    close.addEventListener('click', () => dialog.close());
    const parts = [element('div', { class: 'dialog-bar' }, heading, close)];
    const part = (name, children) => parts.push(element('h3', {}, name), ...children);
    if (k === undefined) {
      const c = (data.collectives ?? []).find((o) => o.block === id);
      heading.textContent = `Block ${id}${c ? `: ${c.op} ${page.bytes(c.bytes)}` : ''}`;
      parts.push(element('p', {}, c ? `${c.algorithm}, ${page.count(c.members, 'member')}: ${time(c.time)}, of which ${time(c.exposed)} exposed; ${page.byteRate(c.bandwidth)}.`
        : 'It takes no time of its own: the end of a collective that runs beside computation, or a renaming.'));
    } else {
      const b = page.describe(k);
      const d = data.blocks.distinct[k];
      heading.textContent = `Block ${id}: ${b.full}`;
      const alike = uses.get(d);
      parts.push(element('p', {}, `${b.kind}, ${time(b.time)}${alike > 1 ? `; with ${page.count(alike - 1, 'equal block')} ${time(alike * b.time)}` : ''}, `
        + `${percent(run.step_time_ps ? alike * b.time / run.step_time_ps : 0)} of the step. ${b.shapes}`));
      part('Source', sourceOf(b, d));
      part('Formula', formulaOf(b));
      part('What if', whatIfOf(b, d));
    }
    part('Every factor', [element('pre', { tabindex: '0', 'aria-label': 'Command that explains the block' }, command(id))]);
    dialog.replaceChildren(...parts);
  };

  const follow = () => {
    const found = /^#block-(\d+)$/.exec(window.location.hash);
    if (!found || Number(found[1]) >= data.graph.op.length) return;
    fill(Number(found[1]));
    if (!dialog.open) dialog.showModal();
  };
  dialog.addEventListener('close', () => window.history.replaceState(null, '', '#'));
  window.addEventListener('hashchange', follow);
  return { open: (id) => { window.location.hash = `block-${id}`; }, follow };
};
