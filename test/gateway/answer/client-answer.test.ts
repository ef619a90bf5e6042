import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { parseEventData } from '../../../src/dialects/fields.ts';
import { dialects } from '../../../src/dialects/registry.ts';
import { SseParser } from '../../../src/dialects/sse.ts';
import { clientAnswer } from '../../../src/gateway/answer/client-answer.ts';
import type { Exchange } from '../../../src/gateway/exchange.ts';
import type { RoutedRequest } from '../../../src/gateway/route.ts';
import { chatAnswer, chatEvents, geminiEvents, json, messagesEvents, stream } from '../../kit/answers.ts';
import { projects, secrets, startGateway } from '../../kit/gateway.ts';
import { type Script, startHost } from '../../kit/host.ts';

/** How long the host waits before its head: the gateway begins the stream after a second. */
const silentMs = 1_600;
const late =
  (answer: Script): Script =>
  async (response, request) => {
    await sleep(silentMs);
    return answer(response, request);
  };

const host = await startHost(late(stream(chatEvents)));
const settings = 'open_after: 1s, retries: { attempts: 1 }, breaker: { failures: 1000 }';
const gateway = await startGateway(`
providers:
  chat: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat], ${settings} }
  other: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat], ${settings} }
  messages: { dialect: anthropic, base_url: "${host.url}", ${settings} }
  patient: { dialect: anthropic, base_url: "${host.url}" }
  google: { dialect: gemini, base_url: "${host.url}", ${settings} }
models:
  - { match: translated, provider: chat, fallbacks: [{ provider: other }] }
  - { match: alone, provider: chat }
  - { match: same, provider: messages }
  - { match: patient, provider: patient }
  - { match: google, provider: google }
${projects}`);

interface Asked {
  readonly path?: string;
  readonly stream?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

function send(model: string, { path = '/v1/messages', stream = true, headers, signal }: Asked = {}) {
  const messages = [{ role: 'user', content: 'hello' }];
  const contents = [{ role: 'user', parts: [{ text: 'hello' }] }];
  const own = path.endsWith('responses') ? { input: 'hello' } : { max_tokens: 20, messages };
  const body = path.includes('GenerateContent') ? { contents } : { model, stream, ...own };
  const authorization = `Bearer ${secrets.PROJECT_KEY}`;
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization, ...headers },
    body: JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  });
}

/** With the body as far as it comes: a stream that failed is cut after its last event. */
async function ask(model: string, asked?: Asked) {
  const begunMs = performance.now();
  const response = await send(model, asked);
  const headMs = performance.now() - begunMs;
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const piece of response.body ?? []) text += decoder.decode(piece, { stream: true });
  } catch {
    text += '(cut)';
  }
  return { status: response.status, headMs, text };
}

function eventsIn(text: string) {
  const events: unknown[] = [];
  const parser = new SseParser((_name, data) => events.push(parseEventData(data)));
  parser.push(Buffer.from(text));
  return events as { readonly type?: string; readonly error?: { readonly message: string } }[];
}

describe('a provider that says nothing yet', () => {
  test('a translated stream begins, with a comment, and its answer follows', async () => {
    host.script(late(stream(chatEvents)));

    const { status, headMs, text } = await ask('alone');

    expect(status).toBe(200);
    expect(headMs).toBeLessThan(silentMs);
    expect(text).toMatch(/^: ping\n\nevent: message_start\n/);
    expect(eventsIn(text).at(-1)).toMatchObject({ type: 'message_stop' });
  });

  test('a stream that passes unchanged begins too, where that is set', async () => {
    host.script(late(stream(messagesEvents)));

    expect((await ask('same')).text).toBe(`: ping\n\n${messagesEvents.join('')}`);
    const unset = await ask('patient');
    expect(unset.text).toBe(messagesEvents.join(''));
    expect(unset.headMs).toBeGreaterThan(silentMs - 50);
  });

  test('one that answers with a whole answer is a stream all the same', async () => {
    host.script(late(json(chatAnswer)));

    expect(eventsIn((await ask('alone')).text).at(-1)).toMatchObject({ type: 'message_stop' });
  });

  test('nothing begins for a client that wants a whole answer', async () => {
    host.script(late(json(chatAnswer)));

    const { headMs, text } = await ask('alone', { stream: false });

    expect(headMs).toBeGreaterThan(silentMs - 50);
    expect(JSON.parse(text)).toMatchObject({ type: 'message' });
  });

  test('Codex gets an event, since comments do not reset its timer', async () => {
    host.script(late(stream(chatEvents)));

    const path = '/v1/responses';
    const { text } = await ask('alone', { path, headers: { originator: 'codex_exec' } });

    expect(text).toMatch(/^event: keepalive\ndata: \{"type":"keepalive"\}\n\nevent: response\.created\n/);
    expect((await ask('alone', { path })).text).toMatch(/^: ping\n\nevent: response\.created\n/);
  });
});

describe('a client of Gemini, to which a comment is a part of the next event', () => {
  const path = '/v1beta/models/alone:streamGenerateContent?alt=sse';

  test('gets blank lines while a provider says nothing yet', async () => {
    host.script(late(stream(chatEvents)));

    const { text } = await ask('alone', { path });

    expect(text).toMatch(/^\s+data: \{/);
    expect(text).not.toMatch(/^:/m);
  });

  test('and in its own stream, where that is set', async () => {
    host.script(late(stream(geminiEvents)));

    const { text } = await ask('google', { path: path.replace('alone', 'google') });

    expect(text).toMatch(/^\s+data: \{/);
    expect(text.trimStart()).toBe(geminiEvents.join(''));
  });
});

describe('a failure after the head', () => {
  const refusal = (status: number, message: string) =>
    late((response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ error: { message, type: 'overloaded' } }));
    });

  test('is an error event in the words of the provider, and recorded as a failure', async () => {
    host.script(refusal(400, 'the context is too long for this model'));

    const { text } = await ask('alone');

    expect(text).toMatch(/^: ping\n\nevent: error\n/);
    expect(text).toMatch(/\(cut\)$/);
    expect(eventsIn(text).at(-1)?.error?.message).toBe('the context is too long for this model');
    const record = await gateway.recordWhere(({ outcome }) => outcome === 'failed');
    expect(record).toMatchObject({ status: 200, model: 'alone' });
  });

  test('a connection that breaks is one', async () => {
    host.script(late((response) => response.destroy()));

    expect(eventsIn((await ask('alone')).text).at(-1)?.error?.message).toMatch(/provider/);
  });

  test('a fallback is asked as before', async () => {
    const fails = refusal(503, 'overloaded');
    host.script((response, request) => {
      host.script(stream(chatEvents));
      return fails(response, request);
    });

    const { text } = await ask('translated');

    expect(text).toMatch(/^: ping\n\nevent: message_start\n/);
    expect(eventsIn(text).at(-1)).toMatchObject({ type: 'message_stop' });
  });

  test('a client that leaves ends it, without a word more', async () => {
    host.script(late(stream(chatEvents)));
    const left = new AbortController();
    const answer = await send('alone', { signal: left.signal });
    left.abort();

    await expect(answer.text()).rejects.toThrow();
    const record = await gateway.recordWhere(({ outcome }) => outcome === 'left');
    expect(record).toMatchObject({ model: 'alone' });
  });
});

describe('the answer of a host that never streams', () => {
  afterEach(() => vi.useRealTimers());

  test('is awaited with signs of life, though nothing is translated', () => {
    vi.useFakeTimers();
    const written: string[] = [];
    const exchange = {
      id: 'x',
      record: {},
      spending: {},
      startedMs: 0,
      request: { header: () => undefined },
      response: {
        isClosed: false,
        writeHead: (status: number) => written.push(String(status)),
        flushHead: () => undefined,
        write: (bytes: Buffer) => written.push(bytes.toString()),
      },
    };
    const { chat: dialect } = dialects;
    const endpoint = { name: 'chat', dialectName: 'chat', dialect, call: dialect.methods[0] };
    const provider = { options: { endpoints: new Set(['chat']) }, traitsFor: () => ({}) };
    const routed = { decided: { endpoint, request: { stream: true } }, targets: [{ provider, model: 'm' }] };

    const client = clientAnswer(exchange as unknown as Exchange, routed as unknown as RoutedRequest, '');
    vi.advanceTimersByTime(50_000);
    const before = [...written];
    client.expectWhole();
    vi.advanceTimersByTime(50_000);

    expect(before).toEqual([]);
    expect(written).toEqual(['200', ': ping\n\n']);
    expect(client.stop()).toBe(true);
  });
});
