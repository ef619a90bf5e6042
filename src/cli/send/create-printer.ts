import type { AnswerPrinter } from '../render/answer-printer.ts';
import { pipePrinter, terminalPrinter } from '../render/plain-printers.ts';
import { hasColour, type Io } from '../shell/io.ts';
import type { PromptOptions } from './prompt-options.ts';

/** The printer for an answer: raw in a pipe; on a terminal as it arrives, or as Markdown with --render. */
export async function createPrinter({ render, color }: PromptOptions, io: Io): Promise<AnswerPrinter> {
  if (io.stdout.isTTY !== true) return pipePrinter(io);
  if (render !== true) return terminalPrinter(io);
  const { markdownPrinter } = await import('../render/markdown-printer.ts');
  return markdownPrinter(io, color && hasColour(io.stdout, io.env));
}
