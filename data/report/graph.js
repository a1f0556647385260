// The dependency graph of blocks without a page: blocks in groups of groups, what one group shows, and where it is drawn.
'use strict';
// eslint-disable-next-line no-unused-vars
const hespasGraph = (() => {
  const kMostChildren = 100;  // more are cut into runs
  const kMostOutside = 8;     // neighbours outside a group that are drawn on each side
  const kMostInRow = 6;

  // --- groups ------------------------------------------------------------------------------------------------------------
  // Equal numbers of ops are executions of one op. From the first that comes again, a loop's iterations begin with it.
  const loopPaths = (op) => {
    const paths = op.map(() => []);
    const split = (from, to) => {
      const places = new Map();
      for (let i = from; i < to; ++i) places.has(op[i]) ? places.get(op[i]).push(i) : places.set(op[i], [i]);
      let loops = 0;
      for (let i = from; i < to;) {
        const starts = places.get(op[i]);
        const body = new Set(op.slice(starts[0], starts[1] ?? starts[0]));
        let end = starts.at(-1);
        while (end < to && body.has(op[end])) ++end;
        if (starts.length === 1 || 2 * (end - starts.at(-1)) < body.size) { ++i; continue; }
        const name = `loop ${++loops}, ${starts.length} iterations`;
        starts.forEach((start, k) => {
          const stop = starts[k + 1] ?? end;
          for (let x = start; x < stop; ++x) paths[x].push(name, `iteration ${k + 1}`);
          split(start, stop);
        });
        i = end;
      }
    };
    split(0, op.length);
    return paths;
  };

  // "decoder/layers_3/mlp (backward)": decoder, all layers_*, layers_3, mlp; ways have groups of their own.
  const scopePath = (scope) => {
    const [, names, way] = /^(.*?)( \(\w+\))?$/.exec(scope);
    const parts = names.split('/').filter(Boolean);
    const at = parts.findIndex((part) => /^.*[a-z_.[]\d+\]?$/.test(part));
    if (at >= 0) parts.splice(at, 0, parts[at].replace(/\d+(\]?)$/, '*$1'));
    return parts.map((part) => part + (way ?? ''));
  };

  const group = (label, parent) => ({ label, parent, children: [], block: null });

  // A program that names no layer of some blocks: those stay with the block before, within one iteration.
  const grow = (blocks, op) => {
    const top = group('step', null);
    const byKey = new Map();
    const loops = loopPaths(op);
    let before = { loop: '', scope: [] };
    blocks.forEach((block, i) => {
      const loop = loops[i].join('\n');
      const scope = block.layer || before.loop !== loop ? scopePath(block.layer) : before.scope;
      before = { loop, scope };
      let at = top;
      let key = '';
      for (const label of [...loops[i], ...scope]) {
        key += `\n${label}`;
        if (!byKey.has(key)) {
          byKey.set(key, group(label, at));
          at.children.push(byKey.get(key));
        }
        at = byKey.get(key);
      }
      at.children.push({ label: block.name, parent: at, children: [], block: i });
    });
    return top;
  };

  const runName = (run) => {
    const [first, last] = [run[0], run.at(-1)];
    if (first.block !== null && last.block !== null) return `blocks ${first.block} to ${last.block}`;
    return `${first.label} to ${last.label}`;
  };

  // Runs of blocks (or, where those are few, of groups) that lie behind each other become groups of about forty.
  const cutRuns = (node, isCut) => {
    const { children } = node;
    node.children = [];
    for (let i = 0; i < children.length;) {
      let end = i + 1;
      while (end < children.length && isCut(children[i]) && isCut(children[end])) ++end;
      const parts = Math.ceil((end - i) / 40);
      for (let part = 0; part < parts; ++part) {
        const run = children.slice(i + Math.round(part * (end - i) / parts), i + Math.round((part + 1) * (end - i) / parts));
        if (run.length < 4) { node.children.push(...run); continue; }
        const made = group(runName(run), node);
        made.children = run;
        for (const child of run) child.parent = made;
        node.children.push(made);
      }
      i = end;
    }
  };

  // Groups of one child are that child; groups of too many get groups between.
  const tidy = (node) => {
    node.children = node.children.map((child) => {
      tidy(child);
      if (child.children.length !== 1) return child;
      const [only] = child.children;
      only.label = only.block === null ? `${child.label}/${only.label}` : only.label;
      only.parent = node;
      return only;
    });
    if (node.children.length > kMostChildren) cutRuns(node, (child) => child.block !== null);
    while (node.children.length > kMostChildren) cutRuns(node, () => true);
  };

  // Sums of blocks, time and time by bound; the first block gives the order.
  const sum = (node, blocks) => {
    if (node.block !== null) {
      const { time, bound } = blocks[node.block];
      return Object.assign(node, { first: node.block, count: 1, time, bounds: { [bound]: time } });
    }
    Object.assign(node, { first: Infinity, count: 0, time: 0, bounds: {} });
    for (const child of node.children) {
      sum(child, blocks);
      node.first = Math.min(node.first, child.first);
      node.count += child.count;
      node.time += child.time;
      for (const [bound, time] of Object.entries(child.bounds)) node.bounds[bound] = (node.bounds[bound] ?? 0) + time;
    }
    node.children.sort((a, b) => a.first - b.first);
    return node;
  };

  // `blocks`: {name, layer, time, bound} of each block; `graph`: {op, from} of the page's data.
  const build = (blocks, graph) => {
    const top = grow(blocks, graph.op);
    tidy(top);
    sum(top, blocks);
    const leaves = [];
    const collect = (node) => { if (node.block !== null) leaves[node.block] = node; else node.children.forEach(collect); };
    collect(top);
    const before = [];
    for (let at = 0, i = 0; i < graph.op.length; ++i) {
      const many = graph.from[at++];
      before.push(graph.from.slice(at, at + many).map((back) => i - back));
      at += many;
    }
    return { top, leaves, before };
  };

  // --- one group ---------------------------------------------------------------------------------------------------------
  const above = (node) => { const list = []; for (let at = node; at; at = at.parent) list.push(at); return list; };

  // The children of a group, its neighbours outside, and the edges between them with how many they stand for.
  const view = ({ leaves, before }, shown) => {
    const around = new Set(above(shown));
    const place = (node) => { let at = node; while (!around.has(at.parent)) at = at.parent; return at; };
    const places = leaves.map(place);
    const edges = new Map();
    const outside = { in: new Map(), out: new Map() };
    before.forEach((list, to) => {
      const b = places[to];
      for (const from of list) {
        const a = places[from];
        if (a === b || (a.parent !== shown && b.parent !== shown)) continue;
        if (a.parent !== shown) outside.in.set(a, (outside.in.get(a) ?? 0) + 1);
        if (b.parent !== shown) outside.out.set(b, (outside.out.get(b) ?? 0) + 1);
        if (!edges.has(a)) edges.set(a, new Map());
        edges.get(a).set(b, (edges.get(a).get(b) ?? 0) + 1);
      }
    });
    const most = (map) => [...map].sort((a, b) => b[1] - a[1]).slice(0, kMostOutside).map(([node]) => node).sort((a, b) => a.first - b.first);
    const [incoming, outgoing] = [most(outside.in), most(outside.out)];
    // What is before and behind is drawn twice.
    const nodes = [...incoming.map((node) => ({ node, side: 'in' })), ...shown.children.map((node) => ({ node, side: '' })), ...outgoing.map((node) => ({ node, side: 'out' }))];
    const indexOf = (node, side) => nodes.findIndex((n) => n.node === node && n.side === (node.parent === shown ? '' : side));
    const list = [];
    for (const [a, targets] of edges) {
      for (const [b, count] of targets) {
        const [from, to] = [indexOf(a, 'in'), indexOf(b, 'out')];
        if (from >= 0 && to >= 0) list.push({ from, to, count });
      }
    }
    return { nodes, edges: list, left: { in: outside.in.size - incoming.length, out: outside.out.size - outgoing.length } };
  };

  // --- where it is drawn ---------------------------------------------------------------------------------------------------
  // Rows by the longest path; what nothing feeds stands just before its first user. Edges against the order count for nothing.
  const rowsOf = ({ nodes, edges }) => {
    const forward = edges.filter((e) => e.from < e.to).sort((a, b) => a.from - b.from);
    const rank = nodes.map(() => 0);
    for (const e of forward) rank[e.to] = Math.max(rank[e.to], rank[e.from] + 1);
    const fed = new Set(forward.map((e) => e.to));
    const user = nodes.map(() => Infinity);
    for (const e of forward) user[e.from] = Math.min(user[e.from], rank[e.to]);
    const last = Math.max(...rank);
    nodes.forEach((n, i) => {
      if (n.side === 'out') rank[i] = last + 1;
      else if (!fed.has(i) && user[i] < Infinity) rank[i] = user[i] - 1;
    });
    const rows = [];
    nodes.forEach((_, i) => (rows[rank[i]] ??= []).push(i));
    return { rows: rows.filter((row) => row?.length), forward };
  };

  // Each row in the order of its neighbours' means, down and up (Sugiyama's barycentre method).
  const untangle = (rows, forward, count) => {
    const near = [Array.from({ length: count }, () => []), Array.from({ length: count }, () => [])];
    for (const e of forward) { near[0][e.to].push(e.from); near[1][e.from].push(e.to); }
    const at = [];
    const note = (row) => row.forEach((i, k) => { at[i] = (k + 0.5) / row.length; });
    rows.forEach(note);
    const sortRow = (row, side) => {
      const mean = new Map(row.map((i) => [i, side[i].length ? side[i].reduce((s, n) => s + at[n], 0) / side[i].length : at[i]]));
      row.sort((a, b) => mean.get(a) - mean.get(b));
      note(row);
    };
    for (let sweep = 0; sweep < 4; ++sweep) {
      rows.forEach((row) => sortRow(row, near[0]));
      [...rows].reverse().forEach((row) => sortRow(row, near[1]));
    }
  };

  // Rows stand below each other, in as many columns as fill the window's shape. Positions are of corners.
  const layout = (shown, { wide, tall, gapX, gapY, aspect }) => {
    const { rows, forward } = rowsOf(shown);
    untangle(rows, forward, shown.nodes.length);
    const lines = rows.flatMap((row) => Array.from({ length: Math.ceil(row.length / kMostInRow) }, (_, k) => row.slice(k * kMostInRow, (k + 1) * kMostInRow)));
    const columnOf = (from, to) => Math.max(...lines.slice(from, to).map((line) => line.length)) * (wide + gapX);
    const sizeFor = (perColumn) => {
      let width = 0;
      for (let i = 0; i < lines.length; i += perColumn) width += columnOf(i, i + perColumn) + gapX;
      return { width, height: perColumn * (tall + gapY) };
    };
    let perColumn = lines.length;
    while (perColumn > 4 && sizeFor(perColumn).height * aspect > sizeFor(perColumn).width * 1.2) --perColumn;
    const positions = [];
    let left = 0;
    for (let i = 0; i < lines.length; i += perColumn) {
      const width = columnOf(i, i + perColumn);
      lines.slice(i, i + perColumn).forEach((line, k) => line.forEach((n, j) => {
        positions[n] = { x: left + (width - line.length * (wide + gapX)) / 2 + j * (wide + gapX), y: k * (tall + gapY), column: i / perColumn };
      }));
      left += width + gapX;
    }
    return { positions, width: left, height: sizeFor(perColumn).height };
  };

  // Down within a column, sideways between columns and against the order.
  const curve = (a, b, { wide, tall }) => {
    if (a.column === b.column && b.y > a.y) {
      const [x, y, u, v] = [a.x + wide / 2, a.y + tall, b.x + wide / 2, b.y];
      if (v - y < 2 * tall) return `M${x} ${y}C${x} ${(y + v) / 2} ${u} ${(y + v) / 2} ${u} ${v}`;
      const reach = Math.min(90, 16 + (v - y) / 8);  // around what lies between
      return `M${a.x + wide} ${a.y + tall / 2}C${a.x + wide + reach} ${a.y + tall / 2} ${b.x + wide + reach} ${b.y + tall / 2} ${b.x + wide} ${b.y + tall / 2}`;
    }
    const right = b.x >= a.x;
    const [x, y, u, v] = [a.x + (right ? wide : 0), a.y + tall / 2, b.x + (right === (b.x > a.x) ? 0 : wide), b.y + tall / 2];
    const reach = 24 + Math.abs(u - x) / 3;
    return `M${x} ${y}C${x + (right ? reach : -reach)} ${y} ${u + (right ? -reach : reach)} ${v} ${u} ${v}`;
  };

  return { build, view, layout, curve, above };
})();
