// The dependency graph in a run's page: one group at a time, with zoom, search and keys.
'use strict';
// `page`: what page.js lends: data, section, element, time, percent, count, text, blockOf, describe, table, kernel.
// eslint-disable-next-line no-unused-vars
const hespasGraphSection = (page) => {
  const { data, section, element, time, percent, count } = page;
  const SIZE = { wide: 204, tall: 50, gapX: 22, gapY: 34 };
  const BOUNDS = ['compute', 'memory', 'launch', 'network', 'other'];
  const LEAST_SCALE = 0.62;  // of the first look: text stays readable
  const CROWD = 8;           // arrows of one box beyond which they are drawn faintly
  const { other } = data.graph;

  // --- the graph ---------------------------------------------------------------------------------------------------------
  const blocks = data.graph.op.map((_, i) => {
    if (!page.blockOf.has(i)) return null;
    const b = page.describe(page.blockOf.get(i));
    return { name: b.name, layer: b.layer, full: b.full, kind: b.kind, time: b.time, bound: BOUNDS.includes(b.bound) ? b.bound : 'other' };
  });
  const lasts = new Map((data.collectives ?? []).map((c) => [c.block, c.time]));
  other.id.forEach((id, k) => {
    const [name, layer] = [page.text(other.name[k]), page.text(other.layer[k])];
    blocks[id] = { name, layer, full: [layer, name].filter(Boolean).join(' '), kind: 'communication', time: lasts.get(id) ?? 0, bound: 'network' };
  });
  const graph = hespasGraph.build(blocks, data.graph);
  const total = graph.top.time || 1;

  // --- elements ----------------------------------------------------------------------------------------------------------
  const svgElement = (tag, attributes, ...children) => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const button = (name, act) => { const b = element('button', { type: 'button' }, name); b.addEventListener('click', act); return b; };
  const made = section('graph', 'Dependency graph', `What waits for what: ${count(blocks.length, 'block')}, layers and iterations of loops collapsed. `
    + 'A box with a number opens; dashed boxes lie outside what is shown. Times of boxes are sums: they do not count overlap.');
  const crumbs = element('nav', { class: 'crumbs', 'aria-label': 'Where in the graph' });
  const search = element('input', { type: 'search', placeholder: 'Search all blocks', 'aria-label': 'Search all blocks' });
  const found = element('span', { class: 'note' });
  const stage = svgElement('g', {});
  const svg = svgElement('svg', { class: 'graph', role: 'group' }, svgElement('defs', {}, svgElement('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: 'auto' },
    svgElement('path', { d: 'M0 0L8 4L0 8z', class: 'head' }))), stage);
  const about = element('p', { class: 'note' });
  const key = element('p', { class: 'note' });
  for (const name of BOUNDS.slice(0, 4)) key.append(element('span', { class: 'bound' }, element('span', { class: 'swatch', style: `background:var(--${name})`, 'aria-hidden': 'true' }), name), '\u2003');
  key.append('The bar of a box is divided by what bounds its time; it is as long as its share of the longest.');
  const rows = element('details', {}, element('summary', {}, 'Dependency graph as a table'));

  // --- what is shown -----------------------------------------------------------------------------------------------------
  let shown = graph.top;
  let drawn = { nodes: [], edges: [], boxes: [], lines: [], positions: [] };
  let at = { x: 0, y: 0, scale: 1 };
  let matches = [];
  let match = -1;

  const shortened = (text, most) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);
  const wordsOf = (node) => (node.block === null ? `${count(node.count, 'block')}, ${time(node.time)}` : node.time ? `${time(node.time)}, ${blocks[node.block].bound}` : 'takes no time');
  const move = (next) => {
    at = next;
    stage.setAttribute('transform', `translate(${at.x} ${at.y}) scale(${at.scale})`);
  };
  const size = () => ({ width: svg.clientWidth || 680, height: svg.clientHeight || 520 });
  const zoom = (factor, x = size().width / 2, y = size().height / 2) => {
    const scale = Math.min(3, Math.max(0.05, at.scale * factor));
    move({ scale, x: x - (x - at.x) * scale / at.scale, y: y - (y - at.y) * scale / at.scale });
  };
  const fit = (least = 0) => {
    const { width, height } = size();
    const scale = Math.min(1.2, Math.max(least, Math.min((width - 24) / drawn.width, (height - 24) / drawn.height)));
    move({ scale, x: Math.max(12, (width - drawn.width * scale) / 2), y: Math.max(12, (height - drawn.height * scale) / 2) });
  };
  const centre = (i) => {
    const { width, height } = size();
    const p = drawn.positions[i];
    move({ scale: at.scale, x: width / 2 - (p.x + SIZE.wide / 2) * at.scale, y: height / 2 - (p.y + SIZE.tall / 2) * at.scale });
  };
  const visible = (i) => {
    const { width, height } = size();
    const p = drawn.positions[i];
    const [x, y] = [at.x + p.x * at.scale, at.y + p.y * at.scale];
    return x >= 0 && y >= 0 && x + SIZE.wide * at.scale <= width && y + SIZE.tall * at.scale <= height;
  };

  const boundBar = (node, longest) => {
    const bar = svgElement('g', {});
    let x = 8;
    for (const name of BOUNDS) {
      const width = (SIZE.wide - 16) * (node.bounds[name] ?? 0) / longest;
      if (width > 0) bar.append(svgElement('rect', { x, y: SIZE.tall - 10, width, height: 5, style: `fill:var(--${name})` }));
      x += width;
    }
    return bar;
  };
  const boxOf = ({ node, side }, i, longest) => {
    const p = drawn.positions[i];
    const full = node.block === null ? node.label : `block ${node.block}: ${blocks[node.block].full}`;
    const said = `${full}, ${wordsOf(node)}${side ? `, ${side === 'in' ? 'before' : 'behind'} what is shown` : ''}`;
    const box = svgElement('g', { class: `box ${node.block === null ? 'many' : 'one'} ${side && 'outside'}`, role: 'button', tabindex: '-1', transform: `translate(${p.x} ${p.y})` },
      svgElement('title', {}, said), svgElement('rect', { width: SIZE.wide, height: SIZE.tall, rx: 6 }),
      svgElement('text', { x: 8, y: 17, class: 'name' }, shortened(node.label, 25)), svgElement('text', { x: 8, y: 33, 'aria-hidden': 'true' }, shortened(wordsOf(node), 30)), boundBar(node, longest));
    box.addEventListener('click', () => { if (!dragged) act(i); });
    box.addEventListener('focus', () => look(i));
    box.addEventListener('mouseenter', () => light(i));
    box.addEventListener('mouseleave', () => light(drawn.boxes.indexOf(document.activeElement)));
    return box;
  };

  const light = (i) => drawn.lines.forEach((line, k) => line.classList.toggle('lit', i >= 0 && [drawn.edges[k].from, drawn.edges[k].to].includes(i)));
  const look = (i) => {
    drawn.boxes.forEach((box, k) => box.setAttribute('tabindex', k === i ? '0' : '-1'));
    if (!visible(i)) centre(i);
    light(i);
  };
  const act = (i) => {
    const { node } = drawn.nodes[i];
    if (node.block !== null && node.parent === shown) page.kernel(node.block);
    else if (node.block !== null) show(node.parent, node);
    else show(node);
  };

  const mark = () => {
    const holds = new Map();
    for (const id of matches) for (const node of hespasGraph.above(graph.leaves[id])) holds.set(node, (holds.get(node) ?? 0) + 1);
    drawn.boxes.forEach((box, i) => box.classList.toggle('found', holds.has(drawn.nodes[i].node)));
  };

  const namesBeside = (i, from, to) => drawn.edges.filter((e) => e[from] === i).map((e) => drawn.nodes[e[to]].node.label);
  const fillTable = () => {
    rows.querySelector('div')?.remove();
    if (!rows.open) return;
    rows.append(page.table('Dependency graph', [['box', ''], ['blocks', 'number'], ['time', 'number'], ['of all', 'number'], ['waits for', ''], ['awaited by', '']],
      drawn.nodes.map(({ node }, i) => [node.block === null ? node.label : `block ${node.block}: ${node.label}`, String(node.count), time(node.time), percent(node.time / total),
        namesBeside(i, 'to', 'from').join('; '), namesBeside(i, 'from', 'to').join('; ')])));
  };

  const drawCrumbs = () => {
    const list = element('ol', {});
    for (const node of hespasGraph.above(shown).reverse()) {
      list.append(element('li', {}, node === shown ? element('b', { 'aria-current': 'true' }, node.label) : button(node.label, () => show(node))));
    }
    crumbs.replaceChildren(list);
  };

  const draw = () => {
    const view = hespasGraph.view(graph, shown);
    const { width, height } = size();
    drawn = { ...view, ...hespasGraph.layout(view, { ...SIZE, aspect: width / height }), boxes: [], lines: [] };
    const longest = Math.max(1, ...shown.children.map((node) => node.time));
    drawn.boxes = view.nodes.map((node, i) => boxOf(node, i, node.side ? Math.max(longest, node.node.time) : longest));
    const [out, into] = ['from', 'to'].map((end) => { const n = view.nodes.map(() => 0); view.edges.forEach((e) => { n[e[end]] += 1; }); return n; });
    const crowded = (e) => Math.max(out[e.from], into[e.to]) > CROWD;
    drawn.lines = view.edges.map((e) => svgElement('path', { d: hespasGraph.curve(drawn.positions[e.from], drawn.positions[e.to], SIZE), class: crowded(e) ? 'edge faint' : 'edge', 'marker-end': 'url(#arrow)' },
      svgElement('title', {}, `${view.nodes[e.from].node.label} to ${view.nodes[e.to].node.label}: ${count(e.count, 'dependency', 'dependencies')}`)));
    stage.replaceChildren(...drawn.lines, ...drawn.boxes);
    drawn.boxes[0]?.setAttribute('tabindex', '0');
    const more = view.left.in + view.left.out;
    about.textContent = `${shown.label}: ${count(shown.count, 'block')}, ${time(shown.time)}${more ? `; ${count(more, 'more neighbour')} outside not drawn` : ''}.`;
    svg.setAttribute('aria-label', `Dependency graph of ${shown.label}: ${count(shown.children.length, 'box', 'boxes')}, ${count(view.edges.length, 'arrow')}. Arrow keys move, Enter opens, Escape goes up.`);
    drawCrumbs();
    fillTable();
    mark();
    fit(LEAST_SCALE);
  };

  const show = (node, chosen = null) => {
    const from = shown;
    shown = node;
    draw();
    const i = Math.max(0, drawn.nodes.findIndex((n) => n.node === (chosen ?? from)));
    if (chosen) centre(i);
    if (made.contains(document.activeElement) || document.activeElement === document.body) drawn.boxes[i].focus({ preventScroll: true });
    hespasShell.told(about.textContent);
  };

  // --- search ------------------------------------------------------------------------------------------------------------
  const goTo = (step) => {
    if (!matches.length) return;
    match = (match + step + matches.length) % matches.length;
    const leaf = graph.leaves[matches[match]];
    shown = leaf.parent;
    draw();
    const i = drawn.nodes.findIndex((n) => n.node === leaf);
    look(i);
    centre(i);
    drawn.boxes[i].classList.add('chosen');
    found.textContent = `${match + 1} of ${matches.length.toLocaleString('en')}: block ${leaf.block}`;
    hespasShell.told(found.textContent);
  };
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    matches = words.length ? blocks.flatMap((b, i) => (words.every((word) => `block ${i} ${b.full} ${b.kind}`.toLowerCase().includes(word)) ? [i] : [])) : [];
    match = -1;
    found.textContent = words.length ? `${matches.length.toLocaleString('en')} found` : '';
    mark();
    hespasShell.told(found.textContent);
  });
  search.addEventListener('keydown', (event) => { if (event.key === 'Enter') goTo(event.shiftKey ? -1 : 1); });

  // --- pointer and keys --------------------------------------------------------------------------------------------------
  let dragged = false;
  let grip = null;
  svg.addEventListener('pointerdown', (event) => { grip = { x: event.clientX - at.x, y: event.clientY - at.y, from: [event.clientX, event.clientY] }; dragged = false; });
  window.addEventListener('pointermove', (event) => {
    if (!grip) return;
    dragged ||= Math.hypot(event.clientX - grip.from[0], event.clientY - grip.from[1]) > 4;
    if (dragged) move({ ...at, x: event.clientX - grip.x, y: event.clientY - grip.y });
  });
  for (const end of ['pointerup', 'pointercancel']) window.addEventListener(end, () => { grip = null; });
  svg.addEventListener('wheel', (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });

  const nearest = (i, [dx, dy]) => {
    const p = drawn.positions[i];
    const far = drawn.positions.map((q, k) => {
      const [x, y] = [q.x - p.x, q.y - p.y];
      const along = x * dx + y * dy;
      return k === i || along <= 0 ? Infinity : along + 3 * Math.abs(x * dy - y * dx);
    });
    const best = far.indexOf(Math.min(...far));
    return far[best] < Infinity ? best : i;
  };
  svg.addEventListener('keydown', (event) => {
    const i = drawn.boxes.indexOf(document.activeElement);
    const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (i >= 0 && way) drawn.boxes[nearest(i, way)].focus({ preventScroll: true });
    else if (i >= 0 && (event.key === 'Enter' || event.key === ' ')) act(i);
    else if (event.key === 'Escape' && shown.parent) show(shown.parent);
    else if (event.key === '+' || event.key === '-') zoom(event.key === '+' ? 1.25 : 0.8);
    else return;
    event.preventDefault();
  });

  rows.addEventListener('toggle', fillTable);
  made.append(element('div', { class: 'controls' }, search, button('Previous', () => goTo(-1)), button('Next', () => goTo(1)), found), crumbs,
    element('figure', {}, svg, about, key, element('div', { class: 'controls' }, button('Zoom in', () => zoom(1.25)), button('Zoom out', () => zoom(0.8)), button('All', () => fit()),
      button('Up', () => { if (shown.parent) show(shown.parent); })), rows));
  return { draw, graph, show, blocks, now: () => ({ shown, at, ...drawn }) };
};
