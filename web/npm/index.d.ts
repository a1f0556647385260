/** Text or bytes of a program: StableHLO (text or bytecode) or HLO text, also compressed by gzip or zstd. */
export type Program = string | Uint8Array;

/** Options of the command in camel case; `true` is a flag, a list repeats the option. */
export interface Options {
  device?: string;
  system?: string;
  retarget?: number;
  numNpus?: number;
  estimator?: string;
  optimise?: string;
  set?: string | string[];
  /** Name of the program in messages; default `program.mlir`. */
  path?: string;
  /** More files, by absolute path. */
  files?: Record<string, Program>;
  [option: string]: unknown;
}

/** The object of `result.json`; docs/formats.md lists all keys. Times are in seconds, sizes in bytes. */
export interface Result {
  schema_version: number;
  program: { path: string; sha256: string; ops: number };
  device: string;
  system: string | null;
  npus: number;
  step_time_s: number;
  step_time_ps: number;
  step_time_sigma_s: number;
  compute_time_s: number;
  communication_time_s: number;
  exposed_communication_s: number;
  flops: number;
  bytes_accessed: number;
  peak_memory_bytes: number;
  fits_in_memory: boolean;
  model_flops_utilisation: number | null;
  [key: string]: unknown;
}

/** Time of one kind of operation. */
export interface OperationTime {
  op: string;
  count: number;
  time_s: number;
  flops: number;
  bytes: number;
}

/** What a command left: exit status, both streams, files below `output`. */
export interface Answer {
  status: number;
  stdout: string;
  stderr: string;
  files: Record<string, Uint8Array>;
}

export class HespasError extends Error {
  /** Exit status of the command. */
  status: number;
  /** `E0101`, where the message has one. */
  code?: string;
}

/** `hespas run`: with `report`, also the files that `--output` writes. */
export function run(program: Program, options?: Options & { report?: false }): Promise<Result>;
export function run(program: Program, options: Options & { report: true }): Promise<Result & { files: Record<string, Uint8Array> }>;
/** `hespas estimate`: one program with one estimator. */
export function estimate(program: Program, options?: Options): Promise<OperationTime[]>;
/** Names of the device presets. */
export function devices(): Promise<string[]>;
/** Names of the system presets. */
export function systems(): Promise<string[]>;
/** Any command of `hespas` on files in memory. */
export function command(
  args: string[],
  options?: { files?: Record<string, Program>; output?: string; heard?: (line: string) => void },
): Promise<Answer>;
