import { Command, CommanderError } from 'commander';
import { exitCodes, GatewayError } from '../errors.ts';
import { version } from '../version.ts';
import { agentNames } from './agents/clients.ts';
import { type CommandModule, exitCodeLines, withClosingHelp, withCommonOptions } from './shell/command.ts';
import { createOutputFilter } from './shell/filter/output-filter.ts';
import { type Io, write } from './shell/io.ts';
import { printable } from './shell/print/print.ts';
import { narrowHelp, wrapped } from './shell/print/wrapped.ts';
import { printError, QuietExit, wantsJson } from './shell/terminal.ts';

interface Entry {
  /** Its heading in the program's help. */
  readonly group: string;
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

// A command's file is loaded only when it runs: scripts pay for start-up with every call.
const commands: Readonly<Record<string, Entry>> = {
  ...group('Run:', {
    serve: { summary: 'start the gateway', load: () => import('./serve.ts') },
    status: {
      summary: "show this user's gateway",
      load: () => part(import('./serve/running.ts'), 'statusCommand'),
    },
    stop: {
      summary: "stop this user's gateway",
      load: () => part(import('./serve/running.ts'), 'stopCommand'),
    },
    run: { summary: 'start an agent that uses the gateway', load: () => import('./run.ts') },
    env: {
      summary: 'print the settings that point a client at the gateway',
      load: () => import('./env.ts'),
    },
  }),
  ...group('Ask:', {
    send: { summary: 'send one prompt and print the answer', load: () => import('./send.ts') },
    chat: { summary: 'chat with a model', load: () => import('./chat.ts') },
    embed: { summary: 'compute embeddings', load: () => import('./embed.ts') },
    models: {
      summary: 'list the models that the key may use, or show one',
      load: () => import('./models.ts'),
    },
  }),
  ...group('Inspect:', {
    open: { summary: 'open the live page', load: () => part(import('./serve/running.ts'), 'buildOpen') },
    logs: { summary: 'show exchanges and conversations', load: () => import('./logs.ts') },
    usage: { summary: 'sum up what was used, from the ledger', load: () => import('./usage.ts') },
    sessions: {
      summary: "list agents' sessions, with what each used",
      load: () => import('./sessions.ts'),
    },
    doctor: { summary: 'find what is wrong, and show what to do', load: () => import('./doctor.ts') },
  }),
  ...group('Configure:', {
    init: { summary: 'write gateway.yaml, with few questions', load: () => import('./init.ts') },
    config: { summary: 'check, show and find the configuration', load: () => import('./config.ts') },
    policy: { summary: 'try policies: test, explain, replay', load: () => import('./policy.ts') },
    key: {
      summary: 'create, rotate, list and revoke project keys, show the local one',
      load: () => import('./key.ts'),
    },
    trust: {
      summary: 'allow a configuration that was found what it wants from outside itself',
      load: () => import('./trust.ts'),
    },
    completion: { summary: 'print a shell completion script', load: () => import('./completion.ts') },
  }),
  ...group('Plants:', {
    plants: { summary: 'search, change, watch and run the plant store', load: () => import('./plants.ts') },
    login: { summary: 'plant store: log in', load: () => part(import('./plants/session.ts'), 'buildLogin') },
    logout: {
      summary: 'plant store: end the session',
      load: () => part(import('./plants/session.ts'), 'buildLogout'),
    },
    whoami: {
      summary: 'plant store: print who is logged in',
      load: () => part(import('./plants/session.ts'), 'buildWhoami'),
    },
  }),
};

/** One of several commands that are in one file. */
async function part<Name extends string>(
  module: Promise<Readonly<Record<NoInfer<Name>, CommandModule['build']>>>,
  name: Name,
): Promise<CommandModule> {
  return { build: (await module)[name] };
}

function group(
  title: string,
  entries: Readonly<Record<string, Omit<Entry, 'group'>>>,
): Readonly<Record<string, Entry>> {
  return Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => [name, { ...entry, group: title }]),
  );
}

// Options before the command's name that take the next word as their value.
const valued = new Set(['-c', '--config', '-o', '--output', '--timeout', '--jq', '--output-template']);

/** Runs one command line and returns its exit code. Never throws and never exits the process. */
export async function run(line: readonly string[], io: Io): Promise<number> {
  if (line[0] === '__complete') {
    const { complete } = await import('./completion/complete.ts');
    return complete(line.slice(1), (before) => buildProgram(before, io), io);
  }
  if (line.length === 1 && (line[0] === '-v' || line[0] === 'version')) return run(['--version'], io);
  if (line[0] === 'help' && line[1] === 'exit-codes') {
    await write(io.stdout, `${exitCodeLines(io.stdout.columns || 100)}\n`);
    return exitCodes.ok;
  }
  const argv = withoutAgentArguments(line);
  const filter = createOutputFilter(io);
  /** What commander reports of an invalid command line. */
  const complaints: string[] = [];
  try {
    const program = await buildProgram(argv, filter.io, (text) => complaints.push(text));
    program.hook('preAction', (_program, command) => filter.begin(command));
    // What a command printed before it failed is shown too: for a report, failure only means that it found something.
    await program.parseAsync([...line], { from: 'user' }).catch(async (error) => {
      await filter.finish().catch(() => undefined);
      throw error;
    });
    await filter.finish();
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof QuietExit) return error.code;
    if (error instanceof CommanderError) return usageExit(error, complaints.join(''), { argv, io });
    if (isClosedPipe(error)) return exitCodes.ok;
    return printError(causeOf(error, io.signal), argv, io);
  }
}

/** What fails after a signal does so because of the signal, except for the stop itself. */
function causeOf(error: unknown, { aborted, reason }: AbortSignal): unknown {
  const isOfStop = error instanceof GatewayError && error.code === 'drain.incomplete';
  return aborted && reason instanceof GatewayError && !isOfStop ? reason : error;
}

/** Prints commander's own text about an invalid command line, or with -o json the error as JSON. */
async function usageExit(
  error: CommanderError,
  text: string,
  { argv, io }: { readonly argv: readonly string[]; readonly io: Io },
): Promise<number> {
  if (error.exitCode === 0) return exitCodes.ok;
  if (!wantsJson(argv)) {
    // It quotes the command line, whose words may come from anywhere.
    const shown = io.stderr.isTTY === true ? printable(text, io.env) : text;
    await write(io.stderr, await wrapped(shown, io.stderr));
    return exitCodes.usage;
  }
  const isHelp = error.code === 'commander.help';
  const message = isHelp ? 'a command is missing; --help lists them' : withoutLabel(error.message);
  return printError(new GatewayError('usage.invalid', message), argv, io);
}

/** A message of commander's without what it begins with. */
function withoutLabel(message: string): string {
  return message.replace(/^error: (?:command-argument value )?/, '');
}

async function buildProgram(
  argv: readonly string[],
  io: Io,
  writeErr: (text: string) => void = (text) => io.stderr.write(text),
): Promise<Command> {
  const called = commandName(argv);
  // Only the called command is built; the others are only listed in the program's help and suggestions.
  const isAlone = called !== undefined && called === argv[0] && Object.hasOwn(commands, called);
  const program = createProgram();
  // Everything after an agent's name belongs to the agent.
  if (called === 'run') program.enablePositionalOptions();
  for (const [name, { summary, load, group }] of Object.entries(commands)) {
    if (name === called) program.addCommand((await load()).build(io));
    else if (!isAlone)
      program.addCommand(new Command(name).summary(summary).description(summary).helpGroup(group));
  }
  // If the program had an action of its own, it would take "help" as an argument.
  if (called === undefined && !argv.includes('help')) program.action(() => program.help());
  applyEverywhere(program, (command) => {
    command
      .exitOverride()
      .configureHelp(narrowHelp)
      .configureOutput({
        writeOut: (text) => io.stdout.write(text),
        writeErr,
        outputError: (text, out) => out(`gateway: ${withoutLabel(text)}`),
        getOutHelpWidth: () => io.stdout.columns || 100,
        getErrHelpWidth: () => io.stderr.columns || 100,
      })
      .showHelpAfterError(`(${fullName(command)} --help shows what it takes)`);
  });
  return program;
}

function createProgram(): Command {
  const program = withCommonOptions(new Command('gateway'))
    .description('A local-first gateway for language models.')
    .version(version, '--version', 'print the version');
  return withClosingHelp(program, [
    'gateway serve',
    'gateway send "hello"',
    'gateway plants search --tags green,leafy',
  ]);
}

/** The program with every command loaded: for the man page and for tests that cover all of them. */
export async function buildWholeProgram(io: Io): Promise<Command> {
  const program = createProgram().enablePositionalOptions();
  for (const { load } of Object.values(commands)) program.addCommand((await load()).build(io));
  return program;
}

/** The command line up to the agent's name: the agent's arguments must not decide how a failure is printed. */
function withoutAgentArguments(line: readonly string[]): readonly string[] {
  if (commandName(line) !== 'run') return line;
  const agent = line.findIndex((word) => (agentNames as readonly string[]).includes(word));
  return agent < 0 ? line : line.slice(0, agent + 1);
}

function commandName(argv: readonly string[]): string | undefined {
  for (let i = 0; i < argv.length; i += 1) {
    const word = argv[i] as string;
    if (valued.has(word)) i += 1;
    // "help send" shows the help of send.
    else if (!word.startsWith('-') && word !== 'help') return word;
  }
  return undefined;
}

/** The full command: "gateway plants add". */
function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

function applyEverywhere(command: Command, apply: (command: Command) => void): void {
  apply(command);
  for (const child of command.commands) applyEverywhere(child, apply);
}

function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'EPIPE';
}
