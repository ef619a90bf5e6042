import type { GatewayAddress } from '../../client/call.ts';
import type { Prompt, PromptDialect } from '../../client/conversation.ts';
import { type GatewayAnswer, sendPrompt } from '../../client/gateway.ts';
import { painter } from '../../lib/paint.ts';
import type { CommonOptions } from '../shell/command.ts';
import { hasColour, type Io, write } from '../shell/io.ts';
import { printable } from '../shell/print/print.ts';
import { wrapped } from '../shell/print/wrapped.ts';
import { startSpinner } from '../shell/spinner.ts';
import type { PromptOptions } from './prompt-options.ts';

// In the words of all dialects.
const cutReasons: ReadonlySet<string | null> = new Set([
  ...['length', 'max_tokens', 'max_output_tokens', 'model_context_window_exceeded', 'MAX_TOKENS'],
]);
const filterReasons: ReadonlySet<string | null> = new Set([
  ...['content_filter', 'refusal', 'SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'],
]);

/** Prints on stderr what the answer alone doesn't show. Formats for programs have it in their output. */
export async function printNotices(answered: GatewayAnswer, options: CommonOptions, io: Io): Promise<void> {
  if (options.quiet === true) return;
  const isForPrograms = options.output !== undefined && options.output !== 'text';
  if (isForPrograms) return;
  const notices = noticesOf(answered);
  // Loading chalk takes longer than printing most answers.
  if (notices.length === 0) return;
  const paint = painter(options.color && hasColour(io.stderr, io.env));
  for (const notice of notices) {
    const line = `${paint('yellow', 'gateway:')} ${printable(notice, io.env)}\n`;
    await write(io.stderr, await wrapped(line, io.stderr));
  }
}

function noticesOf({ reply, warnings }: GatewayAnswer): readonly string[] {
  const { finish_reason: reason, decision } = reply;
  return [
    ...(decision === 'mask' ? ['the policy masked something in the prompt; the answer has it again'] : []),
    ...(decision === 'redact' ? ['the policy redacted something in the prompt before it was sent'] : []),
    ...(warnings.length === 0 ? [] : [`the policy warns about this prompt: ${warnings.join(', ')}`]),
    ...(cutReasons.has(reason)
      ? [`the answer is truncated: it reached the limit of tokens (${reason})`]
      : []),
    ...(filterReasons.has(reason) ? [`the provider withheld the answer (${reason})`] : []),
  ];
}

export function usageLine({ reply: { model, usage, latency_ms: latencyMs } }: GatewayAnswer): string {
  const tokens =
    usage === null ? 'no usage was reported' : `in ${usage.input_tokens} out ${usage.output_tokens}`;
  return `${tokens} · ${model} · ${latencyMs} ms\n`;
}

interface Printing {
  readonly printer: AnswerPrinter;
  readonly options: CommonOptions;
  readonly io: Io;
}

/** Sends a prompt and prints its answer as it arrives; if it is cut off, prints what has arrived. */
export async function printAnswer(
  address: GatewayAddress,
  prompt: Prompt & { readonly dialect: PromptDialect; readonly signal: AbortSignal },
  { printer, options, io }: Printing,
): Promise<GatewayAnswer> {
  const stopSpinner = startSpinner(`waiting for ${prompt.model}`, options, io);
  try {
    return await sendPrompt(address, prompt, (piece) => {
      stopSpinner();
      printer.print(piece);
    });
  } catch (thrown) {
    stopSpinner();
    await printer.flush();
    throw thrown;
  } finally {
    stopSpinner();
  }
}

/** The printer for an answer: raw in a pipe; on a terminal as it arrives, or as Markdown with --render. */
export async function createPrinter({ render, color }: PromptOptions, io: Io): Promise<AnswerPrinter> {
  if (io.stdout.isTTY !== true) return pipePrinter(io);
  if (render !== true) return terminalPrinter(io);
  const { markdownPrinter } = await import('./markdown.ts');
  return markdownPrinter(io, color && hasColour(io.stdout, io.env));
}

/** Receives the pieces of an answer as they arrive. */
export interface AnswerPrinter {
  print(piece: string): void;
  /** Writes what was held back when an answer is cut off. */
  flush(): Promise<void>;
  /** Writes what was held back, with a line break if there is none. */
  end(): Promise<void>;
}

/** Writes every piece to a terminal at once, without anything that could control the terminal. */
function terminalPrinter({ stdout, env }: Pick<Io, 'stdout' | 'env'>): AnswerPrinter {
  let hasPrinted = false;
  let isAtLineStart = false;
  return {
    print: (piece) => {
      const shown = printable(piece, env);
      if (shown === '') return;
      hasPrinted = true;
      isAtLineStart = shown.endsWith('\n');
      stdout.write(shown);
    },
    // The error that follows starts on a new line.
    flush: async () => {
      if (!hasPrinted || isAtLineStart) return;
      isAtLineStart = true;
      await write(stdout, '\n');
    },
    end: () => write(stdout, isAtLineStart ? '' : '\n'),
  };
}

/**
 * The raw text, for a pipe. Each whole line is one write, so that the lines of several commands that write into one
 * pipe are not mixed.
 */
function pipePrinter({ stdout }: Pick<Io, 'stdout'>): AnswerPrinter {
  let held: string[] = [];
  let isAtLineStart = false;
  return {
    print: (piece) => {
      const end = piece.lastIndexOf('\n') + 1;
      if (end > 0) {
        isAtLineStart = true;
        stdout.write(held.join('') + piece.slice(0, end));
        held = [];
      }
      if (end < piece.length) held.push(piece.slice(end));
    },
    flush: () => write(stdout, held.join('')),
    end: () => write(stdout, held.length === 0 && isAtLineStart ? '' : `${held.join('')}\n`),
  };
}
