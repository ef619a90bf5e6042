import { describe, expect, test } from 'vitest';
import { sealEdits } from '../../../src/dialects/translation/foreign-seals.ts';
import type { Host } from '../../../src/hosts/find-host.ts';
import { applyEdits } from '../../../src/json/byte-edits.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';

const seal = 'gw1-gemini-thought-U0lH';
const open = 'gw1-open';
const bytes = (text: string) => Buffer.from(text).toString('base64');
const skip = 'skip_thought_signature_validator';

function cut(dialect: string, body: object, host: Host = 'unknown'): unknown {
  const document = parseStrictJson(Buffer.from(JSON.stringify(body)));
  return JSON.parse(
    String(applyEdits(document.bytes, sealEdits(document, dialect, { host, targetModel: 'm' }))),
  );
}

describe('messages', () => {
  const text = { type: 'text', text: 'a' };
  const call = { type: 'tool_use', id: 't', name: 'f', input: { signature: open } };
  const own = { type: 'thinking', thinking: 'b', signature: 'EqQB' };
  const assistant = (...content: object[]) => ({ role: 'assistant', content });
  const user = { role: 'user', content: 'hello' };

  test.each([
    ['a thought without a signature', [{ type: 'thinking', thinking: 'b', signature: open }, text], [text]],
    ['a sealed thought', [{ type: 'thinking', thinking: 'b', signature: seal }, text], [text]],
    ['the seal of a call', [text, { type: 'redacted_thinking', data: seal }, call], [text, call]],
    [
      'several, the last too',
      [text, { type: 'redacted_thinking', data: seal }, { type: 'redacted_thinking', data: open }],
      [text],
    ],
    ['nothing of the vendor', [own, text], [own, text]],
  ])('%s', (_name, before, after) => {
    const body = { messages: [user, assistant(...before)], pad: open };

    expect(cut('messages', body)).toEqual({ messages: [user, assistant(...after)], pad: open });
  });

  test('a message of nothing else goes with it', () => {
    const thought = { type: 'thinking', thinking: 'b', signature: open };

    expect(cut('messages', { messages: [user, assistant(thought, thought), user] })).toEqual({
      messages: [user, user],
    });
    expect(cut('messages', { messages: [user, assistant(thought)] })).toEqual({ messages: [user] });
  });

  test('thinking with a budget ends where the turn of a tool lost its thought', () => {
    const thought = { type: 'thinking', thinking: 'b', signature: open };
    const edits = { edits: [{ type: 'clear_thinking_20251015' }] };
    const asked = { thinking: { type: 'enabled', budget_tokens: 2_000 }, context_management: edits };
    const open_ = { messages: [user, assistant(thought, call), user], ...asked };

    expect(cut('messages', open_)).toEqual({
      messages: [user, assistant(call), user],
      thinking: { type: 'disabled' },
    });
    expect(
      cut('messages', { ...open_, messages: [user, assistant(thought, call), user, assistant(own, call)] }),
    ).toMatchObject(asked);
    expect(cut('messages', { ...open_, thinking: { type: 'adaptive' } })).toMatchObject({
      thinking: { type: 'adaptive' },
    });
  });
});

test('responses: the item', () => {
  const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: seal };
  const own = { ...item, encrypted_content: 'gAAA' };

  expect(cut('responses', { input: [item, own, { ...item, encrypted_content: open }] })).toEqual({
    input: [own],
  });
});

test('gemini: the word for calls from elsewhere takes its place', () => {
  const part = (thoughtSignature: string) => ({
    contents: [{ role: 'model', parts: [{ functionCall: { name: 'f' }, thoughtSignature }] }],
  });

  expect(cut('gemini', part(bytes(open)))).toEqual(part(skip));
  expect(cut('gemini', part(bytes(seal)))).toEqual(part(skip));
  expect(cut('gemini', part('EqQB'))).toEqual(part('EqQB'));
});

test('chat: the word at Google, else nothing', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const message = { role: 'assistant', content: null };
  const signed = (thought_signature: string) => ({
    ...call,
    extra_content: { google: { thought_signature } },
  });
  const body = {
    messages: [
      {
        ...message,
        reasoning_details: [{ type: 'reasoning.encrypted', data: seal }],
        tool_calls: [signed(seal), signed('own')],
      },
    ],
  };

  expect(cut('chat', body)).toEqual({ messages: [{ ...message, tool_calls: [call, signed('own')] }] });
  expect(cut('chat', body, 'gemini')).toEqual({
    messages: [{ ...message, tool_calls: [signed(skip), signed('own')] }],
  });
});

test('Google takes its signatures in either spelling', () => {
  const content = (signature: object) => ({
    contents: [{ role: 'model', parts: [{ functionCall: { name: 'f' }, ...signature }] }],
  });

  for (const name of ['thoughtSignature', 'thought_signature'])
    expect(cut('gemini', content({ [name]: bytes(seal) }))).toEqual(content({ [name]: skip }));
});

test('a body without a seal, and one with odd members, stays', () => {
  for (const body of [
    { messages: [{ content: open }, open, { content: [open, { data: 1 }] }] },
    { messages: 1, x: open },
    { x: open },
  ])
    for (const dialect of ['messages', 'responses', 'gemini', 'chat', 'embeddings'])
      expect(cut(dialect, body)).toEqual(body);
});
