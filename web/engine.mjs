// The engine for any JavaScript: commands of `hespas` on files in memory. One instance of the module runs one command, so that nothing
// of it is left for the next.
import { sha1 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { decompress } from 'fzstd';
import createHespas from 'hespas-module'; // what Emscripten made; scripts/build_web.sh says where
import pako from 'pako';

const codecs = { gzip: pako.ungzip, zstd: decompress, sha256, sha1 };
const kOutOfMemory = 'error[E0902]: out of memory\n';

function makeFolders(fs, path) {
  for (let at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1)) {
    const folder = path.slice(0, at);
    if (!fs.analyzePath(folder).exists) fs.mkdir(folder);
  }
}

function write(fs, files) {
  for (const [path, content] of Object.entries(files)) {
    makeFolders(fs, path);
    fs.writeFile(path, content);
  }
}

function read(fs, folder, into = {}) {
  if (!fs.analyzePath(folder).exists) return into;
  for (const name of fs.readdir(folder)) {
    if (name === '.' || name === '..') continue;
    const path = `${folder}/${name}`;
    if (fs.isDir(fs.stat(path).mode)) read(fs, path, into);
    else into[path] = fs.readFile(path);
  }
  return into;
}

// An exception of the command itself: it has printed nothing then.
function failure(error) {
  const memory = error instanceof RangeError || /memory/i.test(error?.message ?? '');
  return memory ? kOutOfMemory : `error[E0903]: internal error: ${error?.message ?? error}\n`;
}

export class Engine {
  // `module`: of hespas.wasm, compiled; `data`: texts of the data folder by path (data.json).
  constructor(module, data) {
    this.module = module;
    this.data = Object.fromEntries(Object.entries(data).map(([path, text]) => [`/data/${path}`, text]));
  }

  // Runs `hespas ARGS` where the files named by `files` are; answers with what it wrote, files below `output` included. `heard` is told
  // each line of stderr as it comes.
  async command(args, { files = {}, output, heard = () => {} } = {}) {
    const answer = { status: 0, stdout: '', stderr: '', files: {} };
    const hear = (line) => { answer.stderr += `${line}\n`; heard(line); };
    const instance = await createHespas({
      codecs,
      print: (line) => { answer.stdout += `${line}\n`; },
      printErr: hear,
      quit: (status, unwind) => { answer.status = status; throw unwind; },
      preRun: [(it) => { it.ENV.HESPAS_DATA_DIR = '/data'; it.ENV.HOME = '/'; it.ENV.NO_COLOR = '1'; }],
      instantiateWasm: (imports, done) => {
        WebAssembly.instantiate(this.module, imports).then((made) => done(made, this.module));
        return {};
      },
    });
    try {
      write(instance.FS, this.data);
      write(instance.FS, files);
      instance.FS.chdir('/');
      instance.callMain(args);
      if (output) answer.files = read(instance.FS, output);
    } catch (error) {
      answer.status = 70;
      hear(failure(error).trimEnd());
    }
    return answer;
  }

  names(folder) {
    const start = `/data/${folder}/`;
    return Object.keys(this.data).filter((path) => path.startsWith(start) && path.endsWith('.json')).map((path) => path.slice(start.length, -5)).sort();
  }
}
