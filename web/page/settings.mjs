// The settings of the form, and the fragment of the address that carries them. The program is not among them, an example's name is.
export const fields = ['device', 'system', 'compare', 'set', 'example'];

export function fragmentOf(settings) {
  const parameters = new URLSearchParams();
  for (const name of fields) if (settings[name]) parameters.set(name, settings[name]);
  return `#${parameters}`;
}

export function settingsOf(fragment) {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ''));
  return Object.fromEntries(fields.filter((name) => parameters.has(name)).map((name) => [name, parameters.get(name)]));
}

// Arguments that `run` and `compare` share.
function common({ system, set }) {
  const changes = (set ?? '').split('\n').map((line) => line.trim()).filter(Boolean);
  return [...(system ? ['--system', system] : []), ...changes.flatMap((change) => ['--set', change])];
}

export const runArguments = (program, settings) => ['run', program, '--device', settings.device, ...common(settings)];
export const compareArguments = (program, settings) => ['compare', program, '--device', `${settings.device},${settings.compare}`, ...common(settings)];
