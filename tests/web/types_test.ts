// Compiled, not run: the package's types as a program uses them.
import { HespasError, command, devices, estimate, run } from 'hespas';

export async function use(program: Uint8Array): Promise<number> {
  const result = await run(program, { device: 'H100_80GB', set: ['device.memory_bandwidth=2x'] });
  const whole = await run(program, { device: (await devices())[0], report: true });
  const page: Uint8Array = whole.files['report.html'];
  const rows = await estimate('...', { device: 'H100_80GB' });
  const answer = await command(['devices', '--format', 'json'], { heard: (line: string) => line.length });
  const failed = (error: unknown) => error instanceof HespasError && error.status === 1;
  return result.step_time_s + page.length + rows[0].time_s + answer.status + (failed(null) ? 1 : 0);
}
