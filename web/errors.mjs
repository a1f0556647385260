// Errors outside the program, which prints its own: where the module is made, and where files go in and out.
const kOutOfMemory = 'error[E0902]: out of memory\nhelp: the engine has 4 GB here at most; the command takes what the machine has';

// What engines say where an allocation fails. Other RangeErrors (endless recursion, a wrong offset) and errors of the compiled program ("memory access
// out of bounds") are defects.
const OF_RANGE = /allocation failed|memory size|array length|array buffer length|string length|string longer/i;
const OF_ANY = /out of memory|cannot enlarge memory|allocation size overflow/i;
export const isOutOfMemory = (error) => (error instanceof RangeError && OF_RANGE.test(error.message)) || OF_ANY.test(error?.message ?? '');

export const textOf = (error) => (isOutOfMemory(error) ? kOutOfMemory : `error[E0903]: internal error: ${error?.message ?? error}`);
