// What all pages share: light and dark, printing, and tables that sort, search and copy.
'use strict';
const hespasShell = (() => {
  const root = document.documentElement;
  const told = (text) => { document.getElementById('told').textContent = text; };
  const redraw = () => window.dispatchEvent(new Event('hespas-redraw'));

  // --- light, dark, print ----------------------------------------------------------------------------------------------
  const setTheme = (name) => {
    root.dataset.theme = name;
    document.getElementById('theme').setAttribute('aria-pressed', String(name === 'dark'));
  };
  setTheme(window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  document.getElementById('theme').addEventListener('click', () => { setTheme(root.dataset.theme === 'dark' ? 'light' : 'dark'); redraw(); });
  document.getElementById('print').addEventListener('click', () => window.print());
  let before = 'light';
  window.addEventListener('beforeprint', () => { before = root.dataset.theme; setTheme('light'); });
  window.addEventListener('afterprint', () => { setTheme(before); });

  // --- tables ----------------------------------------------------------------------------------------------------------
  const PREFIX = { p: 1e-12, n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };
  // "58.5 ms", "-3.1 %", "1,234": the number in base units; NaN for texts.
  const valueOf = (text) => {
    const found = /^([+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*([A-Za-z%][A-Za-z/]*)?$/.exec(text.trim());
    if (!found) return NaN;
    const unit = found[2] ?? '';
    const prefixed = /^[pnumkMGTPE](s|B|B\/s|FLOP|FLOP\/s|J|W|Hz)?$/.test(unit) && unit !== 'm' ? PREFIX[unit[0]] : 1;
    return Number(found[1].replaceAll(',', '')) * prefixed;
  };
  // The number with at least three digits and the unit of its size: scaled(1234, ['ps', 'ns']) is "1.23 ns".
  const scaled = (value, units, step = 1000) => {
    let k = 0;
    let size = Math.abs(value);
    while (k + 1 < units.length && size >= 0.9995 * step) { size /= step; value /= step; ++k; }
    const digits = size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : 2;
    return `${value.toFixed(digits)} ${units[k]}`;
  };
  const cellText = (row, i) => (row.cells[i] ? row.cells[i].textContent.trim() : '');

  const sortBy = (table, column, down) => {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const values = new Map(rows.map((row) => [row, valueOf(cellText(row, column))]));
    const numeric = rows.filter((row) => !Number.isNaN(values.get(row))).length * 2 > rows.length;
    const order = (a, b) => {
      if (!numeric) return cellText(a, column).localeCompare(cellText(b, column), 'en');
      const [x, y] = [values.get(a), values.get(b)];
      return (Number.isNaN(x) ? -Infinity : x) - (Number.isNaN(y) ? -Infinity : y);
    };
    rows.sort((a, b) => (down ? order(b, a) : order(a, b)));
    body.append(...rows);
  };

  const csvOf = (table) => {
    const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const line = (row) => [...row.cells].filter((cell) => !cell.hidden).map((cell) => quote(cell.textContent.trim())).join(',');
    return [table.tHead.rows[0], ...[...table.tBodies[0].rows].filter((row) => !row.hidden)].map(line).join('\n');
  };

  const make = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  const headButtons = (table) => {
    [...table.tHead.rows[0].cells].forEach((head, i) => {
      const button = make('button', { type: 'button', class: 'sort' }, ...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => {
        const down = head.getAttribute('aria-sort') !== 'descending';
        for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        sortBy(table, i, down);
        told(`Sorted by ${button.textContent}, ${down ? 'largest' : 'smallest'} first`);
      });
    });
  };

  const columnChoice = (table) => {
    const list = make('div', { class: 'columns' });
    [...table.tHead.rows[0].cells].forEach((head, i) => {
      const box = make('input', { type: 'checkbox' });
      box.checked = true;
      box.addEventListener('change', () => {
        for (const row of [table.tHead.rows[0], ...table.tBodies[0].rows]) if (row.cells[i]) row.cells[i].hidden = !box.checked;
      });
      list.append(make('label', {}, box, ` ${head.textContent}`));
    });
    return make('details', { class: 'chooser' }, make('summary', {}, 'Columns'), list);
  };

  // Short tables only sort.
  const enhance = (table) => {
    if (table.dataset.plain !== undefined || !table.tHead || !table.tBodies[0] || table.tBodies[0].rows.length < 3) return;
    table.dataset.plain = '';
    headButtons(table);
    const rows = table.tBodies[0].rows;
    if (rows.length > 30) table.closest('.scroll')?.classList.add('tall');
    if (rows.length < 6) return;
    const name = table.caption?.textContent || table.parentElement.getAttribute('aria-label') || 'table';
    const search = make('input', { type: 'search', placeholder: 'Search', 'aria-label': `Search in ${name}` });
    search.addEventListener('input', () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
        shown += row.hidden ? 0 : 1;
      }
      told(`${shown} of ${rows.length} rows`);
    });
    const copy = make('button', { type: 'button' }, 'Copy as CSV');
    copy.addEventListener('click', async () => {
      await navigator.clipboard.writeText(csvOf(table));
      told('Copied');
    });
    const bar = make('div', { class: 'controls table-tools' }, search, copy);
    if (table.tHead.rows[0].cells.length > 3) bar.append(columnChoice(table));
    (table.closest('.scroll') ?? table).before(bar);
  };
  const enhanceAll = () => document.querySelectorAll('table').forEach(enhance);
  return { told, scaled, enhance, enhanceAll, csvOf, valueOf, setTheme };
})();
if (!document.getElementById('data')) {
  hespasShell.enhanceAll();
  document.documentElement.dataset.ready = 'true';
}
