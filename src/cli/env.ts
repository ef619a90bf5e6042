import { Argument, type Command, Option } from 'commander';
import { readHealth } from '../client/call.ts';
import { modelsFor, readModelLimits } from './agents/choose-model.ts';
import {
  type ClientName,
  type ClientSettings,
  clientOf,
  knownClients,
  pastProxies,
  writeFiles,
} from './agents/clients.ts';
import { usesLogin, wantedLogin } from './agents/logins.ts';
import { commonOptions, createCommand, outputFormat, programName } from './shell/command.ts';
import { deadline, type Io, write } from './shell/io.ts';
import { note } from './shell/print/print.ts';
import { gatewayTarget } from './shell/running-configuration.ts';

interface Shown {
  readonly name: ClientName;
  readonly settings: ClientSettings;
  /** Variables of this shell that would point the client elsewhere. */
  readonly conflicts: readonly string[];
  /** How this user calls the gateway's command. */
  readonly program?: string;
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
export function exportLines(
  { name, settings, conflicts, program = 'gateway' }: Shown,
  shell: ShellName = 'sh',
): string {
  const { variables, arguments: before = [] } = settings;
  const { set, unset, wrap, quoted, read } = shells[shell];
  const command = `${program} env ${name}${shell === 'sh' ? '' : ` --shell ${shell}`}`;
  return lines([
    ...conflicts.map(unset),
    ...Object.entries(variables).map(([variable, value]) => set(variable, quoted(value))),
    ...(before.length === 0 ? [] : [wrap(name, before.map(quoted).join(' '))]),
    `# ${read(command)}; then try: ${clientOf(name).example}`,
  ]);
}

/** Lines that undo what `exportLines` set. */
export function unsetLines(
  { name, settings }: Pick<Shown, 'name' | 'settings'>,
  shell: ShellName = 'sh',
): string {
  const { unset, unwrap } = shells[shell];
  return lines([
    ...Object.keys(settings.variables).map(unset),
    ...(settings.arguments === undefined ? [] : [unwrap(name)]),
  ]);
}

function lines(list: readonly string[]): string {
  return list.map((line) => `${line}\n`).join('');
}

interface EnvOptions {
  readonly unset?: true;
  readonly model?: string;
  readonly login?: boolean;
  readonly shell: ShellName;
}

const proofSeconds = 10;

export function build(io: Io): Command {
  return createCommand({
    name: 'env',
    summary: 'print the settings that point a client at the gateway, key included, as lines for a shell',
    examples: [
      'eval "$(gateway env claude)" && claude -p "hello"',
      'gateway env claude --shell fish | source',
      'gateway env openai -o json',
    ],
  })
    .addArgument(new Argument('<client>', 'the client that will use the gateway').choices(knownClients))
    .option('--unset', 'print lines that undo the settings')
    .addOption(new Option('--shell <name>', 'shell syntax of the lines').choices(shellNames).default('sh'))
    .option('--login', "use the agent's own login of a subscription")
    .addOption(new Option('-m, --model <name>', "model to ask for (default: the client's own)"))
    .action(
      async (
        name: ClientName,
        { unset, model, shell, login: isForced = false }: EnvOptions,
        command: Command,
      ) => {
        const options = commonOptions(command);
        const format = outputFormat(command, ['text', 'json']);
        if (unset === true) {
          const limits = { contextWindow: 0, maxOutputTokens: 0 };
          const target = { url: '', key: '', models: { main: '', thinking: '' }, limits };
          const own = clientOf(name).settings(target);
          const ownFiles = Object.fromEntries(Object.keys(own.files ?? {}).map((variable) => [variable, '']));
          const withLogin = hasOurHeader(io)
            ? clientOf(name).settings({ ...target, login: true }).variables
            : {};
          const settings = {
            ...own,
            variables: { ...own.variables, ...withLogin, ...own.defaults, ...ownFiles },
          };
          return write(io.stdout, unsetLines({ name, settings }, shell));
        }
        const target = await gatewayTarget(options, io);
        // The lines contain a key, which must not be sent to whoever listens on the port of a dead gateway.
        if (target.proof !== undefined)
          await readHealth(target, deadline(io.signal, options.timeout ?? proofSeconds));
        const asked = { main: model ?? (io.env.GATEWAY_MODEL || undefined) };
        const models = modelsFor(name, asked, { isOwn: false, named: target.agentModels });
        const requested = models.main;
        const { url, key } = target;
        const signal = deadline(io.signal, options.timeout ?? proofSeconds);
        // The lines are as good for a gateway that is started later.
        const limits =
          requested === undefined ? {} : await readModelLimits(target, requested, signal).catch(() => ({}));
        if (isForced) wantedLogin(name, { model: requested, isForced }, io);
        const login = await usesLogin(target, { name, model: requested, isForced, signal }).catch((error) => {
          if (isForced) throw error;
          return false;
        });
        const headers = io.env.ANTHROPIC_CUSTOM_HEADERS;
        const made = clientOf(name).settings({ url, key, models, limits, login, headers });
        const own = writeFiles(name, made, io);
        const variables = { ...own.variables, ...own.defaults, ...pastProxies(url, io.env) };
        const settings = { ...own, variables };
        const { conflicts: elsewhere, loginConflicts = [] } = clientOf(name);
        const conflicts = [...elsewhere, ...(login ? loginConflicts : [])].filter(
          (variable) => io.env[variable] !== undefined,
        );
        if (io.stdout.isTTY === true && options.quiet !== true) {
          await note('these lines contain a key: they are for eval, not for a file or a chat\n', io);
        }
        const value = {
          variables: settings.variables,
          unset: conflicts,
          arguments: settings.arguments ?? [],
        };
        const text =
          format === 'json'
            ? `${JSON.stringify(value)}\n`
            : exportLines({ name, settings, conflicts, program: programName(io.env) }, shell);
        await write(io.stdout, text);
      },
    );
}

/** Whether this shell has the headers that the lines for a login set. */
function hasOurHeader({ env }: Io): boolean {
  return /^\s*x-gateway-key\s*:/im.test(env.ANTHROPIC_CUSTOM_HEADERS ?? '');
}
