import { type ClientName, clientOf, type Settings } from './clients.ts';

interface Shown {
  readonly name: ClientName;
  readonly settings: Settings;
  /** Variables of this shell that would point the client elsewhere. */
  readonly conflicts: readonly string[];
}

export const shellNames = ['sh', 'fish'] as const;
export type ShellName = (typeof shellNames)[number];

/** The syntax of a shell. */
interface Syntax {
  set(variable: string, word: string): string;
  unset(variable: string): string;
  /** Defines a function with the client's name that calls it with these words before its own arguments. */
  wrap(name: string, words: string): string;
  unwrap(name: string): string;
  quoted(text: string): string;
  /** How the lines are evaluated. */
  read(command: string): string;
}

const harmless = /^[\w@%+=:,./-]+$/;

const shells: Readonly<Record<ShellName, Syntax>> = {
  sh: {
    set: (variable, word) => `export ${variable}=${word}`,
    unset: (variable) => `unset ${variable}`,
    wrap: (name, words) => `${name}() { command ${name} ${words} "$@"; }`,
    unwrap: (name) => `unset -f ${name}`,
    quoted: (text) => (harmless.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`),
    read: (command) => `eval "$(${command})"`,
  },
  fish: {
    set: (variable, word) => `set -gx ${variable} ${word}`,
    unset: (variable) => `set -e ${variable}`,
    wrap: (name, words) => `function ${name}; command ${name} ${words} $argv; end`,
    unwrap: (name) => `functions -e ${name}`,
    quoted: (text) => (harmless.test(text) ? text : `'${text.replaceAll(/[\\']/g, '\\$&')}'`),
    read: (command) => `${command} | source`,
  },
};

/** Lines for a shell that point the client at the gateway. Needed arguments become a function with the agent's name. */
export function exportLines({ name, settings, conflicts }: Shown, shell: ShellName = 'sh'): string {
  const { variables, arguments: before = [] } = settings;
  const { set, unset, wrap, quoted, read } = shells[shell];
  const command = `gateway env ${name}${shell === 'sh' ? '' : ` --shell ${shell}`}`;
  return lines([
    ...conflicts.map(unset),
    ...Object.entries(variables).map(([variable, value]) => set(variable, quoted(value))),
    ...(before.length === 0 ? [] : [wrap(name, before.map(quoted).join(' '))]),
    `# ${read(command)}; then try: ${clientOf(name).example}`,
  ]);
}

/** Lines that undo what `exportLines` set. */
export function unsetLines({ name, settings }: Omit<Shown, 'conflicts'>, shell: ShellName = 'sh'): string {
  const { unset, unwrap } = shells[shell];
  return lines([
    ...Object.keys(settings.variables).map(unset),
    ...(settings.arguments === undefined ? [] : [unwrap(name)]),
  ]);
}

function lines(list: readonly string[]): string {
  return list.map((line) => `${line}\n`).join('');
}
