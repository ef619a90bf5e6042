import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Prompt, PromptDialect, PromptPart } from '../client/conversation.ts';
import { GatewayError } from '../errors.ts';
import type { OpenConversation } from './history/thread.ts';
import type { AnswerSchema } from './send/answer-schema.ts';
import {
  type AnswerPrinter,
  createPrinter,
  printAnswer,
  printNotices,
  usageLine,
} from './send/print-answer.ts';
import {
  askedOptions,
  chooseModel,
  dialectFor,
  historySetting,
  type PromptOptions,
  withPromptOptions,
} from './send/prompt-options.ts';
import type { FilledTemplate } from './send/template.ts';
import { commonOptions, createCommand, outputFormat } from './shell/command.ts';
import { readInput } from './shell/input.ts';
import { deadline, type Io } from './shell/io.ts';
import { note, printValue } from './shell/print/print.ts';
import { gatewayTarget } from './shell/running-configuration.ts';

interface SendOptions extends PromptOptions {
  readonly file?: readonly string[];
  readonly schema?: string;
  readonly template?: string;
  readonly var?: Readonly<Record<string, string>>;
  /** False with --no-stream. */
  readonly stream: boolean;
  /** False with --no-stdin. */
  readonly stdin: boolean;
  readonly dryRun?: true;
  readonly continue?: true;
  readonly in?: string;
}

export function build(io: Io): Command {
  const command = createCommand({
    name: 'send',
    summary: 'send one prompt and print the answer',
    examples: [
      'gateway send "hello"',
      'git diff | gateway send "write a commit message"',
      'gateway send -f photo.jpg "what is this?" -o json',
    ],
  }).argument('[prompt]', 'the prompt; - reads it from standard input, which is otherwise put before it');
  return withPromptOptions(command)
    .option(
      '-f, --file <file>',
      'attach text, an image, PDF or audio; may be repeated; - is standard input',
      collect,
    )
    .option('-t, --template <template>', 'fill a template, by its file or its name')
    .option('--var <name=value>', 'a variable of the template; may be repeated', collectVariable)
    .option('--schema <file>', 'JSON Schema that the answer must match; exit 1 if it does not')
    .addOption(new Option('--continue', 'continue the last conversation').conflicts('in'))
    .option('--in <name>', 'continue the conversation of this name, or begin it')
    .option('--no-stream', 'do not stream the answer')
    .option('--no-stdin', 'do not read standard input')
    .option('--dry-run', 'show what would be sent and what the policy decides; send nothing')
    .action(async (argument: string | undefined, _options: unknown, command: Command) => {
      // Before the call, because an answer that can't be printed would still be paid for.
      outputFormat(command, ['text', 'json', 'ndjson', 'yaml']);
      await send(argument, commonOptions(command) as SendOptions, io);
    });
}

type Question = Prompt & { readonly dialect: PromptDialect };

async function send(argument: string | undefined, options: SendOptions, io: Io): Promise<void> {
  const signal = deadline(io.signal, options.timeout);
  const input = await readQuestion(argument, options, { io, signal });
  const schema = options.schema === undefined ? undefined : await readSchema(options.schema, io);
  const thread = await findThread(options, io);
  try {
    await ask({ ...input, schema, thread }, options, { io, signal });
  } finally {
    thread?.close();
  }
}

async function ask(asked: Asked, options: SendOptions, { io, signal }: Surroundings): Promise<void> {
  const { parts, template, thread } = asked;
  const target = options.dryRun === true ? undefined : await gatewayTarget(options, io);
  if (parts.length === 0) {
    const message = 'there is no prompt: give one as an argument or on standard input';
    throw new GatewayError('usage.invalid', message);
  }
  const model = await chooseModel(options.model ?? template?.model ?? thread?.model, target, { options, io });
  const prompt = toPrompt(asked, model, options);
  if (target === undefined) {
    const { dryRun } = await import('./send/dry-run.ts');
    return dryRun(prompt, options, io);
  }

  const isText = options.output === undefined || options.output === 'text';
  const printer = isText ? await createPrinter(options, io) : silentPrinter;
  const answered = await printAnswer(target, { ...prompt, signal }, { printer, options, io });
  if (isText) await printer.end();
  else await printValue(answered.reply, '', options, io);
  await printNotices(answered, options, io);
  if (options.usage) await note(usageLine(answered), io);
  const question = prompt.turns.at(-1);
  const { text: answer, request_id: requestId } = answered.reply;
  if (question !== undefined) thread?.keep({ ...prompt, question, answer, requestId });
  asked.schema?.check(answered.reply.text);
}

/** The conversation to continue; none if the prompt stands alone and is not saved. */
async function findThread(options: SendOptions, io: Io): Promise<OpenConversation | undefined> {
  const isKept = historySetting(io.env) === 'all' && options.dryRun !== true;
  const isWanted = options.continue === true || options.in !== undefined || isKept;
  if (!isWanted) return undefined;
  const { openThread } = await import('./history/thread.ts');
  return openThread(options, io);
}

interface Input {
  readonly parts: readonly PromptPart[];
  readonly template?: FilledTemplate;
}

interface Surroundings {
  readonly io: Io;
  readonly signal: AbortSignal;
}

/** Files, standard input and the argument, in this order, or the template that they fill. */
async function readQuestion(
  argument: string | undefined,
  { file: files = [], template: name, var: variables = {}, stdin }: SendOptions,
  { io, signal }: Surroundings,
): Promise<Input> {
  const isAttached = files.includes('-');
  if (argument === '-' && (isAttached || !stdin)) {
    const option = stdin ? '-f -' : '--no-stdin';
    throw new GatewayError('usage.invalid', `- and ${option}: standard input can be used once only`);
  }
  if (isAttached && !stdin) throw new GatewayError('usage.invalid', '-f - and --no-stdin exclude each other');
  if (name === undefined && Object.keys(variables).length > 0) {
    throw new GatewayError('usage.invalid', '--var is for a template; name one with -t');
  }
  const isLeftAlone = isAttached || !stdin;
  const input = isLeftAlone ? (argument ?? '') : await readInput(argument, { stdin: io.stdin, signal });
  const attached = files.length === 0 ? [] : await attach(files, { io, signal });
  if (name === undefined) return { parts: joinTexts([...attached, { kind: 'text', text: input }]) };
  const { fillTemplate } = await import('./send/template.ts');
  const template = await fillTemplate(name, { input, variables }, io);
  return { parts: joinTexts([...attached, { kind: 'text', text: template.text }]), template };
}

async function attach(
  files: readonly string[],
  { io, signal }: Surroundings,
): Promise<readonly PromptPart[]> {
  const { readAttachments } = await import('./send/attachments.ts');
  const { cwd } = io;
  return readAttachments(files, {
    cwd,
    signal,
    get stdin() {
      return io.stdin;
    },
  });
}

/** Joins adjacent texts with a blank line; drops empty ones. */
function joinTexts(parts: readonly PromptPart[]): readonly PromptPart[] {
  const joined: PromptPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.kind === 'text' && part.text === '') continue;
    if (part.kind === 'text' && last?.kind === 'text') {
      joined[joined.length - 1] = { kind: 'text', text: `${last.text}\n\n${part.text}` };
    } else joined.push(part);
  }
  return joined;
}

async function readSchema(file: string, { cwd }: Io): Promise<AnswerSchema> {
  const { readAnswerSchema } = await import('./send/answer-schema.ts');
  return readAnswerSchema(file, cwd);
}

interface Asked extends Input {
  readonly schema: AnswerSchema | undefined;
  readonly thread: OpenConversation | undefined;
}

function toPrompt({ parts, template, schema, thread }: Asked, model: string, options: SendOptions): Question {
  return {
    ...askedOptions(options),
    model,
    turns: [...(thread?.turns ?? []), { role: 'user', parts }],
    system: options.system ?? template?.system ?? thread?.system,
    maxTokens: options.maxTokens ?? template?.maxTokens,
    temperature: options.temperature ?? template?.temperature,
    schema: schema?.schema,
    stream: options.stream,
    dialect: options.dialect ?? dialectFor(model),
  };
}

const silentPrinter: AnswerPrinter = {
  print: () => undefined,
  flush: async () => undefined,
  end: async () => undefined,
};

function collect(file: string, before: readonly string[] = []): readonly string[] {
  return [...before, file];
}

function collectVariable(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined || name === '__proto__') {
    throw new InvalidArgumentError('expected name=value, such as language=French');
  }
  return { ...before, [name]: value };
}
