import { describe, expect, test } from 'vitest';
import { dialects } from '../../../src/dialects/registry.ts';
import { SseParser } from '../../../src/dialects/sse.ts';
import { ExactStream } from '../../../src/gateway/answer/answer-stream.ts';
import { Scrubber } from '../../../src/gateway/answer/scrub.ts';
import { ScrubbedStream } from '../../../src/gateway/answer/scrubbed-stream.ts';
import { bodyOf, relay } from '../relaying.ts';

type Name = 'messages' | 'chat' | 'responses';

const secret = 'sk-provider-0123456789abcdef';
const delta = 'data: {"choices":[{"delta":{"content":"a"},"finish_reason":null}]}\n\n';
const done = 'data: [DONE]\n\n';

function withSecrets(secrets: readonly string[], name: Name = 'chat'): ScrubbedStream {
  return new ScrubbedStream(new ExactStream(dialects[name]), new Scrubber(secrets), dialects[name]);
}

/** What a client gets of chunks in which a provider ends its stream. */
function passed(chunks: readonly string[], stream = withSecrets([secret])): string {
  const texts = chunks.map((chunk) => stream.transform(Buffer.from(chunk)).toString());
  return texts.join('') + stream.end().toString();
}

describe.each([
  ['an error', (words: string) => `data: {"error":{"message":"${words}"}}\n\n`],
  ['an event of that name', (words: string) => `event: error\ndata: {"message":"${words}"}\n\n`],
  ['a piece of text', (words: string) => `data: {"choices":[{"delta":{"content":"${words}"}}]}\n\n`],
  ['an id', (words: string) => `id: ${words}\ndata: {}\n\n`],
  ['a comment', (words: string) => `: ${words}\n\n`],
  ['text after its piece', (words: string) => `data: {"delta":"a","more":{"x":["${words}"]}}\r\n\r\n`],
])('a secret in %s', (_what, write) => {
  const event = write(`key ${secret} is wrong`);
  const expected = delta + write('key [secret] is wrong') + done;

  test('is masked, wherever it is split into two chunks', () => {
    const texts = Array.from({ length: event.length + 1 }, (_each, at) =>
      passed([delta + event.slice(0, at), event.slice(at) + done]),
    );

    expect(new Set(texts)).toEqual(new Set([expected]));
  });

  test('is masked if it arrives byte by byte', () => {
    expect(passed([...(delta + event + done)])).toBe(expected);
  });
});

test('of two secrets that overlap none is whole, wherever two chunks part them', () => {
  const event = 'data: {"error":{"message":"secret-one-two-three"}}\n\n';
  const texts = Array.from({ length: event.length + 1 }, (_each, at) =>
    passed([event.slice(0, at), event.slice(at) + done], withSecrets(['secret-one-two', 'two-three-four'])),
  );

  expect(new Set(texts)).toEqual(new Set([`data: {"error":{"message":"[secret]-three"}}\n\n${done}`]));
});

const pieceEvents: Readonly<Record<Name, readonly (readonly [string, (text: string) => string])[]>> = {
  messages: [
    ['text', (text) => messagesDelta({ type: 'text_delta', text })],
    ['thinking', (thinking) => messagesDelta({ type: 'thinking_delta', thinking })],
    ['arguments', (partial_json) => messagesDelta({ type: 'input_json_delta', partial_json })],
  ],
  chat: [
    ['text', (content) => chatDelta({ content })],
    ['reasoning', (reasoning_content) => chatDelta({ role: 'assistant', reasoning_content })],
    ['arguments', (text) => chatDelta({ tool_calls: [{ index: 0, function: { arguments: text } }] })],
  ],
  responses: [
    ['text', (text) => responsesDelta('response.output_text.delta', text)],
    ['arguments', (text) => responsesDelta('response.function_call_arguments.delta', text)],
  ],
};
const lastEvents: Readonly<Record<Name, string>> = {
  messages: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  chat: done,
  responses: 'event: response.completed\ndata: {"type":"response.completed","response":{}}\n\n',
};

function messagesDelta(value: object): string {
  const event = { type: 'content_block_delta', index: 0, delta: value };
  return `event: content_block_delta\ndata: ${JSON.stringify(event)}\n\n`;
}

function chatDelta(value: object): string {
  const event = { id: 'x', choices: [{ index: 0, delta: value, finish_reason: null }] };
  return `data: ${JSON.stringify(event)}\n\n`;
}

function responsesDelta(type: string, text: string): string {
  const event = { type, sequence_number: 4, output_index: 0, delta: text, logprobs: [], obfuscation: 'x9' };
  return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
}

const cases = (['messages', 'chat', 'responses'] as const).flatMap((name) =>
  pieceEvents[name].map(([what, write]) => [name, what, write] as const),
);

describe.each(cases)('a secret spread over the pieces of %s %s', (name, _what, write) => {
  /** The text that a client puts together, and every event it got. */
  function received(pieces: readonly string[], secrets: readonly string[] = [secret]) {
    const events = pieces.map(write);
    const bytes = passed([...events, lastEvents[name]], withSecrets(secrets, name));
    const datas: string[] = [];
    const parser = new SseParser((_event, data) => datas.push(data));
    parser.push(Buffer.from(bytes));
    for (const data of datas) if (data !== '[DONE]') JSON.parse(data);
    return { bytes, events: datas.length, wanted: [...events, lastEvents[name]].join('') };
  }

  test.each([1, 2, 3, 5, 9, 20, 27])('of %i characters is never whole', (size) => {
    const text = `The key is ${secret}, do you see?`;
    for (let shift = 0; shift < size; shift += 1) {
      const pieces = [
        text.slice(0, shift),
        ...(text.slice(shift).match(new RegExp(`.{1,${size}}`, 'g')) ?? []),
      ];
      const { bytes, events, wanted } = received(pieces);

      const left = pieces
        .map((piece) => bytes.includes(write(piece)) && piece)
        .filter((piece) => piece !== false);
      expect(left.join('')).not.toContain(secret.slice(4, 12));
      expect(bytes.length).toBe(wanted.length);
      expect(events).toBe(pieces.length + 1);
      expect(bytes).toContain('*');
    }
  });

  test('that only begins like one goes out as it came', () => {
    const { bytes, wanted } = received(['sk-pro', 'vider-', '0123', 'oh no', ' s', 'k', '-', 's']);

    expect(bytes).toBe(wanted);
  });

  test('is found beside another text that is streamed at the same time', () => {
    const other = (text: string) => write(text).replace(/index":0/g, 'index":1');
    const events = [
      write('sk-provider'),
      other('other words'),
      write('-0123456'),
      other('more'),
      write('789abcdef'),
    ];

    const bytes = passed([...events, lastEvents[name]], withSecrets([secret], name));

    expect(bytes).not.toContain('0123456');
    expect(bytes).not.toContain('789abcdef');
    expect(bytes).toContain('other words');
  });

  test('is found however many pieces without text come between', () => {
    const { bytes } = received([
      secret.slice(0, 14),
      ...Array.from({ length: 40 }, () => ''),
      secret.slice(14),
    ]);

    expect(bytes).not.toContain(secret.slice(14));
    expect(bytes).not.toContain(secret.slice(0, 14));
  });

  test('is not whole however much of another text comes between', () => {
    const other = write('other words').replace(/index":0/g, 'index":1');
    const events = [write(secret.slice(0, 14)), ...Array.from({ length: 40 }, () => other)];
    const stream = withSecrets([secret], name);

    const before = events.map((event) => stream.transform(Buffer.from(event)).toString()).join('');
    const after = stream.transform(Buffer.from(write(`${secret.slice(14)} and more`))).toString();

    expect(before).toBe(events.join(''));
    expect(after).not.toContain(secret.slice(14));
    expect(after).toContain(' and more');
  });

  test('holds back at most 64 KiB', () => {
    const stream = withSecrets([secret], name);
    stream.transform(Buffer.from(write(secret.slice(0, 14))));

    const sent = Array.from({ length: 1_000 }, () => stream.transform(Buffer.from(write(''))).length);

    expect(sent.reduce((sum, length) => sum + length, 0)).toBeGreaterThan(1_000 * write('').length - 65_536);
    expect(stream.transform(Buffer.from(write(secret.slice(14)))).toString()).not.toContain(secret.slice(14));
  });

  test('is found in a member whose name has escapes', () => {
    const events = [secret.slice(0, 14), secret.slice(14)].map((piece) =>
      write(piece).replace('"delta":', '"d\\u0065lt\\u0061":'),
    );

    const bytes = passed([...events, lastEvents[name]], withSecrets([secret], name));

    expect(bytes).not.toContain(secret.slice(14));
  });

  test('does not wait once another piece of its text has come', () => {
    const stream = withSecrets([secret], name);
    stream.transform(Buffer.from(write(secret.slice(0, 9))));

    const rest = stream.transform(Buffer.from(write(' is no key'))).toString();

    expect(rest).toBe(write(secret.slice(0, 9)) + write(' is no key'));
  });

  test('is found where JSON has to escape it', () => {
    const { bytes } = received(['pa"s', 's\\wo', 'rd"99'], ['pa"ss\\word"99']);

    expect(bytes).not.toContain('rd\\"99');
  });

  test('does not hold back what comes after it', () => {
    const stream = withSecrets([secret], name);

    stream.transform(Buffer.from(write(secret.slice(0, 9))));
    const rest = stream.transform(Buffer.from(write(`${secret.slice(9)} and more`))).toString();

    expect(rest).toContain(' and more');
    expect(stream.transform(Buffer.from(write('after'))).toString()).toBe(write('after'));
  });
});

describe.each<readonly [Name, string, (text: string) => string, (text: string) => string]>([
  [
    'messages',
    'the beginning of a block',
    (text) =>
      `event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"${text}"}}\n\n`,
    (text) => messagesDelta({ type: 'text_delta', text }),
  ],
  [
    'responses',
    'the beginning of a part',
    (text) =>
      `data: {"type":"response.content_part.added","output_index":0,"part":{"type":"output_text","text":"${text}"}}\n\n`,
    (text) => responsesDelta('response.output_text.delta', text),
  ],
  [
    'responses',
    'the beginning of an item',
    (text) =>
      `data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","name":"f","arguments":"${text}"}}\n\n`,
    (text) => responsesDelta('response.function_call_arguments.delta', text),
  ],
  ['chat', 'data of several lines', chatLines, chatLines],
  ['chat', 'data with tabs', chatTabs, chatTabs],
])('a secret in a stream of %s that begins in %s', (name, _what, begin, goOn) => {
  test('and continues in the next part is never sent whole', () => {
    for (let at = 12; at < secret.length - 4; at += 1) {
      const events = [
        begin(`key ${secret.slice(0, at)}`),
        goOn(`${secret.slice(at)}, see`),
        lastEvents[name],
      ];
      const together = passed(events, withSecrets([secret], name));

      expect(together).not.toContain(secret.slice(4, at));
      expect(together).not.toContain(secret.slice(at));
      expect(together).toHaveLength(events.join('').length);
    }
  });

  test('and does not go on passes as it came', () => {
    const events = [begin('key sk-provider'), goOn('-less'), lastEvents[name]];

    expect(passed(events, withSecrets([secret], name))).toBe(events.join(''));
  });
});

function chatLines(text: string): string {
  return `data: {"choices":[{"index":0,"delta":{\r\ndata: "content":\r\ndata: "${text}"}}]}\r\n\r\n`;
}

function chatTabs(text: string): string {
  return `data: {"choices":[{"index":0,"delta"\t:\t{"content"\t:\t"${text}"}}]}\n\n`;
}

test('what waits for the rest of a secret is lost when the stream breaks off', async () => {
  const { answer, connection, outcome } = await relay('chat', undefined, withSecrets([secret]));

  answer.write(delta + chatDelta({ content: secret.slice(0, -1) }));
  answer.sink.end();

  expect(await outcome).toBe('provider.broken_response');
  await connection.closed;
  const { text } = bodyOf(connection);
  expect(text.startsWith(`${delta}data: {"error":{`)).toBe(true);
  expect(text).not.toContain(secret.slice(0, 4));
});

test('events without a secret go on as they are, in their own bytes', () => {
  const stream = withSecrets([secret]);
  const chunks = [delta, chatDelta({ content: 'nothing here' }), delta + delta].map((text) =>
    Buffer.from(text),
  );

  for (const chunk of chunks) expect(stream.transform(chunk)).toBe(chunk);
});

test.each([
  'data: "delta"\n\n',
  'data: ["delta"]\n\n',
  'data: {"delta":\n\n',
  'data: {"delta":"\n\n',
  'data: {"delta":{"a":[\n\n',
])('an event that has no piece where one should be goes on as it is: %j', (event) => {
  const bytes = Buffer.from(event);

  expect(withSecrets([secret]).transform(bytes).toString()).toBe(event);
});
