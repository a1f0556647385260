// The engine for any JavaScript: commands of `hespas` on files in memory. One instance of the module runs one command, so that nothing
// of it is left for the next.
import createHespas from 'hespas-module'; // what Emscripten made; scripts/build_web.sh says where

import { codecs } from './codecs.mjs';
import { isOutOfMemory, textOf } from './errors.mjs';

function makeFolders(fs, path) {
  for (let at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1)) {
    const folder = path.slice(0, at);
    if (!fs.analyzePath(folder).exists) fs.mkdir(folder);
  }
}

function write(fs, files) {
  for (const [path, content] of Object.entries(files)) {
    makeFolders(fs, path);
    fs.writeFile(path, content, { canOwn: true });
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

export class Engine {
  // `module`: of hespas.wasm, compiled; `data`: texts of the data folder by path (data.json).
  constructor(module, data) {
    this.module = module;
    this.data = Object.fromEntries(Object.entries(data).map(([path, text]) => [`/data/${path}`, text]));
  }

  instance(streams) {
    return new Promise((resolve, reject) => {
      createHespas({
        ...streams,
        codecs,
        isOutOfMemory,
        preRun: [(it) => { it.ENV.HESPAS_DATA_DIR = '/data'; it.ENV.HOME = '/'; it.ENV.NO_COLOR = '1'; }],
        instantiateWasm: (imports, done) => {
          WebAssembly.instantiate(this.module, imports).then((made) => done(made, this.module)).catch(reject);
          return {};
        },
      }).then(resolve, reject);
    });
  }

  // Runs `hespas ARGS` where the files named by `files` are; answers with what it wrote, files below `output` included. `heard` is told
  // each line of stderr as it comes.
  async command(args, { files = {}, output, heard = () => {} } = {}) {
    const answer = { status: 0, stdout: '', stderr: '', files: {} };
    const hear = (line) => { answer.stderr += `${line}\n`; heard(line); };
    try {
      const instance = await this.instance({
        print: (line) => { answer.stdout += `${line}\n`; },
        printErr: hear,
        quit: (status, unwind) => { answer.status = status; throw unwind; },
      });
      write(instance.FS, this.data);
      write(instance.FS, files);
      instance.FS.chdir('/');
      instance.callMain(args);
      if (output) answer.files = read(instance.FS, output);
    } catch (error) {
      answer.status = isOutOfMemory(error) ? 4 : 70;
      hear(textOf(error));
    }
    return answer;
  }

  names(folder) {
    const start = `/data/${folder}/`;
    return Object.keys(this.data).filter((path) => path.startsWith(start) && path.endsWith('.json')).map((path) => path.slice(start.length, -5)).sort();
  }
}
