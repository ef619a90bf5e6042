import { type Argument, Command, type Option } from 'commander';
import { withCommonOptions } from '../src/cli/shell/command.ts';
import { version } from '../src/version.ts';

/** Changed with the version; today's would make the page differ where nothing has changed. */
const versionDate = '2026-11-22';

const commonNames = new Set(withCommonOptions(new Command()).options.map((option) => option.attributeName()));

/** man/gateway.1, made from the commands themselves. `npx vitest run test/cli/man-page.test.ts -u` writes it. */
export function renderManPage(program: Command): string {
  const common = program.options.filter((option) => commonNames.has(option.attributeName()));
  return [
    '.\\" Made from the commands: npx vitest run test/cli/man-page.test.ts -u',
    `.TH GATEWAY 1 "${versionDate}" "gateway ${version}" "User Commands"`,
    '.SH NAME',
    'gateway \\- a local-first gateway for language models',
    '.SH SYNOPSIS',
    `.B gateway\n.RI [ options ]\n.I command\n.RI [ arguments ]`,
    '.SH DESCRIPTION',
    text(
      'Applications call it with a project key in the dialect of their SDK. Policies in gateway.yaml decide before anything reaches a provider; then the bytes of the request go out and the answer streams back. Without a gateway.yaml it answers from a built-in sandbox, offline.',
    ),
    '.PP',
    text(
      'Standard output has the answer and nothing else. On a terminal lists are tables, in a pipe rows with tabs between the cells.',
    ),
    '.SH OPTIONS OF EVERY COMMAND',
    ...common.map(entry),
    '.SH COMMANDS',
    ...program.commands.flatMap((command) => section(command, 'gateway')),
    '.SH EXIT STATUS',
    ...exitStatus.map(([code, meaning]) => `.TP\n.B ${code}\n${text(meaning)}`),
    '.SH ENVIRONMENT',
    ...environment.map(([names, meaning]) => `.TP\n.B ${text(names)}\n${text(meaning)}`),
    '.SH FILES',
    ...files.map(([path, meaning]) => `.TP\n.I ${text(path)}\n${text(meaning)}`),
    '.SH SEE ALSO',
    text(
      'docs/ of the package: troubleshooting.md, providers.md, configuration.md, policy.md, agents.md, operations.md',
    ),
    '',
  ].join('\n');
}

const exitStatus: readonly (readonly [string, string])[] = [
  ['0', 'fine; an empty search too'],
  ['1', 'failure'],
  ['2', 'usage or invalid configuration'],
  ['3', 'blocked by policy'],
  ['4', 'login or key needed'],
  ['5', 'not found'],
  ['6', 'rate or budget limit'],
  ['7', 'provider error or time-out'],
  ['8', 'gateway or store unreachable'],
  ['130, 143', 'interrupted, terminated'],
];

const environment: readonly (readonly [string, string])[] = [
  ['GATEWAY_CONFIG', 'the configuration file'],
  ['GATEWAY_URL, GATEWAY_KEY', 'the gateway to call, and a project key for it'],
  ['GATEWAY_MODEL', 'the model to ask where none is named'],
  [
    'GATEWAY_HISTORY',
    'what of send is saved: off (nothing), asked (with --in or --continue; the default) or all',
  ],
  ['PLANTS_URL, PLANTS_TOKEN', 'the plant store, and a session there'],
  ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'the way to providers, unless their settings say otherwise'],
  ['NO_COLOR, FORCE_COLOR', 'no colours, or colours in a pipe too'],
  ['XDG_CONFIG_HOME, XDG_STATE_HOME', 'where the directories below are'],
];

const files: readonly (readonly [string, string])[] = [
  ['gateway.yaml', 'in the working directory or above it, up to the root of the project'],
  ['~/.config/gateway/gateway.yaml', 'where no project has one'],
  [
    '~/.local/state/gateway/',
    'the running gateway, sessions, records and the ledger; nobody else can read it',
  ],
];

/** A command with its options, examples and everything below it. */
function section(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`;
  const words = command.registeredArguments.map(usage).join(' ');
  const own = command.createHelp().visibleOptions(command);
  const options = own.filter(
    (option) => !commonNames.has(option.attributeName()) && option.attributeName() !== 'help',
  );
  const children = command.commands.flatMap((child) => section(child, name));
  if (children.length > 0) return children;
  return [
    `.SS ${text(`${name}${words === '' ? '' : ` ${words}`}`)}`,
    text(sentence(command.description())),
    ...command.registeredArguments.filter(({ description }) => description !== '').map(entry),
    ...options.map(entry),
    '.PP',
    '.nf',
    ...examplesOf(command).map((line) => text(line)),
    '.fi',
  ];
}

function usage(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function entry(item: Option | Argument): string {
  const choices = item.argChoices === undefined ? '' : ` (${item.argChoices.join(', ')})`;
  const value = item.defaultValueDescription ?? item.defaultValue;
  const ifAbsent = value === undefined ? '' : ` (default: ${value})`;
  const title = 'flags' in item ? item.flags : usage(item);
  return `.TP\n.B ${text(title)}\n${text(`${item.description}${choices}${ifAbsent}`)}`;
}

/** As its help shows them, which is where they are. */
function examplesOf(command: Command): string[] {
  let help = '';
  command.configureOutput({
    writeOut: (chunk) => {
      help += chunk;
    },
  });
  command.outputHelp();
  const [, closing = ''] = help.split('\nExamples:\n');
  return (closing.split('\n\n')[0] ?? '').split('\n').map((line) => line.trim());
}

function sentence(phrase: string): string {
  return `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)}.`;
}

/** A line of text as roff reads it: nothing in it is a request or an escape. */
function text(line: string): string {
  const escaped = line
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll('·', '|')
    .replace(/^['.]/, '\\&$&');
  return escaped.replace(
    /[^\u0020-\u007e]/gu,
    (character) => `\\[u${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}
