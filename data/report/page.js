// Draws the page from the data in it. Sections in order; each chart has a table that says the same.
'use strict';
(() => {
  const root = document.documentElement;
  const main = document.getElementById('content');
  const hasCharts = typeof echarts !== 'undefined';
  const charts = [];
  const canvases = [];  // functions that draw them
  let data;
  let live = null;

  // --- numbers as a person reads them ---------------------------------------------------------------------------------
  const { scaled } = hespasShell;
  const prefixed = (unit) => ['', 'k', 'M', 'G', 'T', 'P', 'E'].map((p) => p + unit);
  const time = (ps) => (ps === 0 ? '0' : scaled(ps, ['ps', 'ns', 'us', 'ms', 's']));
  const bytes = (n) => scaled(n, prefixed('B'));
  const flops = (n) => scaled(n, prefixed('FLOP'));
  const flopRate = (n) => scaled(n, prefixed('FLOP/s'));
  const byteRate = (n) => scaled(n, prefixed('B/s'));
  const percent = (x) => `${(100 * x).toFixed(Math.abs(x) < 0.0995 ? 2 : 1)} %`;
  const count = (n, one, many = `${one}s`) => `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
  const css = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  const boundColour = (name) => css(['compute', 'memory', 'launch', 'network', 'idle'].includes(name) ? name : 'other');

  // --- elements -------------------------------------------------------------------------------------------------------
  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === 'class') made.className = value;
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  };
  const escape = (text) => String(text).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

  const sections = [];
  const section = (id, heading, text) => {
    const made = element('section', { id, 'aria-labelledby': `${id}-heading` }, element('h2', { id: `${id}-heading` }, heading));
    if (text) made.append(element('p', {}, text));
    main.append(made);
    sections.push([id, heading]);
    return made;
  };

  // Columns: [name, kind]; kind: '' text, 'number', 'shapes'. Cells are texts or nodes.
  const table = (label, columns, rows) => {
    const head = element('tr');
    for (const [name, kind] of columns) head.append(element('th', { scope: 'col', class: kind === 'number' ? 'number' : '' }, name));
    const body = element('tbody');
    for (const row of rows) {
      const line = element('tr');
      row.forEach((cell, i) => line.append(element('td', { class: columns[i][1] }, cell)));
      body.append(line);
    }
    const made = element('table', {}, element('caption', { class: 'unseen' }, label), element('thead', {}, head), body);
    const scroll = element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Table: ${label}` }, made);
    const holder = element('div', {}, scroll);
    hespasShell.enhance(made);
    return holder;
  };

  const kMostRows = 500;
  // A table behind a fold, made when it is opened; without charts it stands open.
  const fold = (label, columns, rows) => {
    const details = element('details', {}, element('summary', {}, `${label} as a table`));
    const fill = () => {
      if (details.querySelector('table')) return;
      const all = rows();
      details.append(table(label, columns, all.slice(0, kMostRows)));
      if (all.length > kMostRows) details.append(element('p', {}, `The first ${kMostRows} of ${count(all.length, 'row')}.`));
    };
    details.addEventListener('toggle', fill);
    if (!hasCharts) { fill(); details.open = true; }
    return details;
  };

  // --- charts ---------------------------------------------------------------------------------------------------------
  const base = () => ({
    animation: false,
    backgroundColor: 'transparent',
    textStyle: { color: css('text'), fontFamily: 'system-ui, "Segoe UI", "Liberation Sans", sans-serif', fontSize: 12 },
    tooltip: {
      confine: true, backgroundColor: css('ground'), borderColor: css('line'), textStyle: { color: css('text'), fontSize: 12.5 },
      extraCssText: 'box-shadow: 0 2px 10px rgba(0,0,0,.25)',
    },
  });
  const axis = (more) => ({
    axisLine: { lineStyle: { color: css('line') } },
    axisTick: { lineStyle: { color: css('line') } },
    axisLabel: { color: css('soft'), hideOverlap: true },
    nameTextStyle: { color: css('soft') },
    splitLine: { lineStyle: { color: css('line'), opacity: 0.5 } },
    ...more,
  });
  const legend = (more) => ({ textStyle: { color: css('text') }, inactiveColor: css('idle'), itemWidth: 12, itemHeight: 10, icon: 'roundRect', ...more });
  const tip = (title, rows) => `<div class="tip"><b>${escape(title)}</b><table>${
    rows.filter((r) => r[1] !== '').map((r) => `<tr><td>${escape(r[0])}</td><td>${escape(r[1])}</td></tr>`).join('')}</table></div>`;

  // `option(width)` makes the whole option; it is asked again when the theme or the width changes.
  const chart = (parent, { id, caption, label, height, marks = 0, option, ready }) => {
    if (!hasCharts) return null;
    const holder = element('div', { class: 'chart', id: `chart-${id}`, role: 'img', 'aria-label': label, style: `height:${height}px` });
    const figure = element('figure', {}, element('figcaption', {}, element('h3', {}, caption)), holder);
    parent.append(figure);
    const entry = { id, holder, figure, instance: null };
    entry.draw = () => {
      if (!entry.instance) {
        entry.instance = echarts.init(holder, null, { renderer: marks > 1500 ? 'canvas' : 'svg' });
        if (ready) ready(entry);
      }
      entry.instance.resize();
      entry.instance.setOption({ ...base(), ...option(holder.clientWidth) }, { notMerge: true });
    };
    charts.push(entry);
    return entry;
  };

  const bars = (parent, id, caption, shares, total, colour) => {
    const shown = shares.slice(0, 12);
    const rest = shares.slice(12);
    if (rest.length) shown.push({ name: `${rest.length} others`, time_ps: rest.reduce((s, r) => s + r.time_ps, 0), blocks: rest.reduce((s, r) => s + r.blocks, 0) });
    const devices = data.run.npus;
    const words = shown.map((s) => `${s.name} ${percent(s.time_ps / total)}`).join(', ');
    const entry = chart(parent, {
      id, caption, label: `${caption}: ${words}`, height: 56 + 26 * shown.length, marks: shown.length,
      option: (width) => {
        const names = Math.min(150, Math.max(84, 0.3 * width));
        return {
          grid: { left: names + 12, right: 62, top: 6, bottom: 26 },
          tooltip: { ...base().tooltip, formatter: (p) => tip(p.name, [
            ['time per device', time(p.data.time_ps / devices)], ['share', percent(p.data.time_ps / total)],
            ['blocks', p.data.blocks ? p.data.blocks.toLocaleString('en') : '']]) },
          xAxis: axis({ type: 'value', axisLabel: { color: css('soft'), hideOverlap: true, formatter: (v) => time(v) }, splitNumber: width < 420 ? 2 : 4 }),
          yAxis: axis({ type: 'category', inverse: true, data: shown.map((s) => s.name), splitLine: { show: false },
            axisLabel: { color: css('text'), width: names, overflow: 'truncate', interval: 0 } }),
          series: [{ type: 'bar', barMaxWidth: 16, cursor: 'default',
            data: shown.map((s) => ({ value: s.time_ps / devices, ...s, itemStyle: { color: colour(s.name), borderRadius: 2 } })),
            label: { show: true, position: 'right', color: css('text'), formatter: (p) => percent(p.data.time_ps / total) } }],
        };
      },
    });
    (entry ? entry.figure : parent).append(fold(caption, [['name', ''], ['time per device', 'number'], ['share', 'number'], ['blocks', 'number']],
      () => shares.map((s) => [s.name, time(s.time_ps / devices), percent(s.time_ps / total), s.blocks ? String(s.blocks) : ''])));
  };

  // --- what the data say ----------------------------------------------------------------------------------------------
  const text = (i) => data.strings[i];
  const blockOf = new Map();
  const describe = (k) => {
    const { distinct, blocks } = data;
    const d = blocks.distinct[k];
    const terms = [];
    for (let i = 0; i < distinct.terms[d].length; i += 2) terms.push([text(distinct.terms[d][i]), distinct.terms[d][i + 1]]);
    return {
      id: blocks.id[k], line: blocks.line[k], layer: text(blocks.layer[k]), kind: text(distinct.kind[d]), name: text(distinct.name[d]),
      full: [text(blocks.layer[k]), text(distinct.name[d])].filter(Boolean).join(' '),
      shapes: text(distinct.shapes[d]), time: distinct.time[d], sigma: distinct.sigma[d], flops: distinct.flops[d], bytes: distinct.bytes[d],
      bound: text(distinct.bound[d]), ops: distinct.ops[d], terms,
    };
  };
  // To its source line, formula and what-ifs.
  const link = (b) => element('a', { href: `#block-${b.id}` }, b.full);
  const place = (line) => (line > 0 ? `line ${line}` : '');
  const blockTip = (b) => tip(`block ${b.id}: ${b.full}`, [
    ['kind', b.kind], ['where', [place(b.line), b.layer].filter(Boolean).join(', ')], ['shapes', b.shapes], ['operations', b.ops > 1 ? String(b.ops) : ''],
    ['time', time(b.time) + (b.sigma ? ` ± ${time(b.sigma)}` : '')], ['bound by', b.bound],
    ...b.terms.map(([name, ps]) => [name, time(ps)]), ['work', b.flops ? flops(b.flops) : ''], ['bytes', bytes(b.bytes)],
    ['achieved', b.flops && b.time ? flopRate(b.flops / (b.time * 1e-12)) : '']]);

  // --- sections -------------------------------------------------------------------------------------------------------
  // The three changes that shorten the step most, each with what reproduces it.
  const bestChanges = () => {
    const step = data.run.step_time_ps;
    const rows = (data.run.what_if || []).filter((w) => w.step_time_ps < step).sort((a, b) => a.step_time_ps - b.step_time_ps).slice(0, 3);
    if (!rows.length) return [];
    const list = element('ol', { class: 'best' });
    for (const w of rows) {
      list.append(element('li', {}, `${w.name}: ${time(w.step_time_ps)} (-${percent(1 - w.step_time_ps / step)}), `, element('code', {}, w.options)));
    }
    return [element('h3', {}, rows[0].estimated ? 'What would help most, about' : 'What would help most'), list];
  };

  const headline = () => {
    const r = data.run;
    const made = section('headline', 'Headline');
    const list = element('dl', { class: 'cards' });
    const card = (name, figure, note) => list.append(element('div', { class: 'card' }, element('dt', {}, name),
      element('dd', { class: 'figure' }, figure), ...(note ? [element('dd', { class: 'note' }, note)] : [])));
    const warn = (...words) => made.append(element('p', { class: 'alarm', role: 'alert' }, ...words));
    const misfit = r.warnings.find((w) => w.code === 'W0940');
    if (misfit) warn(misfit.message);
    const unknown = r.unknown_kernels;
    if (unknown.length) {
      const share = (key) => percent(unknown.reduce((sum, k) => sum + k[key], 0));
      warn(`The cost of ${unknown.slice(0, 3).map((k) => k.name).join(', ')}${unknown.length > 3 ? ` and ${unknown.length - 3} more` : ''} is not known: `
        + `${share('share_of_ops')} of operations, ${share('share_of_bytes')} of bytes. --cost NAME=flops:...,bytes:... gives it.`);
    }
    const sigma = r.step_time_sigma_s;
    card('Step time', time(r.step_time_ps), sigma ? `± ${time(sigma * 1e12)} (one standard deviation)` : 'uncertainty not known');
    if (r.throughput) {
      const plain = (n) => scaled(n, ['', 'k', 'M', 'G']).trim();
      card('Throughput', `${plain(r.throughput.per_second_and_device)} ${r.throughput.unit}/s`,
        `per device; ${plain(r.throughput.per_second)} in all, ${plain(r.throughput.per_step)} a step; from ${r.throughput.from}`);
    }
    const hfu = percent(r.hardware_flops_utilisation);
    if (r.model_flops_utilisation != null) card('Model FLOPS utilisation (MFU)', percent(r.model_flops_utilisation), `without recomputation; HFU ${hfu}; ${flops(r.flops)} a device and step`);
    else card('Hardware FLOPS utilisation (HFU)', hfu, `MFU is not known: the program does not tell what it recomputes; ${flops(r.flops)} a device and step`);
    card('Memory bandwidth', percent(r.memory_bandwidth_utilisation), `${bytes(r.bytes_accessed)} of traffic`);
    card('Exposed communication', time(r.exposed_communication_ps), `${percent(r.step_time_ps ? r.exposed_communication_ps / r.step_time_ps : 0)} of the step; ${time(r.overlap_ps)} hidden`);
    const capacity = data.device.memory_capacity;
    if (r.peak_memory_bytes != null) {
      card('Peak memory', bytes(r.peak_memory_bytes), capacity ? `${percent(r.peak_memory_bytes / capacity)} of ${bytes(capacity)}${r.fits_in_memory === false ? ': does not fit' : ''}` : 'capacity not known');
    } else {
      card('Peak memory', 'not known', capacity ? `capacity ${bytes(capacity)}` : '');
    }
    const joules = (n) => scaled(n, prefixed('J'));
    const million = r.throughput ? `per million ${r.throughput.unit}` : '';
    if (r.energy_j == null) card('Energy', 'not known', 'the device file gives no power');
    else if (r.energy_j_per_million == null) card('Energy', joules(r.energy_j), 'per device and step');
    else card('Energy', joules(r.energy_j_per_million), `${million}, devices alone; ${joules(r.energy_j)} per device and step`);
    const money = (n) => `${n < 0.01 ? Number(n.toPrecision(2)) : n < 100 ? Number(n.toPrecision(3)) : n.toFixed(0)} ${r.currency}`;
    if (r.cost_per_million != null) card('Cost', money(r.cost_per_million), `${million}, at ${r.price_per_hour} per device and hour`);
    made.append(list, ...bestChanges());
  };

  // The step as a tree of scopes; its leaves are kinds of operation.
  const scopeTree = () => {
    const top = { name: 'step', time: 0, parts: new Map() };
    for (const [scope, kind, bound, ps] of data.scopes) {
      const [, names, way] = /^(.*?)(?: \((\w+)\))?$/.exec(scope);  // "layers_*/mlp (backward)"
      let at = top;
      top.time += ps;
      for (const name of [way, ...names.split('/'), kind].filter(Boolean)) {
        if (!at.parts.has(name)) at.parts.set(name, { name, time: 0, bound, above: at, parts: new Map() });
        at = at.parts.get(name);
        at.time += ps;
      }
    }
    return top;
  };

  const flameChart = (parent) => {
    if (!data.scopes || data.scopes.every(([scope]) => !scope)) return;
    const top = scopeTree();
    const holder = element('div', { class: 'scroll flame', role: 'img', 'aria-label': `By layer and kind: ${[...top.parts.values()].map((n) => `${n.name} ${percent(n.time / top.time)}`).join(', ')}` });
    const inOrder = (node) => [...node.parts.values()].sort((a, b) => b.time - a.time);
    const box = (node, whole) => {
      const said = `${node.name} ${percent(node.time / top.time)}`;
      const head = element('b', { title: `${said}, ${time(node.time)}`, style: node.parts.size ? '' : `border-color:${boundColour(node.bound)}` }, said);
      if (node.parts.size) head.addEventListener('click', () => show(node === whole ? top : node));
      const parts = element('div', { class: 'parts' }, ...inOrder(node).filter((part) => part.time > 0.003 * whole.time).map((part) => box(part, whole)));
      return element('div', { class: 'node', style: `width:${100 * node.time / (node === whole ? node : node.above).time}%` }, head, parts);
    };
    const show = (node) => holder.replaceChildren(box(node, node));
    show(top);
    const rows = (node, path) => inOrder(node).flatMap((part) => [[[...path, part.name].join(' / '), time(part.time), percent(part.time / top.time)], ...rows(part, [...path, part.name])]);
    parent.append(element('figure', {}, element('figcaption', {}, element('h3', {}, 'By layer and kind')), holder,
      element('p', { class: 'note' }, `Computation and exposed communication of the slowest device. Each box is as wide as its time, and holds what is below it; the lowest have the colour of what bounds them. A click makes a box the whole, and back.`),
      fold('By layer and kind', [['scope', ''], ['time', 'number'], ['share', 'number']], () => rows(top, []))));
  };

  const whereTimeGoes = () => {
    const w = data.run.where_time_goes;
    const made = section('where', 'Where time goes',
      `Every picosecond of ${count(data.run.npus, 'device')}: computation, communication that nothing hides, and waiting. Bars show the mean over devices.`);
    const grid = element('div', { class: 'grid' });
    made.append(grid);
    bars(grid, 'bound', 'By what bounds it', w.by_bound, w.total_ps, boundColour);
    bars(grid, 'kind', 'By kind of operation', w.by_kind, w.total_ps, (name) => (name === 'idle' ? css('idle') : /^(all|reduce_scatter|collective)/.test(name) ? css('network') : css('compute')));
    if (w.by_layer.length) bars(grid, 'layer', 'By layer', w.by_layer, w.total_ps, (name) => (name === 'idle' ? css('idle') : css('launch')));
    else made.append(element('p', {}, 'The program carries no names or locations that tell its layers.'));
    flameChart(made);
  };

  const roofline = () => {
    const { blocks, distinct, device } = data;
    const made = section('roofline', 'Roofline',
      'Each dot is a block of the program: arithmetic per byte against the rate it reaches. Blocks without arithmetic lie on the left edge.');
    // Roofs of the types that the program computes with; f32 also runs on matrix units.
    const used = new Set(data.strings.flatMap((s) => (s.match(/\b(bf16|f16|f32|f64|f8E\w+|i8|ui8)\[/g) || []).map((t) => t.slice(0, -1))));
    if (used.has('f32')) used.add('tf32');
    const tops = [];
    for (const [name, rate] of Object.entries(device.rates).filter(([n]) => used.has(n)).sort((a, b) => b[1] - a[1])) {
      const same = tops.find((t) => t[1] === rate);
      if (same) same[0] += `, ${name}`; else tops.push([name, rate]);
    }
    if (!tops.length) tops.push(['peak', device.peak_flops]);
    const series = new Map();
    let least = Infinity;
    let most = 0;
    let lowest = Infinity;
    const points = blocks.id.map((_, k) => {
      const d = blocks.distinct[k];
      const x = distinct.bytes[d] > 0 ? distinct.flops[d] / distinct.bytes[d] : 0;
      const y = distinct.time[d] > 0 ? distinct.flops[d] / (distinct.time[d] * 1e-12) : 0;
      if (x > 0) { least = Math.min(least, x); most = Math.max(most, x); }
      if (y > 0) lowest = Math.min(lowest, y);
      return [x, y, k];
    });
    if (!Number.isFinite(least)) { least = 0.1; most = 10; }
    if (!Number.isFinite(lowest)) lowest = tops[0][1] / 1e6;
    const ridge = tops[0][1] / device.memory_bandwidth;
    const left = 10 ** Math.floor(Math.log10(least) - 0.3);
    const right = 10 ** Math.ceil(Math.log10(Math.max(most, ridge) * 2));
    const floor = 10 ** Math.floor(Math.log10(lowest));
    const top = 10 ** Math.ceil(Math.log10(tops[0][1] * 1.2));
    for (const p of points) {
      const name = text(distinct.bound[blocks.distinct[p[2]]]) || 'none';
      if (!series.has(name)) series.set(name, []);
      series.get(name).push([Math.max(p[0], left), Math.max(p[1], floor), p[2]]);
    }
    const names = [...series.keys()].sort();
    const label = `Roofline of ${count(points.length, 'block')}: ${names.map((n) => `${series.get(n).length} bound by ${n}`).join(', ')}`;
    const entry = chart(made, {
      id: 'roofline', caption: `${device.name}: ${tops.map(([n, v]) => `${n} ${flopRate(v)}`).join(', ')}; memory ${byteRate(device.memory_bandwidth)}`,
      label, height: 420, marks: points.length,
      option: (width) => ({
        grid: { left: 74, right: 18, top: 40, bottom: 46 },
        legend: legend({ top: 4, left: 0, data: names }),
        tooltip: { ...base().tooltip, formatter: (p) => (p.seriesType === 'scatter' ? blockTip(describe(p.data[2])) : escape(p.seriesName)) },
        xAxis: axis({ type: 'log', min: left, max: right, name: 'FLOP per byte', nameLocation: 'middle', nameGap: 28,
          axisLabel: { color: css('soft'), hideOverlap: true, formatter: (v) => (v >= 0.001 && v < 1e6 ? String(Number(v.toPrecision(3))) : v.toExponential(0)) } }),
        yAxis: axis({ type: 'log', min: floor, max: top, axisLabel: { color: css('soft'), hideOverlap: true, formatter: (v) => scaled(v, prefixed('FLOP/s')).replace(/\.0+ /, ' ').replace(/\.00 /, ' ') } }),
        series: [
          ...tops.map(([name, rate], i) => ({
            type: 'line', name: `${name} roof`, silent: true, symbol: 'none', lineStyle: { color: css('soft'), width: 1.5, type: 'solid' },
            data: [[left, left * device.memory_bandwidth], [rate / device.memory_bandwidth, rate], [right, rate]],
            endLabel: { show: width > 480, formatter: name, color: css('soft'), align: 'right',
              ...(i > 0 && tops[i - 1][1] < 4 * rate ? { verticalAlign: 'top', offset: [-6, 3] } : { verticalAlign: 'bottom', offset: [-6, -3] }) },
          })),
          ...names.map((name) => ({
            type: 'scatter', name, symbolSize: points.length > 3000 ? 5 : 7, itemStyle: { color: boundColour(name), opacity: 0.65 },
            data: series.get(name), progressive: 0, cursor: 'default',
          })),
        ],
      }),
    });
    const order = [...points].sort((a, b) => distinct.time[blocks.distinct[b[2]]] - distinct.time[blocks.distinct[a[2]]]);
    if (entry) walkByKeys(entry, order.map((p) => p[2]), names, series);
    (entry ? entry.figure : made).append(fold('Roofline', [['block', 'number'], ['operation', ''], ['FLOP per byte', 'number'], ['achieved', 'number'], ['bound', '']],
      () => order.map((p) => { const b = describe(p[2]); return [String(b.id), link(b), p[0] ? String(Number(p[0].toPrecision(3))) : '0', flopRate(p[1]), b.bound]; })));
  };

  // Arrow keys go through the blocks from the costliest to the cheapest.
  const walkByKeys = (entry, order, names, series) => {
    let at = -1;
    entry.holder.tabIndex = 0;
    entry.holder.setAttribute('aria-label', `${entry.holder.getAttribute('aria-label')}. Arrow keys go through the blocks by cost.`);
    entry.holder.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      at = (at + step + order.length) % order.length;
      for (const name of names) {
        const dataIndex = series.get(name).findIndex((p) => p[2] === order[at]);
        if (dataIndex < 0) continue;
        entry.instance.dispatchAction({ type: 'showTip', seriesName: name, seriesIndex: entry.instance.getOption().series.findIndex((s) => s.name === name), dataIndex });
      }
      const b = describe(order[at]);
      hespasShell.told(`Block ${b.id}, ${b.full}, ${time(b.time)}, bound by ${b.bound}`);
    });
  };

  const timeline = () => {
    if (!data.timeline || !data.timeline.classes.length) return;
    const made = section('timeline', 'Timeline', 'What each class of ranks computes and communicates during the step. Zoom with the wheel, the slider or the buttons.');
    const lanes = [];
    for (const c of data.timeline.classes) {
      const ranks = c.members === 1 ? `rank ${c.rank}` : `${c.members} ranks like ${c.rank}`;
      for (const kind of ['compute', 'communication']) {
        const lane = { name: kind, ranks, kind, start: [], duration: c[kind].duration, block: c[kind].block };
        let end = 0;
        c[kind].gap.forEach((gap, i) => { lane.start.push(end + gap); end += gap + c[kind].duration[i]; });
        lanes.push(lane);
      }
    }
    const span = data.run.step_time_ps || 1;
    const total = lanes.reduce((s, l) => s + l.start.length, 0);
    const several = data.timeline.classes.length > 1;
    const boundOf = (b) => (blockOf.has(b) ? text(data.distinct.bound[data.blocks.distinct[blockOf.get(b)]]) : 'network');
    // Neighbours that lie within one pixel are drawn as one mark, which knows how many it stands for.
    const visible = (from, to, pixels) => {
      const least = (to - from) / Math.max(pixels, 1);
      const out = [];
      lanes.forEach((lane, row) => {
        let open = null;
        for (let i = 0; i < lane.start.length; ++i) {
          const start = lane.start[i];
          const end = start + lane.duration[i];
          if (end < from) continue;
          if (start > to) break;
          const bound = lane.kind === 'communication' ? 'network' : boundOf(lane.block[i]);
          const small = end - start < least;
          if (open && small && open.small && start - open.end < least) {
            open.end = end; open.count += 1;
            if (end - start > open.longest) { open.longest = end - start; open.bound = bound; open.index = i; }
            continue;
          }
          open = { row, start, end, count: 1, bound, index: i, small, longest: end - start };
          out.push(open);
        }
      });
      return out.map((m) => ({ value: [m.row, m.start, m.end, m.count], bound: m.bound, index: m.index }));
    };
    const names = lanes.map((l) => (several ? `${l.ranks}\n${l.name}` : l.name));
    const overview = element('canvas', { class: 'lanes', role: 'img',
      'aria-label': `Overview: ${data.run.where_time_goes.by_bound.map((b) => `${b.name} ${percent(b.time_ps / data.run.where_time_goes.total_ps)}`).join(', ')}` });
    made.append(element('p', { class: 'note' }, `Overview of ${lanes[0].ranks}: computation above, communication below. Each column is divided by what bounds its time.`), overview);
    const overviewLanes = lanes.slice(0, 2).map((lane) => lane.start.map((start, i) => ({
      start, end: start + lane.duration[i], bound: lane.kind === 'communication' ? 'network' : boundOf(lane.block[i]) })));
    canvases.push(() => stackLanes(overview, overviewLanes, span));
    const height = 96 + 44 * lanes.length;
    let range = [0, span];
    const option = (width) => {
      const left = width < 520 ? 110 : 150;
      const pixels = Math.max(width - left - 24, 50);
      return {
        grid: { left, right: 24, top: 8, bottom: 78 },
        tooltip: { ...base().tooltip, formatter: (p) => markTip(p.data) },
        xAxis: axis({ type: 'value', min: 0, max: span, axisLabel: { color: css('soft'), hideOverlap: true, showMaxLabel: false, formatter: (v) => time(v) }, splitNumber: width < 520 ? 3 : 6 }),
        yAxis: axis({ type: 'category', inverse: true, data: names, splitLine: { show: false }, axisLabel: { color: css('text'), interval: 0, width: left - 12, overflow: 'truncate' } }),
        dataZoom: [
          { type: 'inside', xAxisIndex: 0, startValue: range[0], endValue: range[1], filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseWheel: false },
          { type: 'slider', xAxisIndex: 0, startValue: range[0], endValue: range[1], filterMode: 'none', bottom: 8, height: 22, showDataShadow: false,
            labelFormatter: '', borderColor: css('line'), fillerColor: `${css('accent')}33`, handleStyle: { color: css('accent') }, brushSelect: false },
        ],
        series: [{
          type: 'custom', encode: { x: [1, 2], y: 0 }, clip: true, progressive: 0, cursor: 'default', data: visible(range[0], range[1], pixels),
          renderItem: (params, api) => {
            const from = api.coord([api.value(1), api.value(0)]);
            const to = api.coord([api.value(2), api.value(0)]);
            const tall = Math.min(26, api.size([0, 1])[1] * 0.62);
            const shape = echarts.graphic.clipRectByRect({ x: from[0], y: from[1] - tall / 2, width: Math.max(to[0] - from[0], 0.6), height: tall },
              { x: params.coordSys.x, y: params.coordSys.y, width: params.coordSys.width, height: params.coordSys.height });
            return shape && { type: 'rect', shape, style: { fill: colours[api.value(4)] || css('other') } };
          },
        }].map((s) => ({ ...s, data: s.data.map((d) => ({ ...d, value: [...d.value, kinds.indexOf(d.bound)] })) })),
      };
    };
    const kinds = ['compute', 'memory', 'launch', 'network', 'none', 'measured'];
    let colours = [];
    const markTip = (d) => {
      const lane = lanes[d.value[0]];
      const rows = [['from', time(d.value[1])], ['to', time(d.value[2])]];
      if (d.value[3] > 1) return tip(`${d.value[3]} ${lane.kind === 'compute' ? 'blocks' : 'transfers'}`, [...rows, ['mostly bound by', d.bound]]);
      const block = lane.block[d.index];
      if (blockOf.has(block)) return blockTip(describe(blockOf.get(block))).replace('</table>', `<tr><td>from</td><td>${time(d.value[1])}</td></tr></table>`);
      const c = (data.collectives || []).find((o) => o.block === block);
      return tip(c ? c.op : 'communication', [...rows, ['lasts', time(d.value[2] - d.value[1])], ['size', c ? bytes(c.bytes) : ''], ['algorithm', c ? c.algorithm : '']]);
    };
    const entry = chart(made, {
      id: 'timeline', caption: `${count(total, 'interval')} of ${count(data.timeline.classes.length, 'class', 'classes')} of ranks`, marks: Infinity,
      label: `Timeline of ${time(span)}: ${lanes.map((l) => `${several ? `${l.ranks} ` : ''}${l.name} in ${l.start.length} intervals`).join(', ')}`, height,
      option: (width) => { colours = kinds.map(boundColour); return option(width); },
      ready: (e) => e.instance.on('datazoom', () => {
        const zoom = e.instance.getOption().dataZoom[0];
        range = [Math.max(0, zoom.startValue), Math.min(span, zoom.endValue)];
        const left = e.holder.clientWidth < 520 ? 96 : 150;
        const marks = visible(range[0], range[1], e.holder.clientWidth - left - 24);
        e.instance.setOption({ series: [{ data: marks.map((d) => ({ ...d, value: [...d.value, kinds.indexOf(d.bound)] })) }] });
      }),
    });
    if (!entry) {
      made.append(element('p', {}, `${count(total, 'interval')}; the file timeline.pftrace shows them at https://ui.perfetto.dev.`));
      return;
    }
    const zoomTo = (from, to) => {
      const length = Math.min(Math.max(to - from, span / 1e6), span);
      const start = Math.min(Math.max(from, 0), span - length);
      entry.instance.dispatchAction({ type: 'dataZoom', startValue: start, endValue: start + length });
      hespasShell.told(`Timeline from ${time(start)} to ${time(start + length)}`);
    };
    const button = (name, act) => { const b = element('button', { type: 'button' }, name); b.addEventListener('click', act); return b; };
    const length = () => range[1] - range[0];
    const key = element('p', { class: 'note', style: 'margin:8px 0 0' });
    for (const name of ['compute', 'memory', 'launch', 'network']) {
      key.append(element('span', { class: 'bound' }, element('span', { class: 'swatch', style: `background:var(--${name})`, 'aria-hidden': 'true' }),
        `${name} bound`.replace('network bound', 'network')), '\u2003 ');
    }
    entry.figure.append(key, element('div', { class: 'controls' },
      button('Zoom in', () => zoomTo(range[0] + length() / 4, range[1] - length() / 4)),
      button('Zoom out', () => zoomTo(range[0] - length() / 2, range[1] + length() / 2)),
      button('Left', () => zoomTo(range[0] - length() / 3, range[1] - length() / 3)),
      button('Right', () => zoomTo(range[0] + length() / 3, range[1] + length() / 3)),
      button('All', () => zoomTo(0, span))));
    entry.figure.append(fold('Timeline', [['ranks', ''], ['lane', ''], ['block', 'number'], ['start', 'number'], ['duration', 'number']],
      () => lanes.flatMap((l) => l.start.map((s, i) => [l.ranks, l.name, String(l.block[i]), time(s), time(l.duration[i])]))));
    if (data.timeline.left_out) made.append(element('p', {}, `${count(data.timeline.left_out, 'class', 'classes')} of ranks more: see timeline.pftrace.`));
    entry.total = total;
    entry.drawn = () => entry.instance.getOption().series[0].data.reduce((s, d) => s + d.value[3], 0);
  };

  const collectives = () => {
    const rows = data.collectives || [];
    const made = section('collectives', 'Collectives', rows.length ? 'Time is from the first member to the last; exposed is what no member hides behind computation; bandwidth counts the bytes that leave one member.'
      : 'The program has no collectives.');
    if (!rows.length) return;
    const groups = new Map();
    for (const c of rows) {
      if (!groups.has(c.op)) groups.set(c.op, []);
      groups.get(c.op).push(c);
    }
    const names = [...groups.keys()];
    const palette = () => [css('network'), css('compute'), css('memory'), css('launch'), css('other')];
    const entry = chart(made, {
      id: 'collectives', caption: `${count(rows.length, 'collective')}: size against achieved bandwidth`, height: 300, marks: rows.length,
      label: names.map((n) => `${groups.get(n).length} ${n}, ${time(groups.get(n).reduce((s, c) => s + c.time, 0))} in all, ${time(groups.get(n).reduce((s, c) => s + c.exposed, 0))} exposed`).join('; '),
      option: () => ({
        grid: { left: 78, right: 22, top: 40, bottom: 46 }, color: palette(),
        legend: legend({ top: 4, left: 0, data: names }),
        tooltip: { ...base().tooltip, formatter: (p) => { const c = rows[p.data[2]]; return tip(c.op, [['model', c.model], ['algorithm', c.algorithm], ['levels', c.levels], ['bound', c.bound], ['members', String(c.members)], ['size', bytes(c.bytes)], ['time', time(c.time)], ['exposed', time(c.exposed)], ['waited', time(c.waited)], ['bandwidth', byteRate(c.bandwidth)]]); } },
        xAxis: axis({ type: 'log', name: 'bytes', nameLocation: 'middle', nameGap: 28, axisLabel: { color: css('soft'), hideOverlap: true, formatter: (v) => bytes(v).replace(/\.0+ /, ' ') } }),
        yAxis: axis({ type: 'value', axisLabel: { color: css('soft'), hideOverlap: true, formatter: (v) => byteRate(v) } }),
        series: names.map((n) => ({ type: 'scatter', name: n, symbolSize: 9, itemStyle: { opacity: 0.75 }, cursor: 'default', data: groups.get(n).map((c) => [Math.max(c.bytes, 1), c.bandwidth, rows.indexOf(c)]) })),
      }),
    });
    const kinds = new Map();
    for (const c of rows) {
      const id = JSON.stringify([c.op, c.bytes, c.members, c.algorithm]);
      if (!kinds.has(id)) kinds.set(id, { ...c, count: 0, time: 0, exposed: 0, bandwidths: 0 });
      const k = kinds.get(id);
      k.count += 1; k.time += c.time; k.exposed += c.exposed; k.bandwidths += c.bandwidth;
    }
    const list = [...kinds.values()].sort((a, b) => b.exposed - a.exposed || b.time - a.time);
    made.append(table('Collectives by kind and size', [['collective', ''], ['count', 'number'], ['members', 'number'], ['size', 'number'], ['algorithm', ''], ['time', 'number'], ['exposed', 'number'], ['bandwidth', 'number']],
      list.slice(0, 40).map((k) => [k.op, String(k.count), String(k.members), bytes(k.bytes), k.algorithm, time(k.time), time(k.exposed), byteRate(k.bandwidths / k.count)])));
    if (list.length > 40) made.append(element('p', {}, `${list.length - 40} more kinds: see the table of all.`));
    if (entry) entry.figure.append(fold('Collectives', [['collective', ''], ['block', 'number'], ['model', ''], ['algorithm', ''], ['levels', ''], ['bound', ''], ['size', 'number'], ['start', 'number'], ['time', 'number'], ['exposed', 'number'], ['waited', 'number'], ['bandwidth', 'number']],
      () => rows.map((c) => [c.op, String(c.block), c.model, c.algorithm, c.levels, c.bound, bytes(c.bytes), time(c.start), time(c.time), time(c.exposed), time(c.waited), byteRate(c.bandwidth)])));
  };

  // The curve in picoseconds; its tensors say "file:line:column".
  const memoryOf = (run) => run.memory && {
    categories: run.memory.categories, peak: run.peak_memory_bytes, peak_at: run.memory.peak_at_s * 1e12,
    points: run.memory.curve.map((p) => [p[0] * 1e12, ...p.slice(1)]), largest: run.memory.largest,
  };

  // Layers and what they hold at moments that are asked for in order of time, largest first.
  const layersOverTime = (layers) => {
    const held = new Array(layers.names.length).fill(0);
    let next = 0;
    return (ps) => {
      for (; next < layers.at.length && layers.at[next] <= ps; ++next) held[layers.layer[next]] += layers.bytes[next];
      return held.map((n, i) => [layers.names[i], n]).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
    };
  };

  const memory = () => {
    const m = memoryOf(data.run);
    const made = section('memory', 'Memory', m ? `The peak is ${bytes(m.peak)} at ${time(m.peak_at)}.` : 'The memory of this run was not followed.');
    if (!m) return;
    const capacity = data.device.memory_capacity;
    const { layers } = data;
    const aliveAt = (ps) => layersOverTime(layers)(ps);
    const kNamed = 6;  // layers that the chart names
    const layerRows = (ps) => {
      if (!layers) return [];
      const alive = aliveAt(ps);
      const rest = alive.slice(kNamed);
      return [[`${count(alive.length, 'layer')} alive`, bytes(alive.reduce((n, [, b]) => n + b, 0))], ...alive.slice(0, kNamed).map(([name, n]) => [name, bytes(n)]),
        ...(rest.length ? [[`${rest.length} more`, bytes(rest.reduce((n, [, b]) => n + b, 0))]] : [])];
    };
    const used = m.categories.map((name, i) => [name, i]).filter(([, i]) => m.points.some((p) => p[i + 1] > 0));
    const entry = chart(made, {
      id: 'memory', caption: 'Held over the step, by category', height: 320, marks: 0,
      label: `Memory over time, peak ${bytes(m.peak)}: ${used.map(([n, i]) => `${n} up to ${bytes(Math.max(...m.points.map((p) => p[i + 1])))}`).join(', ')}`,
      option: (width) => ({
        grid: { left: 74, right: 20, top: width < 520 ? 84 : 58, bottom: 30 }, color: [0, 1, 2, 3, 4, 5, 6, 7].map((i) => css(`series-${i}`)),
        legend: legend({ top: 2, left: 0 }),
        tooltip: { ...base().tooltip, trigger: 'axis', formatter: (ps) => tip(time(ps[0].value[0]), ps.map((p) => [p.seriesName, bytes(p.value[1])]).concat([['all', bytes(ps.reduce((s, p) => s + p.value[1], 0))]], layerRows(ps[0].value[0]))) },
        xAxis: axis({ type: 'value', min: 0, max: data.run.step_time_ps, axisLabel: { color: css('soft'), hideOverlap: true, showMaxLabel: false, formatter: (v) => time(v) }, splitNumber: width < 520 ? 3 : 6 }),
        yAxis: axis({ type: 'value', axisLabel: { color: css('soft'), formatter: (v) => bytes(v) } }),
        series: used.map(([name, i], k) => ({
          type: 'line', name, stack: 'all', step: 'end', symbol: 'none', itemStyle: { color: css(`series-${i}`) }, lineStyle: { width: 1, color: css('panel') }, areaStyle: { color: css(`series-${i}`), opacity: 1 }, sampling: 'max',
          data: m.points.map((p) => [p[0], p[i + 1]]),
          markLine: k === 0 && capacity && capacity < 3 * m.peak ? { silent: true, symbol: 'none', lineStyle: { color: css('warn') }, label: { formatter: `capacity ${bytes(capacity)}`, color: css('warn'), position: 'insideEndTop' }, data: [{ yAxis: capacity }] } : undefined,
        })),
      }),
    });
    (entry ? entry.figure : made).append(fold('Memory', [['time', 'number'], ...used.map(([n]) => [n, 'number']), ...(layers ? [['layers alive', '']] : [])], () => {
      const alive = layers && layersOverTime(layers);
      return m.points.map((p) => [time(p[0]), ...used.map(([, i]) => bytes(p[i + 1])), ...(layers ? [alive(p[0]).map(([name]) => name).join(', ')] : [])]);
    }));
    if (layers) {
      const alive = aliveAt(m.peak_at);
      made.append(element('h3', {}, 'Layers alive at the peak'));
      made.append(table('Layers alive at the peak', [['layer', ''], ['bytes', 'number'], ['of the peak', 'number']], alive.slice(0, 20).map(([name, n]) => [name, bytes(n), percent(n / m.peak)])));
      if (alive.length > 20) made.append(element('p', {}, `${alive.length - 20} more layers hold ${bytes(alive.slice(20).reduce((n, [, b]) => n + b, 0))}.`));
    }
    if (m.largest.length) made.append(element('h3', {}, 'Largest tensors at the peak'), table('Largest tensors at the peak', [['tensor', 'shapes'], ['bytes', 'number'], ['category', ''], ['where', '']],
      m.largest.slice(0, 20).map((t) => [t.name, bytes(t.bytes), t.category, t.source || (t.location || '').split('/').pop()])));
  };

  const costliest = () => {
    const { blocks, distinct } = data;
    const made = section('costliest', 'The twenty costliest blocks', 'Equal blocks are counted together: the time is of all of them.');
    const uses = new Map();
    blocks.distinct.forEach((d, k) => { if (!uses.has(d)) uses.set(d, []); uses.get(d).push(k); });
    const order = [...uses.entries()].sort((a, b) => b[1].length * distinct.time[b[0]] - a[1].length * distinct.time[a[0]]).slice(0, 20);
    made.append(table('Costliest blocks', [['operation', ''], ['kind', ''], ['count', 'number'], ['time', 'number'], ['of step', 'number'], ['bound', ''], ['FLOP', 'number'], ['bytes', 'number'], ['line', 'number'], ['shapes', 'shapes']],
      order.map(([d, ks]) => {
        const b = describe(ks[0]);
        const all = ks.length * b.time;
        const bound = element('span', { class: 'bound' }, element('span', { class: 'swatch', style: `background:var(--${['compute', 'memory', 'launch'].includes(b.bound) ? b.bound : 'other'})`, 'aria-hidden': 'true' }), b.bound);
        return [link(b), b.kind, String(ks.length), time(all), percent(data.run.step_time_ps ? all / data.run.step_time_ps : 0), bound, flops(b.flops), bytes(b.bytes), b.line ? String(b.line) : '', b.shapes];
      })));
  };

  const whatIf = () => {
    const rows = data.run.what_if || [];
    const made = section('whatif', 'What if', rows.length ? 'The same run with one thing changed. Each row is what the command answers with the options shown added to it.' : 'No other devices or networks were tried.');
    if (!rows.length) return;
    const step = data.run.step_time_ps;
    const gain = (r) => (step ? 1 - r.step_time_ps / step : 0);
    const sorted = [...rows].sort((a, b) => a.step_time_ps - b.step_time_ps);
    const entry = chart(made, {
      id: 'whatif', caption: 'Step time, against now', height: 60 + 28 * (rows.length + 1), marks: rows.length + 1,
      label: `Now ${time(step)}; ${sorted.map((r) => `${r.name} ${time(r.step_time_ps)}`).join(', ')}`,
      option: (width) => {
        const names = Math.min(180, Math.max(130, 0.32 * width));
        return {
          grid: { left: names + 12, right: width < 520 ? 74 : 130, top: 6, bottom: 28 },
          tooltip: { ...base().tooltip, formatter: (p) => tip(p.name, [['step time', time(p.value)], ['options', p.data.options || 'as run']]) },
          xAxis: axis({ type: 'value', min: 0, axisLabel: { color: css('soft'), hideOverlap: true, formatter: (v) => time(v) }, splitNumber: width < 520 ? 2 : 5 }),
          yAxis: axis({ type: 'category', inverse: true, data: ['now', ...sorted.map((r) => r.name)], splitLine: { show: false }, axisLabel: { color: css('text'), interval: 0, width: names, overflow: 'truncate' } }),
          series: [{ type: 'bar', barMaxWidth: 18, cursor: 'default',
            data: [{ value: step, itemStyle: { color: css('idle') } }, ...sorted.map((r) => ({ value: r.step_time_ps, options: r.options, gain: gain(r), itemStyle: { color: css('compute') } }))],
            label: { show: true, position: 'right', color: css('text'), formatter: (p) => (p.data.gain === undefined || width < 520 ? time(p.value) : `${time(p.value)} (${(-100 * p.data.gain).toFixed(1)} %)`) } }],
        };
      },
    });
    made.append(table('What if', [['change', ''], ['step time', 'number'], ['gain', 'number'], ['options', '']],
      sorted.map((r) => [r.name, time(r.step_time_ps), percent(gain(r)), element('code', {}, r.options)])));
    return entry;
  };

  const path = () => {
    if (!data.path || !data.path.length) return;
    const made = section('path', 'Critical path', 'What the step waits for, from its first picosecond to its last, by what held it.');
    const held = new Map();
    let sum = 0;
    for (const [name, , why, , duration] of data.path) {
      const id = JSON.stringify([why.replace(/\d+$/, '').trim(), name]);
      const row = held.get(id) || { count: 0, time: 0 };
      row.count += 1; row.time += duration; sum += duration;
      held.set(id, row);
    }
    const list = [...held.entries()].sort((a, b) => b[1].time - a[1].time).slice(0, 15);
    const whole = data.run.step_time_ps || 1;
    const sentences = element('ol', { class: 'best' });
    for (const [id, row] of list.slice(0, 5)) {
      const [why, name] = JSON.parse(id);
      sentences.append(element('li', {}, `${percent(row.time / whole)} of the step (${time(row.time)}) goes to ${name}, in ${count(row.count, 'stretch', 'stretches')}, held by ${why}.`));
    }
    made.append(sentences);
    made.append(table('Critical path', [['held by', ''], ['node', ''], ['stretches', 'number'], ['time', 'number'], ['of step', 'number']],
      list.map(([id, row]) => { const [why, name] = JSON.parse(id); return [why, name, String(row.count), time(row.time), percent(data.run.step_time_ps ? row.time / data.run.step_time_ps : 0)]; })));
    made.dataset.sum = String(sum);
  };

  const warnings = () => {
    const groups = new Map();
    for (const w of data.run.warnings) {
      if (!groups.has(w.code)) groups.set(w.code, []);
      groups.get(w.code).push(w);
    }
    const r = data.run;
    const made = section('assumptions', 'Assumptions and warnings');
    const list = element('ul');
    const say = (...words) => list.append(element('li', {}, ...words));
    say(`Estimator ${r.estimator}, optimisation ${r.optimise}, split ${r.split}.`);
    say(`Figures of ${r.device}: ${data.device.source || 'the device file'}.`);
    if (data.run.throughput) say(`Throughput counts ${data.run.throughput.from} as the ${data.run.throughput.unit} of a step.`);
    say('MFU and HFU count matmuls and convolutions at the peak rate of their types: MFU what the model needs, HFU what the device executes, recomputation included.');
    if (r.schedule_limit) say('Overlap is that of XLA\'s schedule under the device\'s memory limit (--schedule-limit).');
    for (const [code, all] of groups) {
      say(element('code', {}, code), ` ${count(all.length, 'time')}: ${all[0].message}${all[0].location ? ` (${all[0].location})` : ''}`,
        ...(all.length > 1 ? [` and ${all.length - 1} more like it`] : []));
    }
    if (!groups.size) say('No warnings.');
    made.append(list);
  };

  const reproduce = () => {
    const r = data.run.reproduce;
    const made = section('reproduce', 'Reproduce');
    made.append(element('pre', { tabindex: '0', 'aria-label': 'Command' }, r.command || 'not known'));
    made.append(table('Versions and inputs', [['what', ''], ['value', '']], [['hespas', r.version], ['charts', hasCharts ? `ECharts ${echarts.version}` : 'none'],
      ...Object.entries(r.input_hashes).map(([k, v]) => [k, element('code', {}, v)])]));
  };

  // Two lanes, each pixel's column stacked by what bounds the time in it: nothing hides behind the longest.
  const stackLanes = (canvas, lanes, span) => {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.round(canvas.clientHeight * ratio);
    Object.assign(canvas, { width, height });
    const draw = canvas.getContext('2d');
    const names = ['compute', 'memory', 'launch', 'network', 'other'];
    lanes.forEach((marks, row) => {
      const bins = names.map(() => new Float64Array(width));
      for (const { start, end, bound } of marks) {
        const bin = bins[Math.max(0, names.indexOf(bound) < 0 ? 4 : names.indexOf(bound))];
        const [from, to] = [start / span * width, end / span * width];
        for (let x = Math.floor(from); x < Math.min(width, to); ++x) bin[x] += Math.min(to, x + 1) - Math.max(from, x);
      }
      const tall = 0.42 * height;
      const bottom = (row ? 0.96 : 0.48) * height;
      const colours = names.map((name) => css(name));
      for (let x = 0; x < width; ++x) {
        let y = bottom;
        bins.forEach((bin, k) => {
          if (!bin[x]) return;
          draw.fillStyle = colours[k];
          draw.fillRect(x, y - bin[x] * tall, 1, bin[x] * tall);
          y -= bin[x] * tall;
        });
      }
    });
  };
  const liveReport = () => {
    live = hespasLiveSection({ data, section, element, time, bytes, percent, scaled, css, stackLanes });
  };

  let kernel = null;
  let graph = null;
  const dependencies = () => {
    graph = hespasGraphSection({ data, section, element, time, percent, count, text, blockOf, describe, table, kernel: kernel.open });
  };

  // --- the page -------------------------------------------------------------------------------------------------------
  const drawAll = () => { charts.forEach((c) => c.draw()); canvases.forEach((draw) => draw()); live?.draw(); graph.draw(); };

  const watch = () => {
    window.addEventListener('hespas-redraw', drawAll);
    let width = window.innerWidth;
    window.addEventListener('resize', () => { if (window.innerWidth !== width) { width = window.innerWidth; requestAnimationFrame(drawAll); } });
    window.addEventListener('beforeprint', () => {
      main.style.width = '680px';  // A4 without its margins
      drawAll();
    });
    window.addEventListener('afterprint', () => { main.style.width = ''; drawAll(); });
  };

  const contents = () => {
    const list = element('ul');
    for (const [id, name] of sections) list.append(element('li', {}, element('a', { href: `#${id}` }, name)));
    document.querySelector('header').append(element('nav', { 'aria-label': 'Sections' }, list));
  };

  // What the reader sees first at once, the rest when the browser has time.
  const drawInTurn = (done) => {
    const rest = [...charts];
    const next = () => {
      const entry = rest.shift();
      if (!entry) { graph.draw(); done(); return; }
      entry.draw();
      (entry.holder.getBoundingClientRect().top < window.innerHeight ? next : () => setTimeout(next))();
    };
    next();
  };

  const fail = (error) => {
    const problem = document.getElementById('problem');
    problem.textContent = `This report is damaged: ${error.message}. Write it again with the command that made it.`;
    console.error(error);
  };

  try {
    data = JSON.parse(document.getElementById('data').textContent);
    if (data.schema_version !== 1) throw new Error(`unknown schema_version ${data.schema_version}`);
    const r = data.run;
    data.blocks.id.forEach((id, k) => blockOf.set(id, k));
    document.getElementById('title').textContent = `${r.program.path.split('/').pop()}: ${time(r.step_time_ps)} a step`;
    document.getElementById('subtitle').textContent = `on ${r.npus} × ${r.device}${r.system ? ` (${r.system})` : ''}, ${count(r.blocks.total, 'block')}, ${r.blocks.unique.toLocaleString('en')} of them distinct; `
      + `${r.estimator} estimator, ${r.network_model ? `${r.network_model} network model` : 'no network'}, --optimise ${r.optimise}`;
    if (!hasCharts) main.append(element('p', { class: 'notice' }, 'This build of Hespas has no chart library, so tables stand where charts would. scripts/npm_env.sh report fetches it; then configure and build again.'));
    kernel = hespasKernel({ data, element, time, bytes, flops, flopRate, byteRate, percent, count, blockOf, describe, table, live: () => live });
    for (const part of [headline, liveReport, whereTimeGoes, roofline, timeline, collectives, memory, costliest, whatIf, path, dependencies, warnings, reproduce]) part();
    contents();
    watch();
    canvases.forEach((draw) => draw());
    drawInTurn(() => { root.dataset.ready = 'true'; kernel.follow(); });
    window.hespas = { data, charts, live, graph };
  } catch (error) {
    fail(error);
  }
})();
