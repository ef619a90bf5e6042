import type { Dialect } from './dialect.ts';
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
  chat: { events: chatEvents, whole: wholeChat },
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
  const error = events.find((event) => isFields(event.error));
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

/** The members of all, each as it was said last. */
function joined(events: readonly Fields[]): Record<string, unknown> {
  return Object.assign({}, ...events);
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

function wholeChat(chunks: readonly Fields[]): Fields {
  const choices = new Map<number, { message: Record<string, unknown>; rest: Fields }>();
  for (const entry of chunks.flatMap((chunk) => toList(chunk.choices))) {
    const { delta, message, ...rest } = toFields(entry);
    const at = toCount(rest.index);
    const known = choices.get(at) ?? { message: { role: 'assistant', content: null }, rest: {} };
    addDelta(known.message, toFields(delta ?? message));
    choices.set(at, { ...known, rest: { ...known.rest, ...present(rest) } });
  }
  return {
    ...joined(chunks.map(present)),
    object: 'chat.completion',
    choices: [...choices.values()].map(({ message, rest }) => ({ finish_reason: null, ...rest, message })),
  };
}

/** Texts go on, lists go on by the index of their elements, everything else is said anew. */
function addDelta(whole: Record<string, unknown>, delta: Fields): void {
  for (const [name, value] of Object.entries(present(delta))) {
    const known = whole[name];
    if (typeof value === 'string' && typeof known === 'string' && continued.has(name))
      whole[name] = known + value;
    else if (Array.isArray(value)) whole[name] = withElements(toList(known), value);
    else if (isFields(value) && isFields(known)) {
      const more = { ...known };
      addDelta(more, value);
      whole[name] = more;
    } else whole[name] = value;
  }
}

/** Members of a chat delta whose texts go on; a host may repeat the others with each event. */
const continued = new Set([
  ...['content', 'refusal', 'reasoning_content', 'reasoning', 'arguments'],
  ...['text', 'summary', 'data', 'thinking'],
]);

function withElements(known: readonly unknown[], more: readonly unknown[]): unknown[] {
  const list = [...known];
  for (const element of more) {
    const { index, ...fields } = toFields(element);
    const at = typeof index === 'number' ? index : list.length;
    const whole = { ...toFields(list[at]) };
    addDelta(whole, isFields(element) ? fields : {});
    list[at] = isFields(element) ? whole : element;
  }
  return list.filter((element) => element !== undefined);
}

function present(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
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
  let message: Record<string, unknown> = {};
  const blocks: Record<string, unknown>[] = [];
  const inputs: string[] = [];
  for (const event of events) {
    const index = toCount(event.index);
    const delta = toFields(event.delta);
    if (event.type === 'message_start') message = { ...toFields(event.message) };
    if (event.type === 'content_block_start') blocks[index] = { ...toFields(event.content_block) };
    if (event.type === 'content_block_delta') {
      const block = blocks[index] ?? {};
      blocks[index] = block;
      inputs[index] = (inputs[index] ?? '') + toText(delta.partial_json);
      for (const name of ['text', 'thinking', 'signature'])
        if (name in delta) block[name] = toText(block[name]) + toText(delta[name]);
    }
    if (event.type !== 'message_delta') continue;
    message = { ...message, ...delta, usage: { ...toFields(message.usage), ...toFields(event.usage) } };
  }
  const content = blocks.map((block, index) => {
    const input = parseJson(inputs[index] ?? '');
    return input === undefined ? block : { ...block, input };
  });
  return { ...message, content };
}

// ---------------------------------------------------------------- gemini

function wholeGemini(events: readonly Fields[]): Fields {
  const candidates = new Map<number, { fields: Fields; parts: unknown[] }>();
  for (const entry of events.flatMap((event) => toList(event.candidates))) {
    const fields = toFields(entry);
    const known = candidates.get(toCount(fields.index));
    const parts = [...(known?.parts ?? []), ...toList(toFields(fields.content).parts)];
    candidates.set(toCount(fields.index), { fields: { ...known?.fields, ...fields }, parts });
  }
  return {
    ...joined(events),
    ...(candidates.size > 0 && {
      candidates: [...candidates.values()].map(({ fields, parts }) => ({
        ...fields,
        content: { role: 'model', ...toFields(fields.content), parts },
      })),
    }),
  };
}
