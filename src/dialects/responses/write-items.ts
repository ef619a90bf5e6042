import type { CallStart } from '../conversation.ts';
import type { Fields } from '../fields.ts';
import type { TranslationContext } from '../translation/model-quirks.ts';
import { callItem, messageItem, reasoningItem, textContent } from './build-answer.ts';

type Emit = (type: string, members: string) => void;

interface OpenText {
  readonly kind: 'text' | 'refusal' | 'thinking';
  readonly id: string;
  readonly outputIndex: number;
  /** The start of each delta's members, up to the text. */
  readonly deltaHead: string;
  text: string;
}

interface OpenCall {
  readonly call: CallStart;
  readonly id: string;
  readonly outputIndex: number;
  readonly deltaHead: string;
  input: string;
}

/**
 * Writes the events of output items. One message or reasoning item is open at a time; calls stay open beside
 * each other until their input is known to be complete.
 */
export function createItemWriter(context: TranslationContext, emit: Emit) {
  const output: Fields[] = [];
  const calls = new Map<number, OpenCall>();
  let nextIndex = 0;
  let open: OpenText | undefined;

  function add(item: Fields): number {
    const index = nextIndex;
    nextIndex += 1;
    output[index] = item;
    emit('response.output_item.added', members({ output_index: index, item }));
    return index;
  }

  function done(index: number, item: Fields): void {
    output[index] = item;
    emit('response.output_item.done', members({ output_index: index, item }));
  }

  function openText(kind: OpenText['kind']): OpenText {
    closeText('completed');
    const isThinking = kind === 'thinking';
    const id = context.newId(isThinking ? 'rs_' : 'msg_');
    const item = isThinking ? reasoningItem(id, '') : messageItem(id, 'in_progress', []);
    const outputIndex = add(item);
    const place = {
      item_id: id,
      output_index: outputIndex,
      [isThinking ? 'summary_index' : 'content_index']: 0,
    };
    emit(
      isThinking ? 'response.reasoning_summary_part.added' : 'response.content_part.added',
      members({ ...place, part: toPart(kind, '') }),
    );
    open = { kind, id, outputIndex, deltaHead: `${members(place)},"delta":`, text: '' };
    return open;
  }

  function closeText(status: string): void {
    if (open === undefined) return;
    const { kind, id, outputIndex, text } = open;
    open = undefined;
    const isThinking = kind === 'thinking';
    const place = {
      item_id: id,
      output_index: outputIndex,
      [isThinking ? 'summary_index' : 'content_index']: 0,
    };
    const part = toPart(kind, text);
    emit(`${textEvents[kind]}.done`, members({ ...place, ...toWhole(kind, text) }));
    emit(
      isThinking ? 'response.reasoning_summary_part.done' : 'response.content_part.done',
      members({ ...place, part }),
    );
    done(outputIndex, isThinking ? reasoningItem(id, text) : messageItem(id, status, [part]));
  }

  function closeCall(state: OpenCall, status: string): void {
    calls.delete(state.call.index);
    const { call, id, outputIndex } = state;
    const place = { item_id: id, output_index: outputIndex };
    if (call.kind === 'custom') {
      emit('response.custom_tool_call_input.done', members({ ...place, input: state.input }));
    } else {
      const text = state.input === '' ? '{}' : state.input;
      emit('response.function_call_arguments.done', members({ ...place, name: call.name, arguments: text }));
    }
    done(outputIndex, callItem(id, status, { ...call, input: state.input || emptyInput(call) }));
  }

  return {
    thinking(text: string): void {
      const item = open?.kind === 'thinking' ? open : openText('thinking');
      item.text += text;
      emit('response.reasoning_summary_text.delta', item.deltaHead + JSON.stringify(text));
    },
    text(text: string): void {
      const item = open?.kind === 'text' ? open : openText('text');
      item.text += text;
      emit('response.output_text.delta', `${item.deltaHead + JSON.stringify(text)},"logprobs":[]`);
    },
    refusal(text: string): void {
      const item = open?.kind === 'refusal' ? open : openText('refusal');
      item.text += text;
      emit('response.refusal.delta', item.deltaHead + JSON.stringify(text));
    },
    callStart(start: CallStart): void {
      closeText('completed');
      const call = start.id === '' ? { ...start, id: context.newId('call_') } : start;
      const id = context.newId(call.kind === 'custom' ? 'ctc_' : 'fc_');
      const outputIndex = add(callItem(id, 'in_progress', { ...call, input: '' }));
      const deltaHead = `${members({ item_id: id, output_index: outputIndex })},"delta":`;
      calls.set(call.index, { call, id, outputIndex, deltaHead, input: '' });
    },
    callInput(index: number, piece: string): void {
      const state = calls.get(index);
      if (state === undefined || piece === '') return;
      state.input += piece;
      const isCustom = state.call.kind === 'custom';
      const type = isCustom
        ? 'response.custom_tool_call_input.delta'
        : 'response.function_call_arguments.delta';
      emit(type, state.deltaHead + JSON.stringify(piece));
    },
    callEnd(index: number): void {
      const state = calls.get(index);
      if (state !== undefined) closeCall(state, 'completed');
    },
    /** Closes what is open and returns the whole output. */
    finish(status: 'completed' | 'incomplete'): readonly Fields[] {
      const rest = [...calls.values()];
      const textIndex = open?.outputIndex ?? 0;
      for (const state of rest) if (state.outputIndex < textIndex) closeCall(state, status);
      closeText(status);
      for (const state of rest) if (calls.has(state.call.index)) closeCall(state, status);
      return output;
    },
  };
}

const textEvents = {
  text: 'response.output_text',
  refusal: 'response.refusal',
  thinking: 'response.reasoning_summary_text',
};

function members(fields: Fields): string {
  return JSON.stringify(fields).slice(1, -1);
}

function toPart(kind: OpenText['kind'], text: string): Fields {
  if (kind === 'thinking') return { type: 'summary_text', text };
  return kind === 'refusal' ? { type: 'refusal', refusal: text } : textContent(text);
}

function toWhole(kind: OpenText['kind'], text: string): Fields {
  if (kind === 'refusal') return { refusal: text };
  return kind === 'text' ? { text, logprobs: [] } : { text };
}

function emptyInput(call: CallStart): string {
  return call.kind === 'custom' ? '' : '{}';
}
