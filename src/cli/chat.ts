import { type Command, Option } from 'commander';
import { GatewayError } from '../errors.ts';
import { exitCommand, runChatCommand } from './chat/chat-commands.ts';
import { type Ask, ChatSession } from './chat/chat-session.ts';
import { type LineReader, openLineReader } from './chat/line-reader.ts';
import { type OpenConversation, openThread } from './history/thread.ts';
import { createPrinter, printAnswer, printNotices, usageLine } from './send/print-answer.ts';
import {
  askedOptions,
  chooseModel,
  dialectFor,
  historySetting,
  type PromptOptions,
  withPromptOptions,
} from './send/prompt-options.ts';
import { commonOptions, createCommand, outputFormat } from './shell/command.ts';
import { deadline, type Io } from './shell/io.ts';
import { note } from './shell/print/print.ts';
import { gatewayTarget } from './shell/running-configuration.ts';
import { printError } from './shell/terminal.ts';

interface ChatOptions extends PromptOptions {
  readonly continue?: true;
  readonly in?: string;
  /** False with --no-history. */
  readonly history: boolean;
}

export function build(io: Io): Command {
  const command = createCommand({
    name: 'chat',
    summary: 'chat with a model',
    examples: [
      'gateway chat',
      'gateway chat --in holidays -m sandbox-think',
      'gateway chat --continue --render',
    ],
  });
  return withPromptOptions(command)
    .addOption(new Option('--continue', 'continue the last conversation').conflicts('in'))
    .option('--in <name>', 'continue the conversation of this name, or begin it')
    .option('--no-history', 'do not save the conversation')
    .action(async (_options: unknown, command: Command) => {
      outputFormat(command, ['text']);
      await chat(commonOptions(command) as ChatOptions, io);
    });
}

async function chat(options: ChatOptions, io: Io): Promise<void> {
  const target = await gatewayTarget(options, io);
  const { thread, problem } = await findThread(options, io);
  const model = await chooseModel(options.model ?? thread?.model, target, { options, io });
  const session = new ChatSession({
    address: target,
    model,
    system: options.system ?? thread?.system,
    fixed: askedOptions(options),
    dialectOf: (name) => options.dialect ?? dialectFor(name),
    thread,
  });
  const reader = openLineReader(io, thread?.questions() ?? []);
  try {
    await welcome(session, problem, options, io);
    await converse(session, reader, { options, io });
  } finally {
    reader.close();
    session.close();
  }
}

interface Surroundings {
  readonly options: ChatOptions;
  readonly io: Io;
}

async function converse(
  session: ChatSession,
  reader: LineReader,
  { options, io }: Surroundings,
): Promise<void> {
  const ask = createAsk(reader, { options, io });
  for (;;) {
    const text = (await reader.next())?.trim();
    if (text === undefined || text === exitCommand) return;
    if (text === '') continue;
    try {
      if (text.startsWith('/') && !text.startsWith('//')) await runChatCommand(text, { session, ask, io });
      else await session.ask(text.replace(/^\/\//, '/'), ask);
    } catch (error) {
      // A person can continue; a script gets the exit code.
      if (io.signal.aborted || io.stdin.isTTY !== true || !(error instanceof GatewayError)) throw error;
      await printError(error, options.color ? [] : ['--no-color'], io);
    }
  }
}

/** Shows the answer as it comes; Ctrl-C stops only the answer. */
function createAsk(reader: LineReader, { options, io }: Surroundings): Ask {
  return async (address, prompt) => {
    const stop = new AbortController();
    const signal = AbortSignal.any([deadline(io.signal, options.timeout), stop.signal]);
    const pieces: string[] = [];
    const printer = await createPrinter(options, io);
    const collecting = {
      ...printer,
      print: (piece: string) => {
        pieces.push(piece);
        printer.print(piece);
      },
    };
    reader.occupy(() => stop.abort());
    try {
      const answered = await printAnswer(
        address,
        { ...prompt, signal },
        { printer: collecting, options, io },
      );
      await printer.end();
      await printNotices(answered, options, io);
      if (options.usage) await note(usageLine(answered), io);
      return { answered };
    } catch (error) {
      if (!stop.signal.aborted || io.signal.aborted) throw error;
      await printer.end();
      await note('stopped\n', io);
      return { stopped: pieces.join('') };
    } finally {
      reader.release();
    }
  };
}

interface Found {
  readonly thread: OpenConversation | undefined;
  /** Why the conversation can't be saved, although it should be. */
  readonly problem?: string;
}

/** An unusable history does not prevent a chat, unless a conversation from it was requested. */
async function findThread(options: ChatOptions, io: Io): Promise<Found> {
  const isAsked = options.continue === true || options.in !== undefined;
  const isKept = options.history && historySetting(io.env) !== 'off';
  if (isAsked && !options.history) {
    throw new GatewayError('usage.invalid', '--no-history leaves nothing to continue');
  }
  if (!isAsked && !isKept) return { thread: undefined };
  try {
    return { thread: await openThread(options, io) };
  } catch (error) {
    if (isAsked || !(error instanceof GatewayError)) throw error;
    return { thread: undefined, problem: error.message };
  }
}

async function welcome(
  session: ChatSession,
  problem: string | undefined,
  { quiet }: ChatOptions,
  io: Io,
): Promise<void> {
  if (problem !== undefined) await note(`gateway: this conversation is not saved: ${problem}\n`, io);
  if (quiet === true || io.stdin.isTTY !== true || io.stderr.isTTY !== true) return;
  const length = session.length === 0 ? '' : `, ${session.length} turns so far`;
  const kept = session.isKept ? 'saved for this user' : 'not saved';
  await note(`model ${session.model}${length} · ${kept} · /help lists the commands, /exit ends\n`, io);
}
