import { type Command, Option } from 'commander';
import { type Reply, sendPrompt } from '../client/gateway.ts';
import { type PromptDialect, promptDialects } from '../client/prompt.ts';
import { GatewayError } from '../errors.ts';
import { type CommonOptions, commonOptions, createCommand, positiveInteger } from './shell/command.ts';
import { readInput } from './shell/input.ts';
import { type Io, write } from './shell/io.ts';
import { deadline, printValue } from './shell/output.ts';
import { outputFormat } from './shell/output-format.ts';
import { gatewayTarget } from './shell/target.ts';

interface SendOptions extends CommonOptions {
  readonly model?: string;
  readonly system?: string;
  readonly maxTokens?: number;
  readonly dialect?: PromptDialect;
  /** False with --no-stream. */
  readonly stream: boolean;
  readonly usage?: true;
}

export function build(io: Io): Command {
  return createCommand({
    name: 'send',
    summary: 'send one prompt and print the answer',
    examples: [
      'gateway send "hello"',
      'git diff | gateway send "write a commit message"',
      'gateway send -m sandbox-think -o json "why?" < notes.txt',
    ],
  })
    .argument('[prompt]', 'the prompt; - reads it from standard input, which otherwise goes in front of it')
    .option('-m, --model <name>', "model (default: GATEWAY_MODEL, else the gateway's own choice)")
    .option('-s, --system <text>', 'system prompt')
    .option('--max-tokens <n>', 'most tokens of the answer', positiveInteger)
    .addOption(new Option('--dialect <name>', 'wire format to speak').choices(promptDialects))
    .option('--no-stream', 'ask for the answer in one piece')
    .option('--usage', 'say on stderr how many tokens it took')
    .action(async (argument: string | undefined, _options: unknown, command: Command) => {
      // Before the call: an answer that can't be printed would be paid for all the same.
      outputFormat(command, ['text', 'json', 'ndjson', 'yaml']);
      await send(argument, commonOptions(command) as SendOptions, io);
    });
}

async function send(argument: string | undefined, options: SendOptions, io: Io): Promise<void> {
  const text = await readInput(argument, io);
  if (text === '')
    throw new GatewayError(
      'usage.invalid',
      'there is no prompt: give one as an argument or on standard input',
    );
  const { defaultModel, ...address } = await gatewayTarget(options, io);
  const model = options.model ?? io.env.GATEWAY_MODEL ?? defaultModel;
  if (model === undefined)
    throw new GatewayError(
      'usage.invalid',
      'name a model with -m or GATEWAY_MODEL; "gateway models" lists them',
    );

  const isText = options.output === undefined || options.output === 'text';
  const printer = createPrinter(io);
  const prompt = {
    model,
    text,
    system: options.system,
    maxTokens: options.maxTokens,
    stream: options.stream,
    dialect: options.dialect ?? dialectFor(model),
    signal: deadline(io.signal, options.timeout),
  };
  const reply = await sendPrompt(address, prompt, isText ? printer.print : () => undefined).catch(
    (thrown) => {
      printer.flush();
      throw thrown;
    },
  );

  if (isText) await printer.end();
  else await printValue(reply, options.output, io);
  if (options.usage) await write(io.stderr, usageLine(reply));
}

interface Printer {
  print(piece: string): void;
  /** Writes what was held back of an answer that broke off. */
  flush(): void;
  /** Writes what was held back, with a line end where there is none. */
  end(): Promise<void>;
}

/**
 * A terminal sees every piece at once. Elsewhere whole lines are written, each in one piece: several commands
 * that write into one pipe don't mix their lines.
 */
function createPrinter({ stdout }: Io): Printer {
  let held = '';
  let isAtLineStart = false;
  const print = (text: string) => {
    if (text === '') return;
    isAtLineStart = text.endsWith('\n');
    stdout.write(text);
  };
  return {
    print: (piece) => {
      if (stdout.isTTY === true) return print(piece);
      held += piece;
      const end = held.lastIndexOf('\n') + 1;
      print(held.slice(0, end));
      held = held.slice(end);
    },
    flush: () => print(held),
    end: () => write(stdout, held === '' && isAtLineStart ? '' : `${held}\n`),
  };
}

/** The dialect that a model of this name speaks at home, so that its bytes need no translation. */
function dialectFor(model: string): PromptDialect {
  return model.startsWith('claude') ? 'messages' : 'chat';
}

function usageLine({ model, usage, latency_ms: latencyMs }: Reply): string {
  const tokens =
    usage === null ? 'no usage was reported' : `in ${usage.input_tokens} out ${usage.output_tokens}`;
  return `${tokens} · ${model} · ${latencyMs} ms\n`;
}
