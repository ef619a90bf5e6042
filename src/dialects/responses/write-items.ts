import type { CallStart } from '../conversation.ts';
import type { Fields } from '../fields.ts';
import type { TranslationContext } from '../translation/context.ts';
import { openThought } from '../translation/seals.ts';
import { callItem, contentPart, messageItem, reasoningItem } from './answer.ts';

type TextKind = 'text' | 'refusal' | 'thinking';

interface OpenText {
  readonly kind: TextKind;
  readonly id: string;
  readonly outputIndex: number;
  readonly deltaType: string;
  /** The members of each delta, before the text and after it. */
  readonly deltaHead: string;
  readonly deltaTail: string;
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
    const deltaType = `${textEvents[kind]}.delta`;
    const deltaHead = `${members(place)},"delta":`;
    const deltaTail = kind === 'text' ? ',"logprobs":[]' : '';
    open = { kind, id, outputIndex, deltaType, deltaHead, deltaTail, text: '' };
    return open;
  }

  function close(status: string, seal = openThought): void {
    if (open === undefined) return;
    const { kind, id, outputIndex, text } = open;
    open = undefined;
    const place = placeOf(kind, id, outputIndex);
    const part = toPart(kind, text);
    emit(`${textEvents[kind]}.done`, members({ ...place, ...toWhole(kind, text) }));
    emit(partEvent(kind, 'done'), members({ ...place, part }));
    const item = kind === 'thinking' ? reasoningItem(id, text, seal) : messageItem(id, status, [part]);
    output.done(outputIndex, item);
  }

  return {
    add(kind: TextKind, text: string): void {
      const item = open?.kind === kind ? open : openItem(kind);
      item.text += text;
      emit(item.deltaType, item.deltaHead + JSON.stringify(text) + item.deltaTail);
    },
    /** Ends the open thought with its seal, or writes one without a text. */
    seal(seal: string): void {
      if (open?.kind === 'thinking') {
        close('completed', seal);
        return;
      }
      close('completed');
      const id = context.newId('rs_');
      output.done(output.add(reasoningItem(id, '')), reasoningItem(id, '', seal));
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
  return kind === 'thinking' ? { type: 'summary_text', text } : contentPart(kind, text);
}

function toWhole(kind: TextKind, text: string): Fields {
  if (kind === 'refusal') return { refusal: text };
  return kind === 'text' ? { text, logprobs: [] } : { text };
}

/** Sends an event; `members` are the payload's further members as JSON text. */
type Emit = (type: string, members: string) => void;

/** The output of a response while it is written: emits the event that opens an item and the one that completes it. */
export function createOutputList(emit: Emit) {
  const items: Fields[] = [];

  return {
    items: items as readonly Fields[],
    /** Returns the item's index. */
    add(item: Fields): number {
      const index = items.push(item) - 1;
      emit('response.output_item.added', members({ output_index: index, item }));
      return index;
    },
    done(index: number, item: Fields): void {
      items[index] = item;
      emit('response.output_item.done', members({ output_index: index, item }));
    },
  };
}

type OutputList = ReturnType<typeof createOutputList>;

/** A payload's members as JSON text, without the braces. */
function members(fields: Fields): string {
  return JSON.stringify(fields).slice(1, -1);
}

interface OpenCall {
  readonly call: CallStart;
  readonly id: string;
  readonly outputIndex: number;
  readonly deltaType: string;
  /** The start of each delta's members, up to the piece of input. */
  readonly deltaHead: string;
  input: string;
}

/** Writes the items of calls, which stay open beside each other until their input is known to be complete. */
export function createCallWriter(context: TranslationContext, output: OutputList, emit: Emit) {
  const calls = new Map<number, OpenCall>();

  function close({ call, id, outputIndex, input }: OpenCall, status: string): void {
    calls.delete(call.index);
    const place = { item_id: id, output_index: outputIndex };
    const whole = input || emptyInput(call);
    if (call.kind === 'custom') {
      emit('response.custom_tool_call_input.done', members({ ...place, input: whole }));
    } else {
      emit('response.function_call_arguments.done', members({ ...place, name: call.name, arguments: whole }));
    }
    output.done(outputIndex, callItem(id, status, { ...call, input: whole }));
  }

  return {
    start(start: CallStart): void {
      const call = start.id === '' ? { ...start, id: context.newId('call_') } : start;
      const isCustom = call.kind === 'custom';
      const id = context.newId(isCustom ? 'ctc_' : 'fc_');
      const outputIndex = output.add(callItem(id, 'in_progress', { ...call, input: '' }));
      const deltaType = isCustom
        ? 'response.custom_tool_call_input.delta'
        : 'response.function_call_arguments.delta';
      const deltaHead = `${members({ item_id: id, output_index: outputIndex })},"delta":`;
      calls.set(call.index, { call, id, outputIndex, deltaType, deltaHead, input: '' });
    },
    input(index: number, piece: string): void {
      const open = calls.get(index);
      if (open === undefined || piece === '') return;
      open.input += piece;
      emit(open.deltaType, open.deltaHead + JSON.stringify(piece));
    },
    end(index: number): void {
      const open = calls.get(index);
      if (open !== undefined) close(open, 'completed');
    },
    /** Closes the calls before an output index; all without one. */
    closeBefore(status: string, limit = Number.POSITIVE_INFINITY): void {
      for (const open of [...calls.values()]) if (open.outputIndex < limit) close(open, status);
    },
  };
}

function emptyInput(call: CallStart): string {
  return call.kind === 'custom' ? '' : '{}';
}
