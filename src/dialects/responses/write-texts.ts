import type { Fields } from '../fields.ts';
import type { TranslationContext } from '../translation/model-quirks.ts';
import { messageItem, reasoningItem, textContent } from './build-answer.ts';
import { type Emit, members, type OutputList } from './output-list.ts';

type TextKind = 'text' | 'refusal' | 'thinking';

interface OpenText {
  readonly kind: TextKind;
  readonly id: string;
  readonly outputIndex: number;
  /** The start of each delta's members, up to the text. */
  readonly deltaHead: string;
  text: string;
}

const textEvents = {
  text: 'response.output_text',
  refusal: 'response.refusal',
  thinking: 'response.reasoning_summary_text',
};

/** Writes message and reasoning items, one at a time: text of another kind closes the open one. */
export function createTextWriter(context: TranslationContext, output: OutputList, emit: Emit) {
  let open: OpenText | undefined;

  function openItem(kind: TextKind): OpenText {
    close('completed');
    const isThinking = kind === 'thinking';
    const id = context.newId(isThinking ? 'rs_' : 'msg_');
    const outputIndex = output.add(isThinking ? reasoningItem(id, '') : messageItem(id, 'in_progress', []));
    const place = placeOf(kind, id, outputIndex);
    emit(partEvent(kind, 'added'), members({ ...place, part: toPart(kind, '') }));
    open = { kind, id, outputIndex, deltaHead: `${members(place)},"delta":`, text: '' };
    return open;
  }

  function close(status: string): void {
    if (open === undefined) return;
    const { kind, id, outputIndex, text } = open;
    open = undefined;
    const place = placeOf(kind, id, outputIndex);
    const part = toPart(kind, text);
    emit(`${textEvents[kind]}.done`, members({ ...place, ...toWhole(kind, text) }));
    emit(partEvent(kind, 'done'), members({ ...place, part }));
    const item = kind === 'thinking' ? reasoningItem(id, text) : messageItem(id, status, [part]);
    output.done(outputIndex, item);
  }

  return {
    thinking(text: string): void {
      const item = open?.kind === 'thinking' ? open : openItem('thinking');
      item.text += text;
      emit('response.reasoning_summary_text.delta', item.deltaHead + JSON.stringify(text));
    },
    text(text: string): void {
      const item = open?.kind === 'text' ? open : openItem('text');
      item.text += text;
      emit('response.output_text.delta', `${item.deltaHead + JSON.stringify(text)},"logprobs":[]`);
    },
    refusal(text: string): void {
      const item = open?.kind === 'refusal' ? open : openItem('refusal');
      item.text += text;
      emit('response.refusal.delta', item.deltaHead + JSON.stringify(text));
    },
    close,
    /** The output index of the open item. */
    openIndex: () => open?.outputIndex,
  };
}

function placeOf(kind: TextKind, id: string, outputIndex: number): Fields {
  const partIndex = kind === 'thinking' ? 'summary_index' : 'content_index';
  return { item_id: id, output_index: outputIndex, [partIndex]: 0 };
}

function partEvent(kind: TextKind, end: 'added' | 'done'): string {
  return kind === 'thinking' ? `response.reasoning_summary_part.${end}` : `response.content_part.${end}`;
}

function toPart(kind: TextKind, text: string): Fields {
  if (kind === 'thinking') return { type: 'summary_text', text };
  return kind === 'refusal' ? { type: 'refusal', refusal: text } : textContent(text);
}

function toWhole(kind: TextKind, text: string): Fields {
  if (kind === 'refusal') return { refusal: text };
  return kind === 'text' ? { text, logprobs: [] } : { text };
}
