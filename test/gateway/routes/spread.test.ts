import { describe, expect, test } from 'vitest';
import { messagesCache } from '../../../bench/prompt-caches.mjs';
import { json, messagesAnswer, speakAll } from '../../kit/answers.ts';
import { configFrom, projects, secrets, startGateway, type TestGateway } from '../../kit/gateway.ts';
import { type HostRequest, type Script, type ScriptedHost, startHost } from '../../kit/host.ts';
import { postRaw } from '../../kit/raw.ts';

// Several targets of an entry, and several keys of a provider: who is asked, and when a session moves.

/** A provider in a folder of the host, with two keys; `more` are further settings. */
const twoKeys = (name: string, url: string, more = ', retries: { attempts: 1 }') =>
  `  ${name}: { dialect: anthropic, base_url: "${url}/${name}", api_keys: { work: "\${PROVIDER_KEY}", spare: "\${HEADER_KEY}" }${more} }`;

const oneEntry = (targets: readonly string[], more = '') =>
  `models:\n  - { match: "claude-*", targets: [${targets.map((name) => `{ provider: ${name} }`).join(', ')}]${more} }`;

const names = ['p1', 'p2', 'p3'];
interface Options {
  readonly all?: readonly string[];
  readonly models?: string;
  readonly more?: string;
}

const yamlFor = (host: ScriptedHost, { all = names, models = oneEntry(all), more }: Options = {}) =>
  `server: { port: 0 }\nproviders:\n${all.map((name) => twoKeys(name, host.url, more)).join('\n')}\n${models}\n${projects}`;

/** Who was asked, as `p1/work`. */
function askedOf({ target, headers }: HostRequest): string {
  const key = headers.find(([name]) => name === 'x-api-key')?.[1];
  return `${target.split('/')[1]}/${key === secrets.PROVIDER_KEY ? 'work' : 'spare'}`;
}

interface Asked {
  readonly session?: string | undefined;
  readonly body?: object;
  readonly path?: string;
}

/** Asks in a session; who got it, in order. */
async function ask(
  gateway: TestGateway,
  host: ScriptedHost,
  { session, body = {}, path = '/v1/messages' }: Asked = {},
) {
  const before = host.requests.length;
  const whole = {
    model: 'claude-test',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'hi' }],
    ...body,
  };
  const answer = await postRaw(gateway, path, whole, [
    'content-type: application/json',
    `x-api-key: ${gateway.key}`,
    ...(session === undefined ? [] : [`x-gateway-session: ${session}`]),
  ]);
  const id = answer.headers.get('x-request-id')?.[0];
  const record = await gateway.recordWhere(({ request_id }) => request_id === id);
  const asked = host.requests.slice(before).map(askedOf);
  const { status, headers } = answer;
  return { asked, status, record, text: answer.body.toString(), retryAfter: headers.get('retry-after')?.[0] };
}

/** An error for these, as `p1/work`, with headers; an answer for all others. */
const failing =
  (isMeant: (asked: string) => boolean, status: number, headers: Record<string, string> = {}): Script =>
  (response, request): unknown => {
    if (!isMeant(askedOf(request))) return speakAll(response, request);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    return response.end('{"type":"error","error":{"type":"api_error","message":"no"}}');
  };

async function started(first: Script = speakAll, options: Options = {}) {
  const host = await startHost(first);
  const lines: string[] = [];
  const gateway = await startGateway(yamlFor(host, options), { log: (_, message) => lines.push(message) });
  return { host, gateway, lines, ask: (asked?: Asked) => ask(gateway, host, asked) };
}

describe('a session', () => {
  test('keeps to one target and one key, and sessions are spread over all', async () => {
    const { ask } = await started();

    const firsts = new Set<string>();
    for (let i = 0; i < 40; i += 1) {
      const one = await ask({ session: `s-${i}` });
      const again = await ask({ session: `s-${i}` });
      expect(again.asked).toEqual(one.asked);
      expect(one.asked).toEqual([`${one.record.provider}/${one.record.provider_key}`]);
      firsts.add(one.asked[0] ?? '');
    }

    expect(firsts.size).toBe(6);
  });

  test('moves on a 429, first to the other key, for as long as its host asks to wait', async () => {
    const { host, ask } = await started();
    const [home = ''] = (await ask({ session: 's' })).asked;
    host.script(failing((asked) => asked === home, 429, { 'retry-after': '30' }));

    const moved = await ask({ session: 's' });
    const next = await ask({ session: 's' });

    const other = home.replace(/\w+$/, home.endsWith('work') ? 'spare' : 'work');
    expect(moved).toMatchObject({ asked: [home, other], status: 200 });
    expect(next).toMatchObject({ asked: [other], status: 200 });
    expect(next.record.provider_key).toBe(other.split('/')[1]);
  });

  test('waits for its own target where that is soon over', async () => {
    const { host, ask } = await started(speakAll, { more: ', retries: { attempts: 2 }' });
    const [home = ''] = (await ask({ session: 's' })).asked;
    let refusals = 0;
    host.script((response, request) => {
      refusals += 1;
      const headers = { 'retry-after-ms': '20' };
      return failing(() => refusals === 1, 429, headers)(response, request);
    });

    expect(await ask({ session: 's' })).toMatchObject({ asked: [home, home], status: 200 });
  });

  test('moves while a breaker is open, and not before', async () => {
    const { host, ask } = await started(speakAll, {
      more: ', retries: { attempts: 1 }, breaker: { failures: 2 }',
    });
    const [home = ''] = (await ask({ session: 's' })).asked;
    host.script(failing((asked) => asked === home, 500));

    const failed = [await ask({ session: 's' }), await ask({ session: 's' })];
    const moved = await ask({ session: 's' });

    expect(failed.map(({ asked, status }) => [asked, status])).toEqual([
      [[home], 500],
      [[home], 500],
    ]);
    expect(moved.status).toBe(200);
    expect(moved.asked).not.toContain(home);
  });

  test.each([400, 403, 404, 500, 503])('does not move on a %i', async (status) => {
    const { host, ask } = await started();
    const [home = ''] = (await ask({ session: 's' })).asked;
    host.script(failing(() => true, status));

    expect(await ask({ session: 's' })).toMatchObject({ asked: [home], status });
  });

  test('goes on elsewhere when a reload removes its target, and no other session moves', async () => {
    const { host, gateway, ask } = await started();
    const before = new Map<string, string>();
    for (let i = 0; i < 20; i += 1) before.set(`s-${i}`, (await ask({ session: `s-${i}` })).asked[0] ?? '');

    await gateway.reload(yamlFor(host, { all: ['p1', 'p2'] }));

    for (const [session, home] of before) {
      const { asked, status } = await ask({ session });
      expect(status).toBe(200);
      if (home.startsWith('p3')) expect(asked[0]).toMatch(/^p[12]/);
      else expect(asked).toEqual([home]);
    }
  });
});

describe('a key that its host refuses', () => {
  test('rests, is told of by its name, and none of the keys is in any answer, record or line', async () => {
    const { host, gateway, lines, ask } = await started((response, request) => {
      const isRefused = askedOf(request).endsWith('work');
      response.writeHead(isRefused ? 401 : 200, { 'content-type': 'application/json' });
      const text = `${secrets.PROVIDER_KEY} or ${secrets.HEADER_KEY}`;
      response.end(messagesAnswer.replace('Hello from messages', text));
    });

    const answers = [];
    for (let i = 0; i < 30; i += 1) answers.push(await ask({ session: `s-${i}` }));

    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const refused = host.requests.map(askedOf).filter((asked) => asked.endsWith('work'));
    expect(refused.toSorted()).toEqual(['p1/work', 'p2/work', 'p3/work']);
    expect(lines.filter((line) => line.includes('refuses the key')).toSorted()).toEqual(
      ['p1', 'p2', 'p3'].map(
        (name) =>
          `provider ${name}/work: its host refuses the key (401); requests go to the others, and it is tried again in 5 minutes`,
      ),
    );
    const seen = JSON.stringify([answers, gateway.records, lines]);
    expect(seen).not.toContain(secrets.PROVIDER_KEY);
    expect(seen).not.toContain(secrets.HEADER_KEY);
  });

  test('for what it may not do neither rests nor moves the session: its words reach the client with 403', async () => {
    const { host, lines, ask } = await started();
    const [home] = (await ask({ session: 's' })).asked;
    const message =
      'You have insufficient permissions for this operation. Missing scopes: api.responses.write.';
    const error = { message, type: 'invalid_request_error', code: 'missing_scope' };
    host.script(json(JSON.stringify({ error }), 401));

    const refused = await ask({ session: 's' });
    host.script(speakAll);
    const next = await ask({ session: 's' });

    expect(refused).toMatchObject({ asked: [home], status: 403 });
    expect(refused.text).toContain(message);
    expect(next).toMatchObject({ asked: [home], status: 200 });
    expect(lines.join()).not.toContain('refuses the key');
  });

  test('is the answer where all are refused, and then an error, with the time at which the first is tried again', async () => {
    const { host, ask } = await started(failing(() => true, 401));

    const first = await ask({ session: 's' });
    host.script(speakAll);
    const second = await ask({ session: 's' });

    expect(first).toMatchObject({ status: 502, record: { reason: 'provider.credentials_rejected' } });
    expect(first.asked).toHaveLength(6);
    expect(second).toMatchObject({ asked: [], status: 503 });
    expect(second.text).toMatch(/no target of claude-test is to be asked now.*refused its key/);
    expect(Number(second.retryAfter)).toBeGreaterThan(290);
  });
});

test('where all rest, the error has the earliest time', async () => {
  const waits = [300, 120, 45, 600, 90, 700];
  const { ask } = await started((response, request) => {
    const wait = waits[(request.number - 1) % waits.length];
    return failing(() => true, 429, { 'retry-after': String(wait) })(response, request);
  });

  const refused = await ask({ session: 's' });
  const after = await ask({ session: 'another' });

  expect(refused).toMatchObject({ status: 429 });
  expect(refused.asked).toHaveLength(6);
  expect(after).toMatchObject({ asked: [], status: 503 });
  expect(Number(after.retryAfter)).toBeGreaterThan(30);
  expect(Number(after.retryAfter)).toBeLessThanOrEqual(45);
});

describe('fallbacks', () => {
  const models = oneEntry(['p1', 'p2'], ', fallbacks: [{ provider: p3 }]');

  test('are tried where none of the targets could answer, each with its keys', async () => {
    const { ask } = await started(
      failing((asked) => !asked.startsWith('p3/spare'), 429, { 'retry-after': '60' }),
      { models },
    );

    const { asked, status } = await ask();

    expect(status).toBe(200);
    expect(asked.slice(0, 4).toSorted()).toEqual(['p1/spare', 'p1/work', 'p2/spare', 'p2/work']);
    expect(asked.at(-1)).toBe('p3/spare');
  });

  test('are tried after the one target that failed', async () => {
    const { ask } = await started(
      failing((asked) => !asked.startsWith('p3'), 500),
      { models },
    );

    const { asked, status } = await ask();

    expect(status).toBe(200);
    expect(asked).toHaveLength(2);
    expect(asked[1]).toMatch(/^p3/);
  });
});

test('without a session requests go by weight, and none waits for a target', async () => {
  const models =
    'models:\n  - { match: "claude-*", targets: [{ provider: p1, weight: 9 }, { provider: p2, weight: 1 }] }';
  const { host, ask } = await started(speakAll, { models });
  for (let i = 0; i < 100; i += 1) await ask();
  const first = host.requests.filter((request) => askedOf(request).startsWith('p1')).length;
  const count = host.requests.length;
  host.script(failing((asked) => asked.startsWith('p1'), 429, { 'retry-after': '2' }));

  for (let i = 0; i < 10; i += 1) expect((await ask()).status).toBe(200);

  expect(first).toBeGreaterThan(70);
  const refused = host.requests
    .slice(count)
    .map(askedOf)
    .filter((asked) => asked.startsWith('p1'));
  expect(refused.length).toBeLessThanOrEqual(2);
});

test('a conversation that one target keeps is not sent to any other', async () => {
  const { ask } = await started();
  const body = { thread: 'thread_1' };

  expect(await ask({ session: 's', body })).toMatchObject({ status: 200 });
  const anywhere = await ask({ body });
  expect(anywhere).toMatchObject({ asked: [], status: 400 });
  expect(anywhere.text).toContain('thread_unsupported_request');
});

describe('what one account keeps', () => {
  const item = (content: object) => ({ messages: [{ role: 'user', content: [content] }] });
  const upload = (id: string) => item({ type: 'document', source: { type: 'file', file_id: id } });
  const call = {
    type: 'tool_use',
    id: 't',
    name: 'open',
    input: { file_id: 'file_1', image_url: 'https://x.example' },
  };
  const picture = item({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } });

  test.each<[string, object]>([
    ['file_id', upload('file_1')],
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: 'conv_1' }],
    ['container', { container: 'container_1' }],
  ])('is asked for at the place of its session alone: %s', async (name, body) => {
    const { host, ask } = await started();
    const [home = ''] = (await ask({ session: 's' })).asked;

    expect(await ask({ session: 's', body })).toMatchObject({ asked: [home], status: 200 });
    const anywhere = await ask({ body });
    expect(anywhere).toMatchObject({ asked: [], status: 400 });
    expect(anywhere.text).toContain(`${name}: only the account that keeps what it names knows it`);
    expect(anywhere.text).toContain('x-gateway-session');

    host.script(failing((asked) => asked === home, 429, { 'retry-after': '30' }));
    expect(await ask({ session: 's', body })).toMatchObject({ asked: [home], status: 429 });
    const resting = await ask({ session: 's', body });
    expect(resting).toMatchObject({ asked: [], status: 503 });
    expect(Number(resting.retryAfter)).toBeGreaterThan(25);
  });

  test.each<[string, object]>([
    ['a URL', picture],
    [
      "a tool's own input",
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: [call] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'ok' }] },
        ],
      },
    ],
    [
      'a tool that has such a parameter',
      {
        tools: [
          { name: 'open', input_schema: { type: 'object', properties: { file_id: { type: 'string' } } } },
        ],
      },
    ],
  ])('is not %s', async (_, body) => {
    const { ask } = await started();

    expect(await ask({ body })).toMatchObject({ status: 200 });
  });

  test('is not asked for at a fallback', async () => {
    const more = ', fallbacks: [{ provider: p2 }]';
    const models = `models:\n  - { match: "claude-*", provider: p1${more} }`;
    const { ask } = await started(
      failing((asked) => asked.startsWith('p1'), 503),
      { models },
    );
    const single = { session: 's', body: { previous_response_id: 'resp_1' } };

    expect(await ask({ session: 's' })).toMatchObject({ status: 200 });
    const kept = await ask(single);
    expect(kept.status).toBe(503);
    expect(kept.asked.every((asked) => asked.startsWith('p1'))).toBe(true);
  });
});

test('prompt caches serve as much as with one target, under 429s', async () => {
  const words = 'so it was said, and so it was written down for those who came later. '.repeat(40);
  const turnsOf = (session: number, turns: number) =>
    Array.from({ length: turns }, (_, i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content: [
        {
          type: 'text',
          text: `${session}/${i} ${words}${i === 0 ? words.repeat(6) : ''}`,
          ...(i === turns - 1 && { cache_control: { type: 'ephemeral' } }),
        },
      ],
    }));
  const [sessions, turns] = [24, 12];

  /** The bytes that the hosts' caches had, of those that were sent; a cache is one key's at one host. */
  const served = async (all: readonly string[], refusal: (request: HostRequest) => number | undefined) => {
    const cache = messagesCache();
    let cached = 0;
    let refused = 0;
    const { ask } = await started(
      (response, request) => {
        const waitMs = refusal(request);
        if (waitMs !== undefined) {
          refused += 1;
          const headers = { 'retry-after-ms': String(waitMs) };
          return failing(() => true, 429, headers)(response, request);
        }
        const body = JSON.parse(request.body.toString());
        const { target } = request;
        cached += cache({ headers: { authorization: askedOf(request) }, target, body }).cached;
        return speakAll(response, request);
      },
      { all, more: ', retries: { attempts: 3, budget: 1 }' },
    );
    for (let turn = 1; turn <= turns; turn += 1) {
      for (let session = 0; session < sessions; session += 1) {
        const body = { messages: turnsOf(session, 2 * turn - 1) };
        expect((await ask({ session: `s-${session}`, body })).status).toBe(200);
      }
    }
    return { cached, refused };
  };
  // Of the six keys one asks for a long wait, and all of them now and then for a short one.
  let isExhausted = false;
  const refusal = ({ number }: HostRequest): number | undefined => {
    if (number > 100 && !isExhausted) {
      isExhausted = true;
      return 60_000;
    }
    return number % 15 === 0 ? 10 : undefined;
  };

  const one = await served(['p1'], ({ headers }) => (headers.length < 0 ? 0 : undefined));
  const three = await served(names, refusal);

  console.log(`${((100 * three.cached) / one.cached).toFixed(1)} % of what one target's cache has`);
  expect(one.refused).toBe(0);
  expect(three.refused).toBeGreaterThan(15);
  expect(three.cached / one.cached).toBeGreaterThan(0.95);
});

describe('the configuration', () => {
  const hosts = `providers:\n${twoKeys('p1', 'http://127.0.0.1:9')}\n  p2: { dialect: anthropic, base_url: "http://127.0.0.1:9" }\n`;
  const problemsOf = async (yaml: string) =>
    configFrom(`${yaml}\n${projects}`).then(
      () => '',
      (error: Error) => error.message,
    );

  test.each([
    ['targets: [{ provider: p1 }, { provider: p1 }]', 'is the same as target 0'],
    ['targets: [{ provider: p1, weight: 0 }, { provider: p2 }]', 'weight'],
    ['targets: [{ provider: p1, weight: -1 }]', 'weight'],
    ['targets: []', 'targets'],
    ['targets: [{ provider: p1 }], provider: p2', 'stands beside targets'],
    ['targets: [{ provider: p1 }], set: { temperature: 1 }', 'stands beside targets'],
    ['targets: [{ provider: gone }]', 'there is no provider gone'],
    ['context_window: 5', 'names no provider'],
  ])('refuses an entry with %s', async (entry, message) => {
    expect(await problemsOf(`${hosts}models:\n  - { match: "claude-*", ${entry} }`)).toContain(message);
  });

  test.each([
    [`api_keys: {}`, 'names no key'],
    [`api_keys: { a: "\${PROVIDER_KEY}", b: "\${PROVIDER_KEY}" }`, 'is the same key as a'],
    [`api_keys: { a: "\${PROVIDER_KEY}" }, api_key: "\${HEADER_KEY}"`, 'stands beside api_keys'],
    [`api_keys: { a: "\${PROVIDER_KEY}" }, credentials: client`, "client's own credential"],
    [`api_keys: []`, 'names no key'],
    [`api_keys: [{ work: "\${PROVIDER_KEY}" }]`, 'api_keys'],
    [`api_keys: ["\${PROVIDER_KEY}", "\${PROVIDER_KEY}"]`, 'is the same key as provider_key'],
    [`api_keys: ["\${PROVIDER_KEY}", "a b"]`, 'without spaces'],
  ])('refuses a provider with %s', async (settings, message) => {
    const yaml = `providers:\n  p1: { dialect: anthropic, ${settings} }\nmodels:\n  - { match: "claude-*", provider: p1 }`;

    expect(await problemsOf(yaml)).toContain(message);
  });

  test('takes a list of keys, which have the names of their variables', async () => {
    const host = await startHost(json(messagesAnswer));
    const keys = `["\${PROVIDER_KEY}", "\${HEADER_KEY}", "\${NOT_SET}", "written-key"]`;
    const yaml = `server: { port: 0 }\nproviders:\n  p1: { dialect: anthropic, base_url: "${host.url}/p1", api_keys: ${keys} }\nmodels:\n  - { match: "claude-*", provider: p1 }\n${projects}`;
    const gateway = await startGateway(yaml);

    const used = new Set<unknown>();
    for (let i = 0; i < 60; i += 1) {
      used.add((await ask(gateway, host, { session: `s-${i}` })).record.provider_key);
    }

    expect([...used].sort()).toEqual(['header_key', 'key-4', 'provider_key']);
  });

  test('does without a key whose variable is not set, and says so', async () => {
    const host = await startHost(json(messagesAnswer));
    const yaml = `server: { port: 0 }\nproviders:\n  p1: { dialect: anthropic, base_url: "${host.url}/p1", api_keys: { work: "\${PROVIDER_KEY}", gone: "\${NOT_SET}" } }\nmodels:\n  - { match: "claude-*", provider: p1 }\n${projects}`;
    const gateway = await startGateway(yaml);

    for (let i = 0; i < 5; i += 1)
      expect((await ask(gateway, host, { session: `s-${i}` })).asked).toEqual(['p1/work']);
  });
});
