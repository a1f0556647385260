// Runs commands off the page's thread. The first message brings the parts of the engine; {id, args, files, output} is answered by
// {id, heard} for each line of stderr and by {id, answer}. To terminate the worker is to cancel.
import { Engine } from '../engine.mjs';

let engine;
self.onmessageerror = () => { throw new RangeError('out of memory'); }; // files that the worker cannot hold
self.onmessage = async ({ data: { parts, id, args, files, output } }) => {
  if (parts) {
    engine = new Engine(parts.module, parts.data);
    return;
  }
  const answer = await engine.command(args, { files, output, heard: (line) => self.postMessage({ id, heard: line }) });
  self.postMessage({ id, answer }, Object.values(answer.files).map((content) => content.buffer));
};
