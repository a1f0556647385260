// Errors outside the program, which prints its own: where the module is made, and where files go in and out.
const kOutOfMemory = 'error[E0902]: out of memory\nhelp: the engine has 4 GB here at most; the command takes what the machine has';

// A RangeError is also what endless recursion is.
export const isOutOfMemory = (error) => (error instanceof RangeError && !/call stack/.test(error.message)) || /memory/i.test(error?.message ?? '');

export const textOf = (error) => (isOutOfMemory(error) ? kOutOfMemory : `error[E0903]: internal error: ${error?.message ?? error}`);
