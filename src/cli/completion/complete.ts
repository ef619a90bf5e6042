import { type Argument, type Command, Help, type Option } from 'commander';
import { exitCodes } from '../../errors.ts';
import { type Io, write } from '../shell/io.ts';
import { type Completion, type CompletionWord, completeValue, noWords } from './candidates.ts';

/** Prints the completions of the last word. Never fails: a shell would print an error into the line being typed. */
export async function complete(
  words: readonly string[],
  buildProgram: (before: readonly string[]) => Promise<Command>,
  io: Io,
): Promise<number> {
  try {
    const before = words.slice(0, -1);
    const answer = await completionOf(await buildProgram(before), before, words.at(-1) ?? '', io);
    await write(io.stdout, [answer.kind, ...answer.words.map(toLine)].map((line) => `${line}\n`).join(''));
  } catch {
    // The command line is not a valid one, or the shell is gone.
  }
  return exitCodes.ok;
}

function toLine({ value, description = '' }: CompletionWord): string {
  return `${value}\t${description}`;
}

/** What the words before the last one mean: the command, and what the next word is for. */
interface Position {
  readonly command: Command;
  /** How many arguments of the command have been given. */
  readonly given: number;
  /** The option whose value comes next. */
  readonly option?: Option | undefined;
  readonly isAfterDashes: boolean;
  readonly used: ReadonlySet<Option>;
}

async function completionOf(
  program: Command,
  before: readonly string[],
  current: string,
  io: Io,
): Promise<Completion> {
  const { command, given, option, isAfterDashes, used } = follow(program, before);
  const context = { options: program.opts(), io, words: before };
  if (option !== undefined) return completeValue(option, context);
  if (!isAfterDashes && current.startsWith('-')) {
    const [, flag, value] = /^(--[^=]+)=(.*)$/.exec(current) ?? [];
    const named = command.options.find(({ long }) => long === flag);
    if (value === undefined) return { kind: 'words', words: optionsOf(command, used) };
    if (named === undefined) return noWords;
    const { kind, words } = await completeValue(named, context);
    return { kind, words: words.map((word) => ({ ...word, value: `${flag}=${word.value}` })) };
  }
  const argument = argumentAt(command, given);
  const values = argument === undefined ? noWords : await completeValue(argument, context);
  return given > 0 ? values : { ...values, words: [...subcommandsOf(command), ...values.words] };
}

function follow(program: Command, words: readonly string[]): Position {
  let command = program;
  let given = 0;
  let option: Option | undefined;
  let isAfterDashes = false;
  const used = new Set<Option>();
  for (const word of words) {
    if (option !== undefined) {
      option = undefined;
    } else if (word === 'help' && given === 0) {
      // "help send" completes like "send"
    } else if (isAfterDashes || isArgument(word)) {
      const child: Command | undefined =
        given === 0 && !isAfterDashes ? command.commands.find((one) => one.name() === word) : undefined;
      command = child ?? command;
      given = child === undefined ? given + 1 : 0;
      // What follows an agent's name is the agent's.
      isAfterDashes ||= child === undefined && argumentAt(command, 1)?.name() === 'arguments';
    } else if (word === '--') {
      isAfterDashes = true;
    } else {
      const named = command.options.find(({ short, long }) => word === short || word === long);
      if (named !== undefined) used.add(named);
      option = named?.required === true || named?.optional === true ? named : undefined;
    }
  }
  return { command, given, option, isAfterDashes, used };
}

function isArgument(word: string): boolean {
  return !word.startsWith('-') || word === '-';
}

function argumentAt({ registeredArguments }: Command, index: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[index] ?? (last?.variadic === true ? last : undefined);
}

function optionsOf(command: Command, used: ReadonlySet<Option>): CompletionWord[] {
  // Not the command's own help, which leaves out the options of every command.
  return new Help()
    .visibleOptions(command)
    .filter((option) => option.variadic || !used.has(option))
    .map(({ long, short, description }) => ({ value: long ?? short ?? '', description }));
}

function subcommandsOf(command: Command): CompletionWord[] {
  const visible = command.createHelp().visibleCommands(command);
  return visible.map((child) => ({
    value: child.name(),
    description: child.summary() || child.description(),
  }));
}
