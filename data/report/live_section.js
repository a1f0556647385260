// The live part of a run's page: sliders, and what the step would be.
'use strict';
// `page`: what page.js lends: data, section, element, time, bytes, percent, scaled, stackLanes.
// eslint-disable-next-line no-unused-vars
const hespasLiveSection = (page) => {
  const { data, section, element, time, bytes, percent, scaled } = page;
  const { run, live } = data;
  const BOUNDS = ['compute', 'memory', 'launch', 'network', 'idle'];

  const made = section('live', 'Live', 'Move a slider, or type a figure: this page recomputes the step with the kernels of the run.');
  if (!live || live.why_not) {
    made.append(element('p', {}, `Not for this run: ${live ? live.why_not : 'the page has no terms'}.`));
    return null;
  }

  // --- the model -------------------------------------------------------------------------------------------------------
  const { distinct } = data;
  const fixed = distinct.time.map((t, d) => ({ time: t, launch: 0, bound: data.strings[distinct.bound[d]] }));
  const step = hespasLive.stepper({ ...live, flops: distinct.flops }, fixed);
  const now = hespasLive.today(live);
  const first = step(now);
  if (Math.abs(first.step / run.step_time_ps - 1) > 1e-3) {
    made.append(element('p', {}, 'Not for this run: the page\'s model does not reproduce its step time.'));
    return null;
  }
  const settings = structuredClone(now);

  // --- what can be moved -----------------------------------------------------------------------------------------------
  const GB = 1e9;
  // Dimensions of one torus change together.
  const levels = [];
  (live.system ?? []).forEach((d, i) => { if (d.with === i) levels.push([i]); else levels.at(-1).push(i); });
  const figure = (name, unit, scale, get, set, option) => ({ name, unit, scale, get, set, option, from: get(now) });
  const figures = [
    figure('Peak FLOP/s', 'x', 1, (s) => s.peak, (s, v) => { s.peak = v; }, (v) => `device.peak_flops=${v}x`),
    figure('Memory bandwidth', 'GB/s', GB, (s) => s.bandwidth * live.machine.memory_bandwidth,
      (s, v) => { s.bandwidth = v / live.machine.memory_bandwidth; }, (v) => `device.memory_bandwidth=${v}`),
    ...(now.capacity ? [figure('Memory capacity', 'GB', GB, (s) => s.capacity, (s, v) => { s.capacity = v; }, (v) => `device.memory_capacity=${v}`)] : []),
    figure('Kernel launch', 'us', 1e-6, (s) => s.launch, (s, v) => { s.launch = v; }, (v) => `device.launch_time=${v}`),
    ...levels.flatMap((dimensions, level) => {
      const first = dimensions[0];
      const set = (key) => (s, v) => dimensions.forEach((d) => { s.links[d][key] = v; });
      const options = (key) => (v) => dimensions.map((d) => `system.${key}[${d}]=${v}`);
      return [figure(`Network level ${level}, bandwidth`, 'GB/s', GB, (s) => s.links[first].bandwidth, set('bandwidth'), options('bandwidth')),
        figure(`Network level ${level}, latency`, 'us', 1e-6, (s) => s.links[first].latency, set('latency'), options('latency'))];
    }),
  ];

  // --- what follows ----------------------------------------------------------------------------------------------------
  const cards = element('dl', { class: 'cards', 'aria-live': 'off' });
  const card = (name) => {
    const [value, note] = [element('dd', { class: 'figure' }), element('dd', { class: 'note' })];
    cards.append(element('div', { class: 'card' }, element('dt', {}, name), value, note));
    return (text, words, alarm = false) => { value.textContent = text; note.textContent = words; value.classList.toggle('bad', alarm); };
  };
  const show = { step: card('Step time'), rate: run.throughput && card('Throughput'), use: card(run.model_flops_utilisation != null ? 'MFU' : 'HFU'),
    exposed: card('Exposed communication'), fits: run.peak_memory_bytes != null && now.capacity && card('Memory') };
  const barOf = (name) => {
    const bar = element('div', { class: 'stack', role: 'img' });
    return { name, bar, row: element('div', { class: 'live-bar' }, element('span', {}, name), bar) };
  };
  const [before, after] = [barOf('as run'), barOf('now')];
  const canvas = element('canvas', { class: 'lanes', role: 'img' });
  const command = element('pre', { tabindex: '0', 'aria-label': 'Command with these figures' });

  const drawBar = ({ name, bar }, result, most) => {
    bar.replaceChildren(...BOUNDS.filter((b) => result.bounds[b] > 0).map((b) => element('i', {
      style: `width:${(100 * result.bounds[b] / most).toFixed(3)}%;background:var(--${b})`, title: `${b} ${time(result.bounds[b])}` })));
    bar.setAttribute('aria-label', `${name}: ${BOUNDS.map((b) => `${b} ${time(result.bounds[b])}`).join(', ')}`);
  };

  const lanesOf = (result) => [0, 1].map((kind) => result.start.map((start, i) => ({
    start, end: start + result.durations[i], kind: live.kinds[i],
    bound: live.kinds[i] ? 'network' : live.what[i] < 0 ? 'idle' : result.blocks[live.what[i]].bound })).filter((m) => m.kind === kind && m.end > m.start));

  // What --set takes for figures that differ from the run's.
  const changesOf = (s) => figures.filter((f) => f.get(s) !== f.from).flatMap((f) => f.option(f.get(s)));

  const draw = (result) => {
    const ratio = result.step / run.step_time_ps;
    show.step(time(result.step), ratio === 1 ? 'as run' : `${ratio < 1 ? '' : '+'}${(100 * (ratio - 1)).toFixed(1)} %`);
    const plain = (n) => scaled(n, ['', 'k', 'M', 'G']).trim();
    if (show.rate) show.rate(`${plain(run.throughput.per_second_and_device / ratio)} ${run.throughput.unit}/s`, 'per device');
    const use = run.model_flops_utilisation ?? run.hardware_flops_utilisation;
    show.use(percent(use / ratio / settings.peak), `of ${settings.peak === 1 ? 'the' : `${Number(settings.peak.toPrecision(3))} x the`} peak`);
    show.exposed(time(result.exposed), `${percent(result.exposed / result.step)} of the step`);
    if (show.fits) {
      const fits = run.peak_memory_bytes <= settings.capacity;
      show.fits(fits ? 'fits' : 'does not fit', `${bytes(run.peak_memory_bytes)} of ${bytes(settings.capacity)}`, !fits);
    }
    const most = Math.max(first.step, result.step);
    drawBar(before, first, most);
    drawBar(after, result, most);
    page.stackLanes(canvas, lanesOf(result), most);
    canvas.setAttribute('aria-label', `Timeline of ${time(result.step)}: computation above, communication below`);
    const changes = changesOf(settings);
    command.textContent = `${run.reproduce.command || 'hespas run ...'}${changes.map((c) => ` --set ${c}`).join('')}${changes.length ? ' --keep-kernels' : ''}`;
  };
  let waiting = false;
  const follow = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(step(settings)); });
  };

  // --- sliders: a factor from 1/8 to 8 in even steps -------------------------------------------------------------------
  const SPAN = 3;
  const STEPS = 240;
  const rows = figures.map((f, i) => {
    const start = f.from || f.scale;
    const slider = element('input', { type: 'range', min: -STEPS, max: STEPS, value: f.from ? 0 : -STEPS, id: `live-${i}`, 'aria-label': f.name });
    const field = element('input', { type: 'number', min: 0, step: 'any', 'aria-label': `${f.name} in ${f.unit}` });
    const write = () => { field.value = String(Number((f.get(settings) / f.scale).toPrecision(6))); };
    slider.addEventListener('input', () => {
      const at = Number(slider.value);
      f.set(settings, at === 0 && f.from ? f.from : start * 2 ** (SPAN * at / STEPS));
      write();
      follow();
    });
    field.addEventListener('change', () => {
      const value = Number(field.value) * f.scale;
      const least = f.unit === 'us' ? 0 : 1e-6 * start;
      if (Number.isFinite(value) && value >= least) f.set(settings, value);
      write();
      slider.value = String(Math.round(STEPS / SPAN * Math.log2(Math.max(f.get(settings), 1e-9 * start) / start)));
      follow();
    });
    write();
    return { f, slider, write, row: element('label', { class: 'slider', for: `live-${i}` }, element('span', {}, f.name), slider, field, element('span', { class: 'unit' }, f.unit)) };
  });
  const reset = element('button', { type: 'button' }, 'As run');
  const set = (values) => { Object.assign(settings, structuredClone(values)); rows.forEach((r) => r.write()); follow(); };
  reset.addEventListener('click', () => { set(now); rows.forEach((r) => { r.slider.value = r.f.from ? '0' : String(-STEPS); }); });
  const copy = element('button', { type: 'button' }, 'Copy command');
  copy.addEventListener('click', () => navigator.clipboard.writeText(command.textContent));

  const key = element('p', { class: 'note' });
  for (const b of BOUNDS) key.append(element('span', { class: 'bound' }, element('span', { class: 'swatch', style: `background:var(--${b})`, 'aria-hidden': 'true' }), b), '\u2003 ');
  made.append(element('div', { class: 'live' },
    element('form', { class: 'sliders', 'aria-label': 'Figures' }, ...rows.map((r) => r.row), element('div', { class: 'controls' }, reset)),
    element('div', {}, cards, before.row, after.row, canvas, key)), command, element('div', { class: 'controls' }, copy),
  element('p', {}, 'Kernels, their fusion and their order stay those of the run, as the command\'s --keep-kernels says. Without it, XLA\'s choices for the other device may shorten the step further.'));
  draw(first);
  return { settings, now, step, set, levels, changesOf, draw: () => draw(step(settings)) };
};
