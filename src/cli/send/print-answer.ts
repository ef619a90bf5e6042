import type { GatewayAddress } from '../../client/call.ts';
import type { Prompt, PromptDialect } from '../../client/conversation.ts';
import { type Answered, sendPrompt } from '../../client/gateway.ts';
import type { AnswerPrinter } from '../render/answer-printer.ts';
import type { CommonOptions } from '../shell/command.ts';
import type { Io } from '../shell/io.ts';
import { startSpinner } from '../shell/spinner.ts';

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
): Promise<Answered> {
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
