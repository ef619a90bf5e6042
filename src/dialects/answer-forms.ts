import { gatherChat } from './chat/gather-stream.ts';
import type { Dialect } from './dialect.ts';
import { errorInside } from './failure.ts';
import {
  brokenAnswer,
  type Fields,
  isFields,
  parseJson,
  toCount,
  toFields,
  toList,
  toText,
} from './fields.ts';
import { type SseEvent, SseParser } from './sse.ts';
import { StreamObserver } from './stream-observer.ts';
import { toArgumentsObject } from './translation/tool-names.ts';

/**
 * An answer in the form that was asked for, from a host that always streams or never does. Both are the provider's dialect,
 * so nothing is lost.
 */
interface AnswerForms {
  /** The events that say the same as a whole answer. */
  events(answer: Fields): readonly SseEvent[];
  /** The whole answer that says the same as the events, given by what their data says. */
  whole(events: readonly Fields[]): Fields;
}

const forms: Readonly<Record<string, AnswerForms>> = {
  chat: { events: chatEvents, whole: gatherChat },
  responses: { events: responsesEvents, whole: wholeResponse },
  messages: { events: messagesEvents, whole: wholeMessage },
  gemini: { events: (answer) => [toEvent(answer)], whole: wholeGemini },
};

/** Undefined if it has no such form. */
export function eventsOf({ name }: Dialect, answer: Fields): readonly SseEvent[] | undefined {
  return forms[name]?.events(answer);
}

/** An error in the stream is the answer. Throws provider.broken_response for a stream that was cut. */
export function wholeOf(dialect: Dialect, stream: Buffer): Fields {
  const events: Fields[] = [];
  const parser = new SseParser((_name, data) => {
    const event = parseJson(data);
    if (isFields(event)) events.push(event);
  });
  parser.push(stream);
  parser.end();
  const error = events.find((event) => errorInside(event) !== undefined);
  if (error !== undefined) return error;
  const observer = new StreamObserver(dialect);
  observer.observe(stream);
  const form = forms[dialect.name];
  if (!observer.isComplete || form === undefined) throw brokenAnswer('is a stream without its end');
  return form.whole(events);
}

function toEvent(data: object, name?: string): SseEvent {
  return { name, data: JSON.stringify(data) };
}

// ---------------------------------------------------------------- chat

function chatEvents({ usage, ...answer }: Fields): readonly SseEvent[] {
  const head = { ...answer, object: 'chat.completion.chunk' };
  const choices = toList(answer.choices).map((entry) => {
    const { message, ...choice } = toFields(entry);
    const { tool_calls, ...said } = toFields(message);
    const calls = toList(tool_calls).map((call, index) => ({ index, ...toFields(call) }));
    return { ...choice, delta: { ...said, ...(calls.length > 0 && { tool_calls: calls }) } };
  });
  const last = isFields(usage) ? [toEvent({ ...head, choices: [], usage })] : [];
  return [toEvent({ ...head, choices }), ...last, { name: undefined, data: '[DONE]' }];
}

// ---------------------------------------------------------------- responses

function responsesEvents(answer: Fields): readonly SseEvent[] {
  let sequence_number = 0;
  const event = (type: string, fields: object) =>
    toEvent({ type, sequence_number: sequence_number++, ...fields }, type);
  const status = toText(answer.status) || 'completed';
  return [
    event('response.created', { response: { ...answer, status: 'in_progress', output: [], usage: null } }),
    ...toList(answer.output).flatMap((value, output_index) => {
      const item = toFields(value);
      const at = { item_id: item.id, output_index };
      const texts = toList(item.content).flatMap((value, content_index) => {
        const part = toFields(value);
        const place = { ...at, content_index };
        const kind = part.type === 'refusal' ? 'refusal' : 'text';
        if (part.type !== 'refusal' && part.type !== 'output_text') return [];
        return [
          event('response.content_part.added', { ...place, part: { ...part, [kind]: '' } }),
          event(`response.${kind === 'text' ? 'output_text' : kind}.delta`, { ...place, delta: part[kind] }),
          event('response.content_part.done', { ...place, part }),
        ];
      });
      const input =
        item.type === 'function_call'
          ? [event('response.function_call_arguments.delta', { ...at, delta: item.arguments })]
          : [];
      const begun = { ...item, ...(item.type === 'message' && { content: [] }) };
      const added = { ...begun, ...(item.type === 'function_call' && { arguments: '' }) };
      return [
        event('response.output_item.added', { output_index, item: added }),
        ...texts,
        ...input,
        event('response.output_item.done', { output_index, item }),
      ];
    }),
    event(`response.${status}`, { response: { ...answer, status } }),
  ];
}

/** ChatGPT's host sends its items in events only. */
function wholeResponse(events: readonly Fields[]): Fields {
  const response = toFields(events.findLast((event) => isFields(event.response))?.response);
  const done = events.filter((event) => event.type === 'response.output_item.done');
  return toList(response.output).length > 0
    ? response
    : { ...response, output: done.map(({ item }) => item) };
}

// ---------------------------------------------------------------- messages

function messagesEvents({ content, stop_reason, stop_sequence, usage, ...message }: Fields): SseEvent[] {
  const event = (type: string, fields: object = {}) => toEvent({ type, ...fields }, type);
  const begun = { ...message, content: [], stop_reason: null, stop_sequence: null, usage };
  return [
    event('message_start', { message: begun }),
    ...toList(content).flatMap((value, index) => {
      const { start, deltas } = pieces(toFields(value));
      return [
        event('content_block_start', { index, content_block: start }),
        ...deltas.map((delta) => event('content_block_delta', { index, delta })),
        event('content_block_stop', { index }),
      ];
    }),
    event('message_delta', { delta: { stop_reason, stop_sequence }, usage }),
    event('message_stop'),
  ];
}

function pieces(block: Fields): { start: Fields; deltas: readonly Fields[] } {
  const { type, text, thinking, signature, input } = block;
  if (type === 'text') return { start: { ...block, text: '' }, deltas: [{ type: 'text_delta', text }] };
  if (type === 'thinking') {
    const deltas = [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature },
    ];
    return { start: { ...block, thinking: '', signature: '' }, deltas };
  }
  if (input === undefined) return { start: block, deltas: [] };
  const partial_json = JSON.stringify(input);
  return { start: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json }] };
}

function wholeMessage(events: readonly Fields[]): Fields {
  const message: Record<string, unknown> = {};
  const usage: Record<string, unknown> = {};
  const blocks: GatheredBlock[] = [];
  const byIndex = new Map<unknown, GatheredBlock>();
  const begin = (index: unknown, start: Fields) => {
    const block: GatheredBlock = { fields: { ...start }, citations: [...toList(start.citations)], input: '' };
    blocks.push(block);
    byIndex.set(index, block);
    return block;
  };
  for (const event of events) {
    const delta = toFields(event.delta);
    if (event.type === 'content_block_start') begin(event.index, toFields(event.content_block));
    if (event.type === 'content_block_delta')
      addPieces(byIndex.get(event.index) ?? begin(event.index, {}), delta);
    if (event.type !== 'message_start' && event.type !== 'message_delta') continue;
    const said = event.type === 'message_start' ? toFields(event.message) : delta;
    Object.assign(message, said);
    Object.assign(usage, toFields(said.usage ?? event.usage));
  }
  return { ...message, content: blocks.map(wholeBlock), usage };
}

interface GatheredBlock {
  readonly fields: Record<string, unknown>;
  readonly citations: unknown[];
  /** Of a call, as text. */
  input: string;
}

function addPieces(block: GatheredBlock, { type: _, partial_json, citation, ...texts }: Fields): void {
  const { fields } = block;
  block.input += toText(partial_json);
  if (citation !== undefined) block.citations.push(citation);
  for (const [name, value] of Object.entries(texts))
    fields[name] = typeof value === 'string' ? toText(fields[name]) + value : value;
}

/** The input of a call that was cut is kept as a translation keeps it. */
function wholeBlock({ fields, citations, input }: GatheredBlock): Fields {
  return {
    ...fields,
    ...(citations.length > 0 && { citations }),
    ...(input !== '' && { input: toArgumentsObject({ kind: 'function', input }) }),
  };
}

// ---------------------------------------------------------------- gemini

function wholeGemini(events: readonly Fields[]): Fields {
  const answer: Record<string, unknown> = {};
  const candidates = new Map<number, { fields: Record<string, unknown>; parts: Record<string, unknown>[] }>();
  for (const { candidates: list, ...event } of events) {
    Object.assign(answer, event);
    for (const { content, ...fields } of toList(list).map(toFields)) {
      const at = toCount(fields.index);
      const known = candidates.get(at) ?? { fields: {}, parts: [] };
      candidates.set(at, known);
      Object.assign(known.fields, fields);
      for (const part of toList(toFields(content).parts)) addPart(known.parts, toFields(part));
    }
  }
  const gathered = [...candidates.values()].map(({ fields, parts }) => ({
    ...fields,
    content: { role: 'model', parts },
  }));
  return gathered.length === 0 ? answer : { ...answer, candidates: gathered };
}

/** Texts go on, of a thought as of an answer; a signature ends them. */
function addPart(parts: Record<string, unknown>[], { ...part }: Fields): void {
  const last = parts.at(-1);
  const { text, thought: _, ...others } = last ?? {};
  const goesOn =
    typeof text === 'string' && Object.keys(others).length === 0 && last?.thought === part.thought;
  if (last !== undefined && goesOn && typeof part.text === 'string')
    Object.assign(last, part, { text: text + part.text });
  else parts.push(part);
}
