import type { CallStart } from '../conversation.ts';
import type { Fields } from '../fields.ts';
import type { TranslationContext } from '../translation/model-quirks.ts';
import { createOutputList, type Emit } from './output-list.ts';
import { createCallWriter } from './write-calls.ts';
import { createTextWriter } from './write-texts.ts';

/** Writes the events of output items. */
export function createItemWriter(context: TranslationContext, emit: Emit) {
  const output = createOutputList(emit);
  const texts = createTextWriter(context, output, emit);
  const calls = createCallWriter(context, output, emit);

  return {
    thinking: texts.thinking,
    text: texts.text,
    refusal: texts.refusal,
    callStart(call: CallStart): void {
      texts.close('completed');
      calls.start(call);
    },
    callInput: calls.input,
    callEnd: calls.end,
    /** Closes what is open, in the order of the output, and returns the whole output. */
    finish(status: 'completed' | 'incomplete'): readonly Fields[] {
      calls.closeBefore(status, texts.openIndex() ?? 0);
      texts.close(status);
      calls.closeBefore(status);
      return output.items;
    },
  };
}
