// The page: a program and settings in, the command's answers out.
import { isOutOfMemory, textOf } from '../errors.mjs';
import { EngineWorker } from './engine_worker.mjs';
import { compareArguments, fields, fragmentOf, runArguments, settingsOf } from './settings.mjs';

const at = (id) => document.getElementById(id);
const kMostBytes = 200e6;
let dropped = null; // {name, content}, the content as a promise
let engine = null;
let examples = {};
let urls = [];

const settings = () => Object.fromEntries(fields.map((name) => [name, at(name).value.trim()]));

function say(text) {
  at('state').textContent = text;
}

// Messages wrap; lines of the program, which are indented, keep their caret below them.
function fail(text) {
  at('problem').replaceChildren(...(text ? text.split(/(?<=\n)/) : []).map((line) => {
    const shown = document.createElement('div');
    shown.className = line.startsWith('  ') ? 'source' : '';
    shown.textContent = line;
    return shown;
  }));
  at('problem').hidden = !text;
}

async function contentOf(file) {
  const megabytes = (file.size / 1e6).toFixed(0);
  if (file.size > kMostBytes) throw new Error(`${file.name} has ${megabytes} MB; the page takes up to ${kMostBytes / 1e6} MB, the command takes more`);
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch (error) {
    throw new Error(`${file.name} cannot be read: ${error.message}`);
  }
}

async function take(file) {
  if (!file) return;
  const content = contentOf(file);
  dropped = { name: file.name, content };
  at('example').value = '';
  at('text').value = '';
  fail('');
  say(`${file.name}, ${(file.size / 1e3).toFixed(1)} kB`);
  await content.catch((error) => fail(error.message));
}

// What was pasted, dropped or chosen, in this order.
function program() {
  if (at('text').value.trim()) return { name: 'pasted.mlir', content: at('text').value };
  if (dropped && !at('example').value) return dropped;
  const name = at('example').value;
  return examples[name] ? { name, content: examples[name] } : null;
}

const seconds = (s) => (s >= 1 ? `${s.toPrecision(3)} s` : s >= 1e-3 ? `${(s * 1e3).toPrecision(3)} ms` : `${(s * 1e6).toPrecision(3)} µs`);
const percent = (share) => (share == null ? '–' : `${(share * 100).toFixed(1)} %`);

function card(title, figure, note) {
  const box = document.createElement('div');
  box.className = 'card';
  for (const [tag, name, text] of [['dt', '', title], ['dd', 'figure', figure], ['dd', 'note', note]]) {
    const part = document.createElement(tag);
    part.className = name;
    part.textContent = text;
    box.append(part);
  }
  return box;
}

function showFigures(result) {
  at('cards').replaceChildren(
    card('Step time', seconds(result.step_time_s), `± ${seconds(result.step_time_sigma_s)} (one standard deviation)`),
    card('Exposed communication', percent(result.step_time_s > 0 ? result.exposed_communication_s / result.step_time_s : null), `${seconds(result.communication_time_s)} of communication in all`),
    card('Model FLOPs utilisation', percent(result.model_flops_utilisation), `hardware: ${percent(result.hardware_flops_utilisation)}`),
    card('Peak memory', `${(result.peak_memory_bytes / 1e9).toFixed(2)} GB`, result.fits_in_memory ? `fits into ${(result.memory_capacity_bytes / 1e9).toFixed(0)} GB` : 'does not fit'),
  );
}

// Old ones are released: a report of a large program has megabytes.
function address(content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  urls.push(url);
  return url;
}

function showFiles(files) {
  const rows = Object.entries(files).map(([path, content]) => {
    const link = document.createElement('a');
    link.textContent = path.slice('/output/'.length);
    link.download = link.textContent.replaceAll('/', '-');
    link.href = address(content, path.endsWith('.html') ? 'text/html' : 'application/octet-stream');
    const row = document.createElement('li');
    row.append(link);
    return row;
  });
  at('files').replaceChildren(...rows);
  const page = Object.keys(files).find((path) => path.endsWith('.html'));
  if (page) at('report').src = address(files[page], 'text/html');
}

// Without what tells how far the command is.
const lasting = (stderr) => stderr.split('\n').filter((line) => !/\d s left$/.test(line)).join('\n').trim();

async function ask(args, files, output) {
  const answer = await engine.command(args, { files, output, heard: (line) => say(line) });
  if (answer.status !== 0) throw new Error(lasting(answer.stderr) || `the command ended with status ${answer.status}`);
  return answer;
}

async function predict() {
  const given = program();
  const wanted = settings();
  if (!given) throw new Error('Choose an example, drop a file or paste a program.');
  if (!wanted.device) throw new Error('Name a device.');
  const files = { [`/${given.name}`]: await given.content };
  const started = performance.now();
  say('Predicting');
  const quick = await ask(runArguments(given.name, wanted), files);
  at('headline').textContent = quick.stdout;
  at('answer').hidden = false;
  at('answer').dataset.milliseconds = (performance.now() - started).toFixed(0);
  for (const url of urls.splice(0)) URL.revokeObjectURL(url);
  say('Writing the report');
  const full = await ask([...runArguments(given.name, wanted), '--output', '/output', '-q'], files, '/output');
  showFigures(JSON.parse(new TextDecoder().decode(full.files['/output/result.json'])));
  let all = full.files;
  if (wanted.compare) {
    say('Comparing');
    const compared = await ask([...compareArguments(given.name, wanted), '--output', '/output', '-q'], files, '/output');
    at('headline').textContent += `\n${compared.stdout}`;
    all = { ...compared.files, ...all };
  }
  showFiles(all);
  say(lasting(quick.stderr) || `Done in ${seconds((performance.now() - started) / 1000)}`);
}

async function submit(event) {
  event.preventDefault();
  fail('');
  history.replaceState(null, '', fragmentOf(settings()));
  at('predict').disabled = true;
  at('cancel').hidden = false;
  try {
    await predict();
  } catch (error) {
    say('');
    fail(isOutOfMemory(error) ? textOf(error) : error.message);
    at('answer').hidden = true; // it would be taken for the answer of this program
  }
  at('predict').disabled = false;
  at('cancel').hidden = true;
}

function fill(list, names, first = []) {
  list.replaceChildren(...[...first, ...names].map((name) => new Option(name, name)));
}

// As the system has it; the report has a button of its own.
function followTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => { document.documentElement.dataset.theme = dark.matches ? 'dark' : 'light'; };
  dark.addEventListener('change', follow);
  follow();
}

function listen() {
  at('form').addEventListener('submit', submit);
  at('cancel').addEventListener('click', () => engine.restart('Cancelled.'));
  at('file').addEventListener('change', () => take(at('file').files[0]));
  at('example').addEventListener('change', () => { at('file').value = ''; }); // the same file may be chosen again
  at('share').addEventListener('click', async () => {
    history.replaceState(null, '', fragmentOf(settings()));
    await navigator.clipboard?.writeText(location.href).catch(() => {});
    say('The address of this page has the settings.');
  });
  const drop = at('drop');
  for (const [name, over] of [['dragover', true], ['dragleave', false], ['drop', false]]) {
    drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.toggle('over', over); });
  }
  drop.addEventListener('drop', (event) => take(event.dataTransfer.files[0]));
}

async function start() {
  const names = await (await fetch('examples.json')).json();
  const contents = await Promise.all(names.map(async (name) => new Uint8Array(await (await fetch(`examples/${name}`)).arrayBuffer())));
  examples = Object.fromEntries(names.map((name, i) => [name, contents[i]]));
  engine = await EngineWorker.load();
  fill(at('example'), names, ['']);
  fill(at('devices'), engine.names('devices'));
  fill(at('systems'), engine.names('systems'));
  const chosen = { device: 'H100_80GB', example: names[0], ...settingsOf(location.hash) };
  for (const name of fields) at(name).value = chosen[name] ?? '';
  listen();
  at('predict').disabled = false;
  document.documentElement.dataset.ready = 'true';
  say('Ready');
}

followTheme();
start().catch((error) => { say(''); fail(`The engine cannot be loaded: ${error.message}`); });
