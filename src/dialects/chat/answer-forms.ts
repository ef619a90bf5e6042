import { type Fields, isFields, toCount, toFields, toList, toText } from '../fields.ts';
import { type SseEvent, toEvent } from '../sse.ts';
import { createChatCalls, nestedOf } from './read-stream.ts';
import { continuesDetail } from './reasoning-details.ts';

/** The events that say the same as a whole Chat answer. */
export function chatEvents({ usage, ...answer }: Fields): readonly SseEvent[] {
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

type Draft = Record<string, unknown>;

/** The whole Chat answer that the chunks of a stream say, with what only this dialect has. */
export function wholeChat(chunks: readonly Fields[]): Fields {
  const head: Draft = {};
  const choices = new Map<number, ReturnType<typeof createChoice>>();
  for (const { choices: list, ...chunk } of chunks) {
    Object.assign(head, present(chunk));
    for (const choice of toList(list).map(toFields)) {
      const at = toCount(choice.index);
      const known = choices.get(at) ?? createChoice();
      choices.set(at, known);
      known.add(choice);
    }
  }
  const gathered = [...choices.values()].map((choice) => choice.whole());
  return { ...head, object: 'chat.completion', choices: gathered };
}

function createChoice() {
  const rest: Draft = {};
  const message: Draft = { role: 'assistant', content: null };
  const logprobs: Draft = {};
  const details: Draft[] = [];
  const calls = createCalls();

  return {
    add({ delta, message: instead, logprobs: more, ...others }: Fields): void {
      Object.assign(rest, present(others));
      addMembers(logprobs, toFields(more));
      const { tool_calls, reasoning_details, content, ...said } = toFields(delta ?? instead);
      addMembers(message, said);
      message.content = withContent(message.content, content);
      for (const detail of toList(reasoning_details)) if (isFields(detail)) addDetail(details, detail);
      for (const piece of toList(tool_calls)) calls.add(toFields(piece));
    },
    whole(): Fields {
      const tool_calls = calls.whole();
      return {
        finish_reason: null,
        ...rest,
        ...(Object.keys(logprobs).length > 0 && { logprobs }),
        message: {
          ...message,
          ...(details.length > 0 && { reasoning_details: details }),
          ...(tool_calls.length > 0 && { tool_calls }),
        },
      };
    },
  };
}

/** Members whose texts go on; a host may repeat the others with each chunk. */
const continued = new Set([
  ...['content', 'refusal', 'reasoning_content', 'reasoning', 'arguments'],
  ...['text', 'summary', 'data', 'thinking', 'transcript'],
]);

/** Texts and lists go on, everything else is said anew. Changed in place: a stream has many pieces. */
function addMembers(whole: Draft, piece: Fields): void {
  for (const [name, value] of Object.entries(present(piece))) {
    const known = whole[name];
    if (typeof value === 'string' && typeof known === 'string' && continued.has(name))
      whole[name] = known + value;
    else if (Array.isArray(value) && Array.isArray(known)) for (const each of value) known.push(each);
    else if (isFields(value) && isFields(known))
      addMembers(known as Draft, value); // a copy of `copied`
    else whole[name] = copied(value);
  }
}

/** What may be changed later without changing the event that it came in. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return [...value];
  return isFields(value) ? { ...value } : value;
}

/** One text, or a list of parts: Mistral begins with parts for what its model thinks, and goes on with texts. */
function withContent(known: unknown, piece: unknown): unknown {
  if (!Array.isArray(piece) && !Array.isArray(known))
    return typeof piece === 'string' ? toText(known) + piece : (known ?? null);
  const parts: Draft[] = Array.isArray(known) ? known : [];
  const added = Array.isArray(piece) ? [...textParts(known), ...piece.map(toFields)] : textParts(piece);
  for (const part of added) {
    const last = parts.at(-1);
    if (part.type === 'text' && last?.type === 'text') last.text = toText(last.text) + toText(part.text);
    else parts.push({ ...part });
  }
  return parts;
}

function textParts(text: unknown): Fields[] {
  return toText(text) === '' ? [] : [{ type: 'text', text }];
}

function addDetail(details: Draft[], piece: Fields): void {
  const last = details.at(-1);
  if (last !== undefined && continuesDetail(last, piece)) addMembers(last, piece);
  else details.push({ ...piece });
}

/** The calls, told apart as a translation tells them apart. */
function createCalls() {
  const fields: Draft[] = [];
  const nested: Draft[] = [];
  const kinds: ('function' | 'custom')[] = [];
  const inputs: string[] = [];
  const calls = createChatCalls({
    callStart({ index, kind }) {
      kinds[index] = kind;
    },
    callInput(index, piece) {
      inputs[index] = (inputs[index] ?? '') + piece;
    },
  });

  return {
    add(piece: Fields): void {
      const at = calls.readPiece(piece);
      const { index: _, function: _called, custom: _custom, ...others } = piece;
      const { arguments: _arguments, input: _input, ...members } = nestedOf(piece);
      fields[at] = { ...filled(others), ...fields[at] };
      nested[at] = { ...filled(members), ...nested[at] };
    },
    whole(): Fields[] {
      calls.flush();
      return fields.map((call, at) => {
        const { [at]: kind = 'function' } = kinds;
        const input = inputs[at] ?? '';
        const called = { ...nested[at], [kind === 'custom' ? 'input' : 'arguments']: input };
        return { type: kind, ...call, [kind]: called };
      });
    },
  };
}

function present(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function filled(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== ''));
}
