// Compression and digests for the program (web/host.cc). Each takes bytes and answers with a list of parts.
import { sha1 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { Decompress } from 'fzstd';
import pako from 'pako';

const kMostBytes = 2 ** 31; // of the 4 GB that the engine has at most

// Takes parts until they are too many: a small file may unpack to more than any memory holds.
class Parts {
  constructor() {
    this.list = [];
    this.size = 0;
  }

  add(part) {
    this.size += part.length;
    if (this.size > kMostBytes) throw new RangeError('out of memory');
    this.list.push(part);
  }
}

// pako 2.1.0 takes the window of one member for that of the next, which then seems damaged.
function forgetBetweenMembers({ strm: { state } }) {
  let size = state.wsize;
  Object.defineProperty(state, 'wsize', { get: () => size, set: (now) => { size = now; if (now === 0) state.window = null; } });
}

function gunzip(input) {
  const parts = new Parts();
  const stream = new pako.Inflate({ chunkSize: 1 << 20 });
  forgetBetweenMembers(stream);
  stream.onData = (part) => parts.add(part);
  stream.push(input, true);
  if (!stream.ended || stream.err) throw new Error('damaged');
  return parts.list;
}

function unzstd(input) {
  const parts = new Parts();
  new Decompress((part) => parts.add(part)).push(input, true);
  return parts.list;
}

const base64 = (input) => new TextEncoder().encode(btoa(String.fromCharCode(...input)));

export const codecs = {
  gzip: gunzip,
  zstd: unzstd,
  sha256: (input) => [sha256(input)],
  sha1: (input) => [sha1(input)],
  base64: (input) => [base64(input)],
};
