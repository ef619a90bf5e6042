import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { GatewayError } from '../../../src/errors.ts';
import {
  decideRequest,
  type RequestDecision,
  requestMeta,
} from '../../../src/gateway/decision/decide-request.ts';
import {
  createDecider,
  type Decider,
  requestThreadBytes,
  threadBytes,
} from '../../../src/gateway/decision/decider.ts';
import {
  type PassedTranslation,
  type TranslatedRequest,
  translateRequest,
  type UntranslatedRequest,
} from '../../../src/gateway/decision/translate-request.ts';
import { endpoints, type ModelEndpoint } from '../../../src/gateway/endpoints.ts';
import { parseRequest } from '../../../src/gateway/request.ts';
import { findDemand } from '../../../src/gateway/spending/demand.ts';
import { Lifetime } from '../../../src/lib/lifetime.ts';
import type { PolicySet } from '../../../src/policy/policy-set.ts';
import { noRoute } from '../../../src/policy/routes.ts';
import type { ExchangeRecord } from '../../../src/record/record.ts';
import { dialectCases, requestFor, speakAll } from '../../kit/answers.ts';
import { post, secrets } from '../../kit/gateway.ts';
import { startHost } from '../../kit/host.ts';
import { configOf, gatewayConfigOf, serveConfig } from '../../kit/served-config.ts';

const dyingEntry = new URL('../../fixtures/threads/dying-worker.mjs', import.meta.url);
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const policyYaml = `
policies:
  house:
    apply: all
    rules:
      - { id: codename, action: block, when: { text: { phrases: ["project nightfall"], match: folded } }, reason: content.codename }
      - { id: mails, action: redact, when: { text: { detect: [email] } }, reason: content.email }
      - { id: dry, action: block, mode: monitor, when: { text: { phrases: ["dry run"] } }, reason: content.dry }
      - { id: tickets, action: warn, when: { text: { phrases: ["see ticket"] } }, reason: content.ticket }
      - { id: answers, action: block, when: { text: { phrases: ["hello from"] }, model: ["claude-*"] }, apply_to: [response], reason: content.answer }`;

interface Started {
  readonly decider: Decider;
  readonly policies: PolicySet;
  /** Decides on a body as one that came to an endpoint. */
  readonly ask: (body: Buffer, path?: string, lifetime?: Lifetime) => Promise<RequestDecision>;
}

let shared: Promise<Started> | undefined;
afterAll(async () => (await shared)?.decider.close());

/** One whose thread is used by all that don't end it. */
function sharedDecider(): Promise<Started> {
  shared ??= create();
  return shared;
}

async function started(entry?: URL): Promise<Started> {
  const made = await create(entry);
  closing.push(() => made.decider.close());
  return made;
}

async function create(entry?: URL): Promise<Started> {
  const config = await configOf(policyYaml);
  const names = { models: [], providers: [] };
  const decider = createDecider({ source: config.policySource, names, entry });
  const policies = config.keys.find(secrets.PROJECT_KEY)?.policies;
  if (policies === undefined) throw new Error('no key');
  const ask = async (body: Buffer, path = '/v1/messages', lifetime = new Lifetime()) =>
    decider.decideRequest(policies, { ...about, body, endpoint: endpointAt(path) }, lifetime);
  return { decider, policies, ask };
}

const about = { key: { id: 'web', project: 'shop' }, sender: {}, nowMs: 1_000 };

function passed(translated: TranslatedRequest): PassedTranslation {
  if (translated.kind === 'passed') return translated;
  throw new Error(translated.decision.refusal.message);
}

function decideHere(policies: PolicySet, body: Buffer, endpoint: ModelEndpoint): RequestDecision {
  const request = parseRequest(body, endpoint);
  return decideRequest(policies, request, {
    endpoint,
    meta: requestMeta(request, { ...about, endpoint, route: undefined }),
    plan: { candidates: [], fixed: noRoute },
  });
}

const endpointAt = (path: string) => endpoints.get(path) as ModelEndpoint; // those asked for here are all of models

/** What is thrown, or what a promise is rejected with. */
async function failureOf(run: () => unknown): Promise<GatewayError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

/** A body above the threshold that says something at its end; its own memory, as `readBody` gives it. */
function largeBody(dialect: 'messages' | 'chat' | 'responses', model: string, text: string): Buffer {
  const said = `${'nothing to see here, é. '.repeat(45_000)}${text}`;
  const turns = [{ role: 'user', content: said }];
  const body = JSON.stringify(
    requestFor(dialect, model, dialect === 'responses' ? { input: said } : { messages: turns }),
  );
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(body));
  bytes.write(body);
  return bytes;
}

describe.each(dialectCases)('$dialect', ({ dialect, path, model }) => {
  const texts = [
    ['nothing', 'allow'],
    ['about Project  NIGHTFALL', 'block'],
    ['the key project-key-0123456789', 'block'],
    ['write to rosa@example.org or tom@example.org', 'redact'],
    ['a dry run', 'allow'],
    ['see ticket 5', 'warn'],
  ] as const;

  test.each(dialect === 'messages' ? texts : texts.slice(2, 4))(
    'a large body that says %j gets the same decision in the thread as here',
    async (text, action) => {
      const { decider, policies } = await sharedDecider();
      const endpoint = endpointAt(path);
      const body = largeBody(dialect, model, text);
      const { microseconds: _, ...here } = decideHere(policies, Buffer.from(body), endpoint);

      const there = await decider.decideRequest(policies, { ...about, body, endpoint }, new Lifetime());
      expect(body.length).toBe(0); // its memory has moved, so it was the thread that read it
      expect(there.decision.action).toBe(action);
      const { redacted, ...decision } = here.decision;
      expect(there.decision).toEqual(decision);
      expect(there.kind).toBe(here.kind);
      if (there.kind === 'blocked' || here.kind === 'blocked') return;
      expect(there.answerRules).toEqual(here.answerRules);
      expect(there.request.document.bytes.equals(redacted?.bytes ?? here.request.document.bytes)).toBe(true);
      const demand = findDemand(here.request.document, endpoint);
      expect({ ...there.request, document: 0 }).toEqual({
        ...here.request,
        document: 0,
        demand,
        askedModes: [],
        mayHaveSeals: false,
      });
      expect(there.request.document.count).toBe(here.request.document.count);
      expect([there.request.document.member(0, 'model')]).toEqual(here.request.modelEntries);
    },
  );
});

describe('a large request for a host of another dialect', () => {
  const sentence = 'nothing to see here, é. '.repeat(45_000);
  const untranslated = (text: string): UntranslatedRequest => ({
    body: Buffer.from(
      JSON.stringify({
        model: 'm',
        input: `${sentence}${text}`,
        instructions: 'Be brief.',
        tools: [
          { type: 'custom', name: 'apply patch' },
          { type: 'function', name: 'list', parameters: { type: 'object' } },
        ],
      }),
    ),
    from: 'responses',
    to: 'messages',
    context: { requestedModel: 'm', targetModel: 't', host: 'anthropic', origin: 'o', createdS: 1 },
    meta: {
      ...about.key,
      key: 'web',
      endpoint: 'responses',
      model: 'm',
      targetModels: [],
      stream: false,
      nowMs: 1,
    },
  });
  const answer = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'c1', name: '', input: { input: 'x' } }],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
  };

  test('that a rule blocks is blocked in the thread as here', async () => {
    const { decider, policies } = await sharedDecider();
    const request = untranslated('about Project NIGHTFALL');
    const { microseconds: _, ...own } = translateRequest(policies, request);

    const there = await decider.translateRequest(policies, request, new Lifetime());

    expect(there).toMatchObject({ ...own, kind: 'blocked' });
  });

  test.each(['about nothing', 'write to rosa@example.org'])(
    'that says %j becomes the same in the thread as here',
    async (text) => {
      const { decider, policies } = await sharedDecider();
      const { translation: ownTranslation, ...own } = passed(translateRequest(policies, untranslated(text)));
      const { redacted: _redacted, ...decision } = own.decision;

      const request = untranslated(text);
      const { translation, ...there } = passed(
        await decider.translateRequest(policies, request, new Lifetime()),
      );

      expect(request.body.length).toBeGreaterThan(threadBytes); // another target may need it
      expect(there.decision).toEqual(decision);
      expect(there.body.equals(own.body)).toBe(true);
      expect(there.dropped).toEqual(own.dropped);
      const [{ name }] = JSON.parse(own.body.toString()).tools;
      const spoken = { ...answer, content: [{ ...answer.content[0], name }] };
      const plain = (made: unknown) => JSON.stringify(made).replaceAll(/_[0-9a-f]{24}/g, '');
      expect(plain(translation.answer(spoken))).toBe(plain(ownTranslation.answer(spoken)));
      expect(plain(translation.answer(spoken))).toContain('"name":"apply patch"');
      expect(plain(translation.answer(spoken))).toContain('Be brief.');
    },
  );

  test('whose answer would repeat more than an event may have repeats nothing of it', async () => {
    const { decider, policies } = await sharedDecider();
    const request = untranslated('');
    const long = JSON.parse(Buffer.from(request.body).toString());
    const body = Buffer.from(JSON.stringify({ ...long, input: 'hello', instructions: long.input }));

    const { translation } = passed(
      await decider.translateRequest(policies, { ...request, body }, new Lifetime()),
    );

    expect(translation.answer(answer)).toMatchObject({ body: { instructions: null, tools: [] } });
  });

  test('that cannot be translated is refused in the same words', async () => {
    const { decider, policies } = await sharedDecider();
    const request = untranslated('');
    const body = Buffer.from(
      request.body.toString().replace('"model"', '"previous_response_id":"r","model"'),
    );
    const untranslatable = { ...request, body };

    const here = await failureOf(() => translateRequest(policies, untranslatable));
    const there = await failureOf(() => decider.translateRequest(policies, untranslatable, new Lifetime()));

    expect(there).toMatchObject({ code: 'request.unsupported', param: 'previous_response_id' });
    expect(there.message).toBe(here.message);
  });
});

test.each([
  ['not JSON', (text: string) => `${text.slice(0, -1)}`, { code: 'request.invalid_json' }],
  [
    'a key twice',
    (text: string) => `${text.slice(0, -1)},"model":"x"}`,
    { code: 'request.duplicate_key', param: '/model' },
  ],
])('a large body that is %s is refused in the same words', async (_name, spoil, expected) => {
  const { ask } = await sharedDecider();
  const text = spoil(largeBody('messages', 'claude-test', 'x').toString());

  const here = await failureOf(() => parseRequest(Buffer.from(text), endpointAt('/v1/messages')));
  const there = await failureOf(() => ask(Buffer.from(text)));

  expect(there).toMatchObject(expected);
  expect(there.message).toBe(here.message);
});

// Each is small, and takes longer to decide on than others may wait; a thread adds what later steps ask of the document.
test.each([
  ['a long text that a detector reads', `${'nobody@ '.repeat(12_000)}rosa@example.org`],
  [
    'a text for each of many blocks',
    Array.from({ length: 4_000 }, (_, at) => ({ type: 'text', text: `mail u${at}@example.org` })),
  ],
])('a small body of %s is decided on in a thread', async (_, content) => {
  const { ask, policies } = await sharedDecider();
  const turns = [{ role: 'user', content }];
  const body = Buffer.from(JSON.stringify(requestFor('messages', 'claude-test', { messages: turns })));
  const clock = vi.spyOn(performance, 'now');
  // Time passes as if the machine were slow.
  for (let ms = 0; ms < 100; ms += 1) clock.mockReturnValueOnce(ms);
  const here = decideHere(policies, body, endpointAt('/v1/messages'));
  clock.mockReset();
  for (let ms = 0; ms < 100; ms += 1) clock.mockReturnValueOnce(ms);

  const there = await ask(body);
  clock.mockRestore();

  expect(body.length).toBeLessThan(threadBytes);
  expect(there.request).toHaveProperty('demand');
  expect(there.decision.action).toBe('redact');
  expect(there.request.document.bytes.equals(here.decision.redacted?.bytes ?? body)).toBe(true);
});

test('a body that takes long to parse is given up meanwhile, and decided on in a thread', async () => {
  const { ask, policies } = await sharedDecider();
  const deep = '['.repeat(50) + ']'.repeat(50);
  const text = JSON.stringify(requestFor('messages', 'claude-test', { x: 0 }));
  const body = Buffer.from(text.replace('"x":0', `"x":[${`${deep},`.repeat(4_000)}0]`));
  const { length } = body;
  const here = decideHere(policies, body, endpointAt('/v1/messages'));
  const clock = vi.spyOn(performance, 'now');
  for (let ms = 0; ms < 1_000; ms += 30) clock.mockReturnValueOnce(ms);

  const there = await ask(body);
  clock.mockRestore();

  expect(length).toBeGreaterThan(threadBytes);
  expect(length).toBeLessThan(requestThreadBytes);
  expect(there.request).toHaveProperty('demand');
  expect(there.decision).toEqual(here.decision);
});

test('small bodies start no thread', async () => {
  const { decider, policies } = await started();
  let threads = 0;
  const count = () => {
    threads += 1;
  };
  process.on('worker', count);
  const body = Buffer.from(
    JSON.stringify(requestFor('messages', 'claude-test', { x: 'words '.repeat(threadBytes / 24) })),
  );

  const endpoint = endpointAt('/v1/messages');
  const decide = () => decider.decideRequest(policies, { ...about, body, endpoint }, new Lifetime());
  // Warm, it takes a twentieth of the time after which a thread takes over, which a busy machine needs for the first one.
  for (let i = 0; i < 10; i += 1) await decide();
  threads = 0;
  const { decision } = await decide();
  process.off('worker', count);

  expect(decision.action).toBe('allow');
  expect(threads).toBe(0);
});

test('a client that leaves is removed from the queue, and those after it are served', async () => {
  const { ask } = await started();
  const lifetimes = [new Lifetime(), new Lifetime(), new Lifetime()];
  const reading = lifetimes.map((lifetime) =>
    ask(largeBody('messages', 'claude-test', 'x'), '/v1/messages', lifetime),
  );

  for (const lifetime of lifetimes.slice(0, 2))
    lifetime.end(new GatewayError('client.left', 'the client left'));

  // The first was running, the second waited.
  expect(await Promise.allSettled(reading)).toMatchObject([
    { status: 'rejected', reason: { code: 'client.left' } },
    { status: 'rejected', reason: { code: 'client.left' } },
    { status: 'fulfilled', value: { request: { model: 'claude-test' } } },
  ]);
});

async function serve() {
  const host = await startHost(speakAll);
  const config = await gatewayConfigOf(`
providers: { host: { dialect: anthropic, base_url: "${host.url}" } }
models: [{ match: "*", provider: host }]${policyYaml}`);
  const records: ExchangeRecord[] = [];
  const server = await serveConfig(config, { record: (record) => records.push(record) });
  return { server, records, hostRequests: host.requests };
}

test('over the wire a large body is refused with its pointer, redacted, and recorded like any other', async () => {
  const { server, records, hostRequests } = await serve();
  const { url } = server;
  const said = async (text: string, model = 'gpt-test') => {
    const body = largeBody('messages', model, text).toString();
    return (await post({ url, key: secrets.PROJECT_KEY }, '/v1/messages', body)).json();
  };

  const blocked = await said('project nightfall');
  await said('rosa@example.org');
  await said('a dry run');
  const answer = await said('hi', 'claude-test');

  expect(blocked).toMatchObject({ error: { reason: 'content.codename', param: '/messages/0/content' } });
  expect(answer).toMatchObject({ error: { reason: 'content.answer' } });
  expect(hostRequests).toHaveLength(3);
  expect(hostRequests[0]?.body.includes('[REDACTED:content.email]')).toBe(true);
  expect(hostRequests[0]?.body.includes('rosa@example.org')).toBe(false);
  expect(records).toMatchObject([
    { status: 403, decision: 'block', rules: [{ id: 'codename', at: '/messages/0/content' }] },
    { status: 200, decision: 'redact', body: 'redacted' },
    { status: 200, decision: 'allow', body: 'exact', would_block: ['dry'] },
    { status: 403, decision: 'allow' },
  ]);
  for (const { bytes_in, policy_us } of records) {
    expect(bytes_in).toBeGreaterThan(threadBytes);
    expect(policy_us).toBeGreaterThan(0);
  }
});

test('when the thread dies, its request is refused, every time', async () => {
  const { ask } = await started(dyingEntry);
  const body = () => largeBody('messages', 'claude-test', 'x');

  await expect(ask(body())).rejects.toMatchObject({ code: 'policy.error' });
  await expect(ask(body())).rejects.toMatchObject({ code: 'policy.error' });
});

test('ending the decider refuses requests that still wait', async () => {
  const { decider, ask } = await started();
  const waiting = [1, 2, 3].map(() =>
    ask(largeBody('messages', 'claude-test', 'x')).catch((thrown: unknown) => thrown),
  );

  await decider.close();

  for (const outcome of await Promise.all(waiting)) expect(outcome).toMatchObject({ code: 'policy.error' });
});
