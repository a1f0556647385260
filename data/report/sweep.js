// The points of a sweep's page as parallel coordinates: brushes and fields filter all points, drawn or not, and what charts and the table show.
'use strict';
(() => {
  const holder = document.getElementById('explore-chart');
  if (!holder) return;
  const { axes, numbers, columns, drawn, titles, colour } = JSON.parse(document.getElementById('points-data').textContent);
  const points = numbers.map((point, k) => ({ point, values: columns.map((column) => column[k]) }));
  const isDrawn = new Set(drawn);
  const { scaled } = hespasShell;
  const TALL = 300;
  const TOP = 48;
  const EDGE = 84;      // beside the first and last axis
  const NARROWEST = 128;
  const kMostTicks = 9;

  // --- values and places ---------------------------------------------------------------------------------------------------
  const SI = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
  const FORMATS = {
    time: (v) => (v === 0 ? '0' : scaled(v * 1e12, ['ps', 'ns', 'us', 'ms', 's'])), bytes: (v) => scaled(v, SI.map((p) => `${p}B`)),
    percent: (v) => `${(100 * v).toFixed(1)} %`, energy: (v) => scaled(v, SI.map((p) => `${p}J`)), number: (v) => scaled(v, SI).trim(),
  };
  // `at` of a value is 0 at the foot of its axis and 1 at its head. Settings stand at even distances in their order.
  const scales = axes.map(({ labels, kind }, i) => {
    const values = points.map((p) => p.values[i]).filter((v) => v !== null);
    if (labels) {
      const last = Math.max(1, labels.length - 1);
      const every = Math.ceil(labels.length / kMostTicks);
      return { at: (v) => v / last, text: (at) => labels[Math.round(at * last)], ticks: labels.flatMap((_, k) => (k % every ? [] : [k / last])) };
    }
    const low = values.reduce((a, b) => Math.min(a, b), Infinity);
    const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
    const log = low > 0 && high > 8 * low;
    const to = (v) => (log ? Math.log(v) : v);
    const span = to(high) - to(low) || 1;
    const back = (at) => { const v = to(low) + at * span; return log ? Math.exp(v) : v; };
    return { at: (v) => (to(v) - to(low)) / span, text: (at) => FORMATS[kind](back(at)), ticks: high > low ? [0, 0.25, 0.5, 0.75, 1] : [0] };
  });

  // --- filters -------------------------------------------------------------------------------------------------------------
  const SLACK = 1e-9;
  const ranges = axes.map(() => null);  // [from, to] of an axis, or null
  let picked = null;                    // whether a point is inside a rectangle of a chart
  const passes = (p) => (picked === null || picked(p)) && ranges.every((range, i) => range === null
    || (p.values[i] !== null && scales[i].at(p.values[i]) >= range[0] - SLACK && scales[i].at(p.values[i]) <= range[1] + SLACK));

  // --- elements ------------------------------------------------------------------------------------------------------------
  const svgElement = (tag, attributes, ...children) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const make = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const series = (p) => `var(--series-${colour < 0 ? 0 : p.values[colour] % 8})`;
  const svg = svgElement('svg', { class: 'parallel', role: 'img', 'aria-label': `Parallel coordinates of ${points.length} points over ${axes.map((a) => a.name).join(', ')}. The fields below filter as well.` });
  const scroll = make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Parallel coordinates' });
  const counted = make('span', { class: 'note', 'aria-live': 'polite' });
  const clear = make('button', { type: 'button' }, 'Clear filters');
  const kept = make('div', { hidden: '' });  // points that pass and that the table of the best ones lacks
  scroll.append(svg);

  const fields = axes.map(({ name }, i) => ['from', 'to'].map((end, side) => {
    const input = make('input', { type: 'range', min: 0, max: 1, step: 0.001, value: side, 'aria-label': `${name} ${end}` });
    const said = make('span', { class: 'note' });
    input.addEventListener('input', () => {
      const range = ranges[i] ?? [0, 1];
      range[side] = Number(input.value);
      setRange(i, range);
    });
    return { input, said };
  }));
  const list = make('div', { class: 'filters' }, ...axes.map(({ name }, i) => make('fieldset', {}, make('legend', {}, name),
    ...fields[i].map(({ input, said }) => make('label', {}, input, said)))));
  const key = make('p', { class: 'legend' });
  if (colour >= 0) {
    axes[colour].labels.slice(0, 8).forEach((label, k) => key.append(make('span', {}, make('i', { class: 'swatch', style: `background:var(--series-${k})`, 'aria-hidden': 'true' }), label)));
    if (axes[colour].labels.length > 8) key.append(make('span', {}, 'and others in the same colours'));
  }

  // --- drawing -------------------------------------------------------------------------------------------------------------
  let place = () => 0;  // x of an axis
  const y = (at) => TOP + (1 - at) * TALL;
  const lines = drawn.map((k, i) => svgElement('path', { class: 'line', style: `stroke:${series(points[k])}` }, svgElement('title', {}, titles[i])));
  const others = svgElement('g', {});  // lines of points that are drawn only while a filter keeps them
  const pathOf = (p) => `M${p.values.flatMap((v, i) => (v === null ? [] : [`${place(i).toFixed(1)} ${y(scales[i].at(v)).toFixed(1)}`])).join('L')}`;
  const brushes = axes.map(() => svgElement('rect', { class: 'brush', width: 18, rx: 3 }));

  const drawAxis = ({ name }, i) => {
    const x = place(i);
    const side = i === axes.length - 1 ? 'end' : 'start';
    // A long name takes two lines.
    const words = name.length > 16 && name.includes(' ') ? [name.slice(0, name.lastIndexOf(' ')), name.slice(name.lastIndexOf(' ') + 1)] : [name];
    const head = svgElement('text', { x, y: TOP - 16 - 14 * words.length, class: 'name', 'text-anchor': 'middle' }, ...words.map((word) => svgElement('tspan', { x, dy: 14 }, word)));
    const ticks = scales[i].ticks.map((at) => svgElement('text', { x: x + (side === 'end' ? -7 : 7), y: y(at) + 4, 'text-anchor': side }, shortened(scales[i].text(at))));
    const grip = svgElement('rect', { x: x - 14, y: TOP - 8, width: 28, height: TALL + 16, class: 'grip' }, svgElement('title', {}, `Drag to filter by ${name}; a click shows all`));
    grip.addEventListener('pointerdown', (event) => drag(event, i));
    return svgElement('g', {}, svgElement('path', { d: `M${x} ${TOP}V${TOP + TALL}`, class: 'rule' }), head, ...ticks, brushes[i], grip);
  };
  const shortened = (text) => (text.length <= 16 ? text : `…${text.slice(-15)}`);

  const drawBrush = (i) => {
    const range = ranges[i];
    brushes[i].setAttribute('x', place(i) - 9);
    brushes[i].setAttribute('y', range ? y(range[1]) - 3 : 0);
    brushes[i].setAttribute('height', range ? TALL * (range[1] - range[0]) + 6 : 0);
  };
  const draw = () => {
    const width = Math.max(holder.clientWidth - 32, 2 * EDGE + NARROWEST * (axes.length - 1));
    place = (i) => EDGE + (axes.length > 1 ? i * (width - 2 * EDGE) / (axes.length - 1) : 0);
    svg.setAttribute('width', width);
    svg.setAttribute('height', TOP + TALL + 20);
    drawn.forEach((k, i) => lines[i].setAttribute('d', pathOf(points[k])));
    drawOthers();
    svg.replaceChildren(...lines, others, ...axes.map(drawAxis));
    axes.forEach((_, i) => drawBrush(i));
  };

  // --- what a filter changes -----------------------------------------------------------------------------------------------
  const marks = new Map();
  for (const link of document.querySelectorAll('svg.plot a')) {
    const point = Number(/#point-(\d+)/.exec(link.getAttribute('href'))?.[1]);
    if (!marks.has(point)) marks.set(point, []);
    marks.get(point).push(link);
  }
  const rows = new Map([...document.querySelectorAll('tr[id^="point-"]')].map((row) => [Number(row.id.slice(6)), row]));
  const inPlace = new Map(drawn.map((k, i) => [k, lines[i]]));
  const kMostOthers = 500;  // further lines
  const kMostKept = 100;    // rows beside the table
  let passing = [];         // places of all points that pass
  const isFiltering = () => picked !== null || ranges.some((range) => range !== null);
  const drawOthers = () => {
    const more = isFiltering() ? passing.filter((k) => !isDrawn.has(k)) : [];
    const stride = Math.max(1, Math.ceil(more.length / kMostOthers));
    others.replaceChildren(...more.filter((_, i) => i % stride === 0).map((k) => svgElement('path', { class: 'line', style: `stroke:${series(points[k])}`, d: pathOf(points[k]) }, svgElement('title', {}, `point ${points[k].point}`))));
  };
  // The rows are made again: they need the head of no table.
  const cellText = (p, i) => (p.values[i] === null ? '' : axes[i].labels ? axes[i].labels[p.values[i]] : FORMATS[axes[i].kind](p.values[i]));
  const goal = Math.max(0, axes.findIndex((a) => a.name === 'step time'));
  const listKept = () => {
    const more = isFiltering() ? passing.filter((k) => !rows.has(points[k].point)) : [];
    kept.hidden = more.length === 0;
    if (!more.length) return kept.replaceChildren();
    more.sort((a, b) => points[a].values[goal] - points[b].values[goal]);
    const head = make('tr', {}, ...['point', ...axes.map((a) => a.name)].map((name) => make('th', { scope: 'col' }, name)));
    const body = more.slice(0, kMostKept).map((k) => make('tr', {}, make('td', {}, String(points[k].point)), ...axes.map((_, i) => make('td', { class: axes[i].labels ? '' : 'number' }, cellText(points[k], i)))));
    return kept.replaceChildren(make('p', {}, `${more.length.toLocaleString('en')} of these points are not among the best ones that the table below lists${more.length > kMostKept ? `; the first ${kMostKept} by step time` : ''}:`),
      make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table of further points that the filters keep' }, make('table', {}, make('thead', {}, head), make('tbody', {}, ...body))));
  };
  const apply = () => {
    passing = [];
    points.forEach((p, k) => {
      const on = passes(p);
      if (on) passing.push(k);
      inPlace.get(k)?.classList.toggle('off', !on);
      for (const mark of marks.get(p.point) ?? []) mark.classList.toggle('off', !on);
      rows.get(p.point)?.classList.toggle('filtered', !on);
    });
    drawOthers();
    listKept();
    counted.textContent = `${passing.length.toLocaleString('en')} of ${points.length.toLocaleString('en')} points`;
    fields.forEach((pair, i) => pair.forEach(({ input, said }, side) => {
      const at = (ranges[i] ?? [0, 1])[side];
      input.value = String(at);
      said.textContent = scales[i].text(at);
    }));
  };
  const setRange = (i, range) => {
    ranges[i] = range && (range[0] > 0 || range[1] < 1) ? range : null;
    drawBrush(i);
    apply();
  };
  clear.addEventListener('click', () => { ranges.fill(null); picked = null; axes.forEach((_, i) => drawBrush(i)); apply(); });

  // --- brushes -------------------------------------------------------------------------------------------------------------
  const follow = (move, done) => {
    const end = () => { window.removeEventListener('pointermove', move); window.removeEventListener('pointerup', end); done(); };
    window.addEventListener('pointermove', move);
    window.addEventListener('pointerup', end);
  };
  const drag = (event, i) => {
    event.preventDefault();
    const at = (e) => Math.min(1, Math.max(0, 1 - (e.clientY - svg.getBoundingClientRect().top - TOP) / TALL));
    const from = at(event);
    let range = null;
    follow((e) => { range = [Math.min(from, at(e)), Math.max(from, at(e))]; setRange(i, range); }, () => { if (!range || range[1] - range[0] < 0.01) setRange(i, null); });
  };

  // The values of an axis of a chart between two places in it; null where the page has no such axis.
  const valuesIn = (plot, side, from, to) => {
    const i = axes.findIndex((a) => a.name === plot.dataset[side] && a.kind);
    if (i < 0) return null;
    const [kind, begin, end, low, high] = plot.dataset[`${side}Scale`].split(' ').map((text, k) => (k ? Number(text) : text));
    const at = (place) => { const v = begin + (place - low) / (high - low) * (end - begin); return kind === 'log' ? 10 ** v : v; };
    return { axis: i, least: Math.min(at(from), at(to)), most: Math.max(at(from), at(to)) };
  };
  // Of all points, drawn or not; where the page lacks the values of an axis, of those drawn.
  const pickedBy = (plot, area) => {
    const sides = [valuesIn(plot, 'x', area.x, area.x + area.width), valuesIn(plot, 'y', area.y, area.y + area.height)];
    const program = plot.closest('[data-program]')?.dataset.program;
    const byProgram = program === undefined ? -1 : axes.findIndex((a) => a.name === 'program' && a.labels);
    if (sides.every((side) => side !== null)) {
      return (p) => sides.every(({ axis, least, most }) => p.values[axis] !== null && p.values[axis] >= least && p.values[axis] <= most)
        && (byProgram < 0 || axes[byProgram].labels[p.values[byProgram]] === program);
    }
    const held = (circle) => ['x', 'y'].every((side, k) => { const c = Number(circle.getAttribute(`c${side}`)); return c >= area[side] && c <= area[side] + [area.width, area.height][k]; });
    const those = new Set([...marks].filter(([, links]) => links.some((link) => plot.contains(link) && held(link.querySelector('circle')))).map(([point]) => point));
    return (p) => those.has(p.point);
  };
  // A rectangle over the points of a chart picks them.
  const pickIn = (plot, event) => {
    if (event.target.closest('a')) return;
    event.preventDefault();
    const box = svgElement('rect', { class: 'brush' });
    const inside = (e) => { const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(plot.getScreenCTM().inverse()); return [p.x, p.y]; };
    const [x, top] = inside(event);
    let area = null;
    plot.append(box);
    follow((e) => {
      const [u, v] = inside(e);
      area = { x: Math.min(x, u), y: Math.min(top, v), width: Math.abs(u - x), height: Math.abs(v - top) };
      for (const [name, value] of Object.entries(area)) box.setAttribute(name, value);
    }, () => {
      box.remove();
      picked = null;
      if (area && area.width > 3 && area.height > 3) picked = pickedBy(plot, area);
      apply();
    });
  };
  for (const plot of document.querySelectorAll('svg.plot')) plot.addEventListener('pointerdown', (event) => pickIn(plot, event));

  holder.append(make('div', { class: 'controls' }, clear, counted), scroll, key, make('details', {}, make('summary', {}, 'Filter with fields'), list), kept);
  let width = window.innerWidth;
  window.addEventListener('resize', () => { if (window.innerWidth !== width) { width = window.innerWidth; draw(); } });
  draw();
  apply();
  window.hespasSweep = { axes, points, scales, setRange, passes };
})();
