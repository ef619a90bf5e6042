import { type ClientName, clientOf, type Settings } from './clients.ts';

interface Shown {
  readonly name: ClientName;
  readonly settings: Settings;
  /** Variables of this shell that would lead the client elsewhere. */
  readonly conflicts: readonly string[];
}

/** Lines for a POSIX shell that point the client at the gateway. Arguments come as a function of the agent's name. */
export function exportLines({ name, settings, conflicts }: Shown): string {
  const { variables, arguments: before = [] } = settings;
  return lines([
    ...conflicts.map((variable) => `unset ${variable}`),
    ...Object.entries(variables).map(([variable, value]) => `export ${variable}=${quoted(value)}`),
    ...(before.length === 0 ? [] : [`${name}() { command ${name} ${before.map(quoted).join(' ')} "$@"; }`]),
    `# eval "$(gateway env ${name})"; then try: ${clientOf(name).example}`,
  ]);
}

/** Lines that take back what `exportLines` set. */
export function unsetLines({ name, settings }: Omit<Shown, 'conflicts'>): string {
  return lines([
    ...Object.keys(settings.variables).map((variable) => `unset ${variable}`),
    ...(settings.arguments === undefined ? [] : [`unset -f ${name}`]),
  ]);
}

function lines(list: readonly string[]): string {
  return list.map((line) => `${line}\n`).join('');
}

/** One word of a POSIX shell, whatever is in it. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
