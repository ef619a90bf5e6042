import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { GatewayError } from '../../errors.ts';
import { describeParts, openThread } from '../history/thread.ts';
import { readAttachments } from '../send/attachments.ts';
import type { Io } from '../shell/io.ts';
import { note } from '../shell/print/print.ts';
import type { Ask, ChatSession } from './chat-session.ts';

interface Surroundings {
  readonly session: ChatSession;
  readonly ask: Ask;
  readonly io: Io;
}

interface ChatCommand {
  readonly usage: string;
  readonly summary: string;
  /** Returns the message to show; `exit` ends the conversation. */
  run(argument: string, surroundings: Surroundings): Promise<string | undefined>;
}

export const exitCommand = '/exit';

/** The commands, typed in place of a question. */
const commands: Readonly<Record<string, ChatCommand>> = {
  '/model': {
    usage: '/model [NAME]',
    summary: 'show the model, or switch to another one',
    run: async (name, { session }) => {
      if (name !== '') session.model = name;
      return `model ${session.model}`;
    },
  },
  '/system': {
    usage: '/system [TEXT|-]',
    summary: 'show, change or remove the system prompt',
    run: async (text, { session }) => {
      if (text !== '') session.system = text === '-' ? undefined : text;
      return session.system === undefined ? 'no system prompt' : `system prompt: ${session.system}`;
    },
  },
  '/file': {
    usage: '/file PATH',
    summary: 'attach text, an image, PDF or audio to the next question',
    run: async (path, { session, io }) => {
      if (path === '' || path === '-')
        throw new GatewayError('usage.invalid', '/file needs the path of a file');
      session.attach(await readAttachments([path], io));
      return `${path} will be sent with the next question`;
    },
  },
  '/save': {
    usage: '/save NAME|FILE.md',
    summary: 'name this conversation, or write it to a file',
    run: async (name, { session, io }) => {
      if (isTranscriptFile(name)) return `written to ${await writeTranscript(name, session, io)}`;
      session.save(name);
      return `this conversation is ${name}`;
    },
  },
  '/load': {
    usage: '/load NAME',
    summary: 'switch to another conversation',
    run: async (name, { session, io }) => {
      session.switchTo(await openThread({ in: name, mustExist: true }, io));
      return `${name}: ${session.length} turns, model ${session.model}`;
    },
  },
  '/usage': {
    usage: '/usage',
    summary: 'tokens used in this session',
    run: async (_, { session: { usage } }) =>
      `${usage.questions} ${usage.questions === 1 ? 'question' : 'questions'}, in ${usage.inputTokens} out ${usage.outputTokens} tokens`,
  },
  '/retry': {
    usage: '/retry',
    summary: 'ask the last question again',
    run: async (_, { session, ask }) => {
      await session.retry(ask);
      return undefined;
    },
  },
  '/help': {
    usage: '/help',
    summary: 'this list',
    run: async () => helpText(),
  },
  [exitCommand]: {
    usage: exitCommand,
    summary: 'end the conversation, as Ctrl-D does',
    run: async () => undefined,
  },
};

/** Runs a line that begins with a slash. Throws usage.invalid if it is not a command. */
export async function runChatCommand(line: string, surroundings: Surroundings): Promise<void> {
  const [name = '', ...rest] = line.split(/\s+/);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    throw new GatewayError(
      'usage.invalid',
      `there is no command ${name}; /help lists them, // begins a question with a slash`,
    );
  }
  const argument = line.slice(name.length).trim();
  if (argument !== '' && !command.usage.includes(' ')) {
    throw new GatewayError(
      'usage.invalid',
      `${name} stands alone${rest.length > 0 ? `, without ${argument}` : ''}`,
    );
  }
  const message = await command.run(argument, surroundings);
  if (message !== undefined) await note(`${message}\n`, surroundings.io);
}

function helpText(): string {
  const width = Math.max(...Object.values(commands).map(({ usage }) => usage.length));
  const lines = Object.values(commands).map(({ usage, summary }) => `${usage.padEnd(width)}  ${summary}`);
  return [
    ...lines,
    '',
    '""" begins and ends a question of several lines; \\ at the end of a line goes on.',
  ].join('\n');
}

/** Whether /save got a file in place of a name: a path, or a name that ends in .md or .txt. */
function isTranscriptFile(name: string): boolean {
  return /\/|\\|\.(?:md|txt)$/i.test(name);
}

/** Writes a conversation as Markdown to a new file that only its owner can read; returns its path. Throws usage.invalid. */
async function writeTranscript(
  name: string,
  { model, system, turns }: Pick<ChatSession, 'model' | 'system' | 'turns'>,
  { cwd }: Pick<Io, 'cwd'>,
): Promise<string> {
  if (turns.length === 0) throw new GatewayError('usage.invalid', 'there is nothing to write yet');
  const sections = [
    ...(system === undefined ? [] : [`## system\n\n${system}`]),
    ...turns.map(({ role, parts }) => `## ${role}\n\n${describeParts(parts)}`),
  ];
  const path = resolve(cwd, name);
  try {
    await writeFile(path, `# ${model}\n\n${sections.join('\n\n')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    const problem = code === 'EEXIST' ? 'exists, and is not overwritten' : `can't be written (${code})`;
    throw new GatewayError('usage.invalid', `${path} ${problem}: choose another name`, { cause });
  }
  return path;
}
