import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, test, vi } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { CheckCalls } from '../../src/gateway/checks/check-calls.ts';
import { tryTask } from '../../src/inspector/tasks/decision-task.ts';
import { Lifetime } from '../../src/lib/lifetime.ts';
import { CheckBook, type CheckService, Unchecked } from '../../src/policy/checks/check-book.ts';
import { speakAll } from '../kit/answers.ts';
import { answerJson, type Checker, findNames, presidio, startChecker, textsOf } from '../kit/checker.ts';
import { command } from '../kit/command.ts';
import { configFrom, projects, secrets, startGateway, type TestGateway } from '../kit/gateway.ts';
import { lastBody, type Script, startHost } from '../kit/host.ts';
import { deadUrl } from '../kit/listening.ts';
import { homeWith } from '../kit/own-configuration.ts';
import { freePort, untilListening } from '../kit/ports.ts';
import { postRaw } from '../kit/raw.ts';
import { closeAtEnd } from '../kit/started.ts';

// Rules and routes that ask a service from outside about the texts of a request.

const host = await startHost(speakAll);
const local = await startHost(speakAll);

const providers = `
server: { port: 0 }
providers:
  claude: { dialect: anthropic, base_url: "${host.url}", api_key: "\${PROVIDER_KEY}", retries: { attempts: 1 }, breaker: { failures: 1000 } }
  gpt: { dialect: openai, base_url: "${host.url}/v1", api_key: "\${PROVIDER_KEY}", endpoints: [chat], retries: { attempts: 1 }, breaker: { failures: 1000 } }
  own: { dialect: openai, base_url: "${host.url}/v1", api_key: "\${PROVIDER_KEY}", endpoints: [responses], retries: { attempts: 1 } }
  here: { dialect: anthropic, base_url: "${local.url}", retries: { attempts: 1 }, breaker: { failures: 1000 } }
`;
const models = `models:
  - { match: "claude-*", provider: claude }
  - { match: "gpt-*", provider: gpt }
  - { match: "own-*", provider: own }
`;

const rule = (checker: Pick<Checker, 'url'>, { action = 'block', more = '', check = '' } = {}) =>
  `policies:\n  house:\n    apply: all\n    rules:\n      - { id: people, action: ${action}, reason: content.person, when: { check: { url: "${checker.url}"${check} } }${more} }\n`;

const started = (policies: string, list = models) =>
  startGateway(`${providers}${list}${policies}${projects}`);

interface Asked {
  readonly body?: object;
  readonly path?: string;
}

async function ask(gateway: TestGateway, text: string, { body = {}, path = '/v1/messages' }: Asked = {}) {
  const before = host.requests.length;
  const whole = { model: 'claude-test', max_tokens: 9, messages: [{ role: 'user', content: text }], ...body };
  const answer = await postRaw(gateway, path, whole, [
    'content-type: application/json',
    `x-api-key: ${gateway.key}`,
  ]);
  const id = answer.headers.get('x-request-id')?.[0];
  const record = await gateway.recordWhere(({ request_id }) => request_id === id);
  const sent = host.requests.length > before ? lastBody(host) : undefined;
  return { status: answer.status, text: answer.body.toString(), record, sent };
}

/** A classifier, which says something of the whole text. */
const whole: Script = (response, request) =>
  answerJson(response, {
    findings: textsOf(request).map((text) => [{ start: 0, end: text.length, kind: 'secret' }]),
  });

describe('a rule that asks a service', () => {
  test('blocks what it finds, and says which kind, but not what', async () => {
    const checker = await startChecker();
    const gateway = await started(rule(checker));

    const { status, text, record } = await ask(gateway, 'Write to Erika Muster');

    expect(status).toBe(403);
    expect(text).toContain('content.person');
    expect(text).not.toContain('Erika');
    expect(record.rules).toMatchObject([{ id: 'people', action: 'block', at: '/messages/0/content' }]);
    expect(await ask(gateway, 'Write to nobody')).toMatchObject({ status: 200 });
  });

  test('asks about a long conversation in several calls, and after a failure only about the rest', async () => {
    let answers = 2;
    const checker = await startChecker((response, request) => {
      answers -= 1;
      if (answers < 0) response.writeHead(503).end();
      else findNames(response, request);
    });
    const gateway = await started(rule(checker));
    const messages = Array.from({ length: 8 }, (_, i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content: `${i} ${'word '.repeat(20_000)}`,
    })).concat({ role: 'user', content: 'and now?' });

    const first = await ask(gateway, '', { body: { messages } });
    const before = checker.calls.length;
    answers = 100;
    const second = await ask(gateway, '', { body: { messages } });

    expect(first).toMatchObject({ status: 403, sent: undefined });
    expect(second.status).toBe(200);
    expect(before).toBe(3);
    expect(checker.calls.slice(before).flat()).toHaveLength(5);
  });

  test('asks about a text that many requests have once or a few times, eight at once at most', async () => {
    let open = 0;
    let most = 0;
    const checker = await startChecker(async (response, request) => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setTimeout(resolve, 30));
      open -= 1;
      findNames(response, request);
    });
    const gateway = await started(rule(checker));

    const answers = await Promise.all(Array.from({ length: 30 }, () => ask(gateway, 'the same text')));

    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(most).toBeLessThanOrEqual(8);
    expect(checker.calls.length).toBeLessThanOrEqual(8);
  });

  test('finds the place that Presidio names far behind pairs of units', async () => {
    const checker = await startChecker(presidio);
    const gateway = await started(rule(checker, { action: 'redact', check: ', api: presidio' }));

    const { sent } = await ask(gateway, `${'😀a'.repeat(3_000)} Erika Muster.`);

    expect(JSON.stringify(sent)).toContain('a [REDACTED:content.person].');
  });

  test('asks about all new texts in one call, and about none a second time', async () => {
    const checker = await startChecker();
    const gateway = await started(rule(checker));
    const turns = [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'three' },
          { type: 'text', text: 'one' },
        ],
      },
    ];

    await ask(gateway, '', { body: { system: 'zero', messages: turns } });
    await ask(gateway, '', { body: { system: 'zero', messages: turns } });
    const more = [...turns, { role: 'assistant', content: 'four' }, { role: 'user', content: 'five' }];
    await ask(gateway, '', { body: { system: 'zero', messages: more } });

    expect(checker.calls).toEqual([
      ['zero', 'one', 'two', 'three'],
      ['four', 'five'],
    ]);
  });

  test('redacts what it finds', async () => {
    const checker = await startChecker();
    const gateway = await started(rule(checker, { action: 'redact' }));

    const { sent, record } = await ask(gateway, 'Erika Muster works at Nordlicht, says Erika Muster.');

    expect(sent.messages[0].content).toBe(
      '[REDACTED:content.person] works at [REDACTED:content.person], says [REDACTED:content.person].',
    );
    expect(record.decision).toBe('redact');
  });

  test('finds what stands beside a label, but not a label', async () => {
    const checker = await startChecker(whole);
    const gateway = await started(rule(checker));

    expect((await ask(gateway, 'The Erika Muster file [REDACTED:x]')).status).toBe(403);
    expect((await ask(gateway, '[REDACTED:content.person], [REDACTED:content.person]')).status).toBe(200);
    expect((await ask(gateway, '[REDACTED:erika.muster]')).status).toBe(403);
  });

  test('redacts all of a text that a service finds as a whole', async () => {
    const checker = await startChecker(whole);
    const gateway = await started(rule(checker, { action: 'redact' }));

    const { sent } = await ask(gateway, 'The Erika Muster file [REDACTED:x]');

    expect(sent.messages[0].content).toBe('[REDACTED:content.person]');
  });

  test('masks what it finds, and the answer has it again', async () => {
    const checker = await startChecker();
    const gateway = await started(rule(checker, { action: 'mask', check: ', kinds: [person]' }));
    host.script((response, request) => {
      const said = JSON.parse(request.body.toString()).messages[0].content;
      const content = [{ type: 'text', text: `You said: ${said}` }];
      answerJson(response, {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'claude-test',
        content,
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      });
    });

    const { sent, text } = await ask(gateway, 'Erika Muster works at Nordlicht.');
    host.script(speakAll);

    expect(sent.messages[0].content).toMatch(/^PERSON_\w+ works at Nordlicht\.$/);
    expect(text).toContain('You said: Erika Muster works at Nordlicht.');
  });

  test('is asked in Presidio’s words too, which count characters', async () => {
    const checker = await startChecker(presidio);
    const gateway = await started(
      rule(checker, { action: 'redact', check: ', api: presidio, language: de, kinds: [PERSON]' }),
    );

    const { sent } = await ask(gateway, '😀😀 Erika Muster, Nordlicht 😀');

    expect(sent.messages[0].content).toBe('😀😀 [REDACTED:content.person], Nordlicht 😀');
  });

  test('finds in a large body, in another thread, what it finds here', async () => {
    const checker = await startChecker();
    const gateway = await started(rule(checker, { action: 'redact' }));
    const filler = Array.from({ length: 40 }, (_, i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content: `${i} ${'so it was said. '.repeat(1_000)}`,
    }));
    const messages = [...filler, { role: 'user', content: 'Ask Erika Muster' }];

    const first = await ask(gateway, '', { body: { messages } });
    const calls = checker.calls.length;
    const second = await ask(gateway, '', { body: { messages } });

    expect(first.status).toBe(200);
    expect(first.sent.messages.at(-1).content).toBe('Ask [REDACTED:content.person]');
    expect(second.sent).toEqual(first.sent);
    expect(checker.calls.length).toBe(calls);
    // All of them, and the one that was redacted.
    expect(checker.calls.flat()).toHaveLength(42);
  });

  test.each([
    ['small', 'so it was said. '],
    ['large', 'so it was said. '.repeat(20_000)],
  ])(
    'sets the cap of a %s request without one where it finds something, and nowhere else',
    async (_, said) => {
      const checker = await startChecker();
      const gateway = await started(
        `policies: { house: { apply: all, rules: [{ id: people, action: block, reason: content.person, when: { max_output_tokens: { over: 500 }, check: { url: "${checker.url}" } } }] } }\n`,
      );
      const cap = async (text: string, body: object) =>
        (await ask(gateway, said + text, { body })).sent.max_tokens;

      expect(await cap('Ask Erika Muster', { max_tokens: undefined })).toBe(500);
      expect(await cap('Ask nobody', { max_tokens: undefined })).toBe(4_096);
      expect(await cap('Ask Erika Muster', { max_tokens: 9 })).toBe(9);
    },
  );

  test('chooses a route, so that a name stays on this machine', async () => {
    const checker = await startChecker();
    const list = `models:\n  - { match: "claude-*", when: { check: { url: "${checker.url}" } }, provider: here }\n  - { match: "claude-*", provider: claude }\n`;
    const gateway = await started('', list);

    const named = await ask(gateway, 'Write to Erika Muster');
    const other = await ask(gateway, 'Write to nobody');

    expect(named.record).toMatchObject({ provider: 'here', route: { entry: 0, by: [{ matcher: 'check' }] } });
    expect(other.record).toMatchObject({ provider: 'claude' });
  });

  test('checks what a translation makes of a request, mostly without a further call', async () => {
    const checker = await startChecker();
    const gateway = await started(rule(checker));
    const body = {
      model: 'gpt-test',
      system: 'Be kind.',
      messages: [
        { role: 'user', content: 'hello' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 't', name: 'find', input: { who: 'nobody' } }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'nothing' }] },
      ],
      tools: [{ name: 'find', input_schema: { type: 'object' } }],
    };

    const { status } = await ask(gateway, '', { body });

    expect(status).toBe(200);
    expect(checker.calls.flat().sort()).toEqual(
      ['Be kind.', 'hello', 'nobody', 'nothing', '{"who":"nobody"}'].sort(),
    );
  });
});

describe('what is asked', () => {
  const noise = Buffer.concat(
    ['one', 'two', 'three', 'four', 'five'].map((seed) => createHash('sha256').update(seed).digest()),
  );

  /** The texts that a service is asked about for a body. */
  async function asked(body: object, { check = '', path = '/v1/messages' } = {}) {
    const checker = await startChecker();
    const gateway = await started(rule(checker, { check }));
    expect((await ask(gateway, '', { body, path })).status).toBe(200);
    return [...new Set(checker.calls.flat())];
  }
  const turn = (content: unknown) => ({ messages: [{ role: 'user', content }] });
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  test('are the texts of the conversation, and no names, ids and bytes', async () => {
    const image = {
      type: 'image',
      source: {
        type: 'base64',
        media_type: 'image/png',
        data: Buffer.from(Array.from({ length: 600 }, (_, i) => (i * 37) % 256)).toString('base64'),
      },
    };
    const call = {
      type: 'tool_use',
      id: 'toolu_1',
      name: 'look_up',
      input: { customer: 'someone', depth: 3 },
    };
    const result = {
      type: 'tool_result',
      tool_use_id: 'toolu_1',
      content: [{ type: 'text', text: 'a result' }],
    };
    const body = {
      system: [{ type: 'text', text: 'a system', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'a turn' }, image] },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [result] },
      ],
      tools: [{ name: 'look_up', description: 'Looks it up.', input_schema: { type: 'object' } }],
      metadata: { user_id: 'u1' },
    };

    expect(await asked(body)).toEqual(['a system', 'a turn', 'someone', 'a result']);
  });

  test('are texts in base64 and in JSON, where that spells them otherwise', async () => {
    const source = { type: 'base64', media_type: 'text/plain', data: base64('a document') };
    const inner = '{"who":"M\\u00fcller","what":"plain"}';

    expect(await asked(turn([{ type: 'document', source }]))).toContain('a document');
    expect(await asked(turn(inner))).toEqual([inner, 'Müller']);
  });

  test('are those of some roles', async () => {
    const body = { system: 'a system', ...turn('a turn') };

    expect(await asked(body, { check: ', in: [user]' })).toEqual(['a turn']);
  });

  test.each([
    ['begins like a data URL', 'data:;base64,\nThe customer file'],
    ['has its blanks replaced', 'Erika_Muster_'.repeat(12)],
    ['is written in one', 'ErikaMuster'.repeat(12)],
    ['is a data URL of words', `data:text/plain;base64,${'Erika-Muster-'.repeat(12)}`],
  ])('is a text that %s', async (_, text) => {
    expect(await asked(turn(text))).toContain(text);
  });

  test.each<[string, string, object]>([
    [
      'a template’s variables',
      '/v1/responses',
      {
        input: 'i',
        prompt: { id: 'p', variables: { a: 'Words', b: { type: 'input_text', text: 'More words' } } },
      },
    ],
    ['documents', '/v1/chat/completions', { documents: [{ text: 'Words' }, { text: 'More words' }] }],
    [
      'a template’s documents',
      '/v1/chat/completions',
      { chat_template_kwargs: { documents: ['Words', 'More words'] } },
    ],
    [
      'a place',
      '/v1/chat/completions',
      { web_search_options: { user_location: { city: 'Words', region: 'More words' } } },
    ],
    ['a member that nobody knows', '/v1/messages', { foo: { text: 'Words', deep: [{ any: 'More words' }] } }],
  ])('are texts of %s', async (_, path, body) => {
    const models = { '/v1/messages': 'claude-test', '/v1/responses': 'own-test' };
    const model = models[path as keyof typeof models] ?? 'gpt-test';

    expect(await asked({ ...turn('t'), ...body, model }, { path })).toEqual(
      expect.arrayContaining(['Words', 'More words']),
    );
  });

  test('are no settings', async () => {
    const settings = {
      service_tier: 'default',
      user: 'someone',
      tool_choice: 'auto',
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { description: 'Words' } } },
    };
    const body = { ...turn('t'), ...settings, model: 'gpt-test' };

    expect(await asked(body, { path: '/v1/chat/completions' })).toEqual(['t']);
  });

  test.each([
    ['base64', noise.toString('base64')],
    ['base64 for URLs', noise.toString('base64url')],
    ['hexadecimal', noise.toString('hex')],
    ['a data URL', `data:image/png;base64,${noise.toString('base64')}`],
  ])('are no bytes in %s', async (_, text) => {
    expect(await asked(turn(text))).toEqual([]);
  });

  test('is nothing for whom the rule exempts, whatever the texts are', async () => {
    const checker = await startChecker();
    const exempt = rule(checker, { more: ', unless: { model: ["claude-*"] }' });
    const gateway = await started(exempt);

    expect((await ask(gateway, 'Erika Muster')).status).toBe(200);
    expect(checker.calls).toEqual([]);
  });

  test('is nothing where another condition of the rule does not hold', async () => {
    const checker = await startChecker();
    const more = rule(checker).replace('when: {', 'when: { stream: true,');
    const gateway = await started(more);

    expect((await ask(gateway, 'Erika Muster')).status).toBe(200);
    expect(checker.calls).toEqual([]);
  });

  test('is asked once for all rules, and of each service', async () => {
    const [one, other] = [await startChecker(), await startChecker()];
    const rules = [
      `{ id: a, action: warn, when: { check: { url: "${one.url}", kinds: [person] } } }`,
      `{ id: b, action: warn, when: { check: { url: "${one.url}", kinds: [comp*] } } }`,
      `{ id: c, action: warn, when: { text: { phrases: ["Write"] } }, unless: { check: { url: "${other.url}" } } }`,
    ];
    const gateway = await started(
      `policies:\n  house:\n    apply: all\n    rules:\n${rules.map((each) => `      - ${each}\n`).join('')}`,
    );

    const { record } = await ask(gateway, 'Write to Erika Muster');
    const { record: second } = await ask(gateway, 'Write to nobody');

    expect(record.rules?.map(({ id }) => id)).toEqual(['a']);
    expect(second.rules?.map(({ id }) => id)).toEqual(['c']);
    expect([one.calls, other.calls]).toEqual([
      [['Write to Erika Muster'], ['Write to nobody']],
      [['Write to Erika Muster'], ['Write to nobody']],
    ]);
  });

  test('is asked again where nothing, or not so much, is remembered', async () => {
    const checker = await startChecker();
    const gateway = await started(rule(checker, { check: ', cache: 2' }));
    for (const text of ['one', 'two', 'one', 'three', 'one', 'two']) await ask(gateway, text);
    const none = await startChecker();
    const forgetful = await started(rule(none, { check: ', cache: 0' }));
    for (const text of ['one', 'one']) await ask(forgetful, text);

    expect(checker.calls.flat()).toEqual(['one', 'two', 'three', 'two']);
    expect(none.calls.flat()).toEqual(['one', 'one']);
  });
});

describe('what is remembered', () => {
  test('stays, but for a quarter, when one request has more texts than there is room for', async () => {
    const checker = await startChecker();
    const gateway = await started(rule(checker, { check: ', cache: 40' }));
    const known = Array.from({ length: 20 }, (_, i) => `known ${i}`);
    const turnsOf = (texts: readonly string[]) =>
      texts.map((content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }));
    for (const text of known) await ask(gateway, text);
    await ask(gateway, '', {
      body: { messages: turnsOf(Array.from({ length: 101 }, (_, i) => `new ${i}`)) },
    });
    const before = checker.calls.flat().length;

    for (const text of [...known, 'new 0', 'new 9', 'new 10']) await ask(gateway, text);

    expect(checker.calls.flat().slice(before)).toEqual(['new 10']);
  });

  test('in a thread for large bodies is bounded in the same way', () => {
    const settings = {
      ...({ url: 'http://127.0.0.1:9', api: 'gateway', language: 'en' } as const),
      ...{ timeoutMs: 1_000, cache: 40 },
    };
    const book = new CheckBook();
    const service = book.service(settings);
    const lookUp = (texts: readonly string[]): readonly string[] => {
      const found = book.decide(new Map(), () => texts.map((text) => book.find(service, text, () => '')));
      return found instanceof Unchecked ? (found.unasked[0]?.texts.map(({ text }) => text) ?? []) : [];
    };
    const answersTo = (texts: readonly string[]) => {
      const found = book.decide(new Map(), () => texts.map((text) => book.find(service, text, () => '')));
      const unasked = found instanceof Unchecked ? found.unasked.flatMap((each) => each.texts) : [];
      return new Map(unasked.map(({ id }) => [id, []]));
    };
    book.learn(answersTo(['a known one']));

    book.learn(answersTo(Array.from({ length: 101 }, (_, i) => `new ${i}`)));

    expect(lookUp(['a known one', 'new 0', 'new 9', 'new 10'])).toEqual(['new 10']);
  });
});

test('each of two services at one URL waits in line for its own time', async () => {
  const checker = await startChecker(() => undefined);
  const settings = { url: checker.url, api: 'gateway', language: 'en', cache: 9 } as const;
  const book = new CheckBook();
  const [patient, hasty] = [60_000, 20].map((timeoutMs) => book.service({ ...settings, timeoutMs }));
  const calls = new CheckCalls();
  const gone = new Lifetime();
  const askFor = (service: CheckService | undefined, id: string, lifetime = new Lifetime()) =>
    calls.ask(
      book,
      { service: service as CheckService, texts: [{ id, text: id, at: '' }] },
      { lifetime, key: 'k', kept: new Map() },
    );
  const open = Array.from({ length: 8 }, (_, i) => askFor(patient, `0 ${i}`, gone));

  const [[, late] = []] = await askFor(hasty, '1 late');

  gone.end(new GatewayError('client.left', 'the client left'));
  await Promise.all(open);
  expect(late).toEqual({ failure: expect.stringMatching(/had no time for a call within 20 ms$/) });
});

test('keys have turns at a service: one that asks much holds no other one up', async () => {
  let isHeld = true;
  const held: (() => void)[] = [];
  const checker = await startChecker(async (response, request) => {
    if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
    return findNames(response, request);
  });
  const gateway = await started(rule(checker, { check: ', timeout: 60s' }));
  const send = (key: string, content: string) =>
    fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify({ model: 'claude-test', max_tokens: 9, messages: [{ role: 'user', content }] }),
    });
  const flood = Array.from({ length: 40 }, (_, i) => send(secrets.PROJECT_KEY, `flood ${i}`));
  await vi.waitFor(() => expect(held).toHaveLength(8));
  await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': secrets.OTHER_KEY } });
  const other = send(secrets.OTHER_KEY, 'other');
  await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': secrets.OTHER_KEY } });

  isHeld = false;
  for (const release of held) release();

  expect((await other).status).toBe(200);
  await Promise.all(flood);
  expect(checker.calls.findIndex(([text]) => text === 'other')).toBeLessThan(12);
  expect(checker.calls).toHaveLength(41);
});

describe('without a gateway', () => {
  const request = JSON.stringify({
    model: 'claude-test',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'Ask Erika Muster' }],
  });
  const yaml = (policies: string) => `${providers}${models}${policies}${projects}`;

  test('tests, explain and the dry run ask as it does', async () => {
    const checker = await startChecker();
    const fixture = JSON.stringify({
      endpoint: 'messages',
      key: 'shop-web',
      body: JSON.parse(request),
      expect: { decision: 'redact', rule: 'people' },
    });
    const files = {
      'gateway.yaml': yaml(rule(checker, { action: 'redact' })),
      'request.json': request,
      'fixtures.ndjson': fixture,
    };
    const run = (line: string) =>
      command(line, { files, env: { ...secrets, GATEWAY_KEY: secrets.PROJECT_KEY } });

    const tested = await run('policy test -c gateway.yaml fixtures.ndjson -o json');
    const explained = await run(
      'policy explain -c gateway.yaml --key shop-web --endpoint messages request.json -o json',
    );
    const dry = await run('send -c gateway.yaml --dry-run -m claude-test Nordlicht -o json');

    expect(tested.json).toMatchObject({ passed: 1, failed: 0 });
    expect(explained.json).toMatchObject({
      decision: 'redact',
      rules: expect.arrayContaining([
        expect.objectContaining({
          rule: 'people',
          matches: [
            expect.objectContaining({
              at: '/messages/0/content',
              matcher: 'check',
              ranges: [{ start: 4, end: 16 }],
            }),
          ],
        }),
      ]),
    });
    expect(dry.stdout).toContain('[REDACTED:content.person]');
  });

  test('a test of a service that is away does not pass', async () => {
    const fixture = JSON.stringify({
      endpoint: 'messages',
      key: 'shop-web',
      body: JSON.parse(request),
      expect: { decision: 'allow' },
    });
    const files = { 'gateway.yaml': yaml(rule({ url: await deadUrl() })), 'fixtures.ndjson': fixture };

    const { exit, stdout } = await command('policy test -c gateway.yaml fixtures.ndjson', {
      files,
      env: secrets,
    });

    expect(exit).not.toBe(0);
    expect(stdout).toContain('decision: expected allow, got block');
  });

  test('the page asks the services in force, and no others', async () => {
    const [checker, other] = [await startChecker(), await startChecker()];
    const config = await configFrom(yaml(rule(checker)));
    const tried = (at: Checker) =>
      tryTask({
        source: config.source,
        policies: `p: { apply: all, rules: [{ id: r, action: block, when: { check: { url: "${at.url}" } } }] }`,
        ...{ body: Buffer.from(request), endpoint: 'messages', key: 'shop-web', atMs: 0 },
      });

    expect(await tried(checker)).toMatchObject({ kind: 'decided', decision: 'block', rule: 'r' });
    expect(await tried(other)).toMatchObject({
      kind: 'invalid',
      problems: [{ message: expect.stringContaining('no rule in force asks this service') }],
    });
    expect(other.calls).toEqual([]);
  });

  test('a file that was found sends no text to a service elsewhere before it is allowed', async () => {
    const checker = await startChecker();
    const elsewhere = { url: checker.url.replace('127.0.0.1', '0.0.0.0') };
    const found = `providers: { s: { dialect: sandbox } }\nmodels: [{ match: "*", provider: s }]\n${rule(elsewhere)}`;
    const root = homeWith({
      'home/key': '',
      'repository/.git/HEAD': '',
      'repository/gateway.yaml': found,
      'repository/request.json': request,
    });
    const place = { cwd: join(root, 'repository'), env: { HOME: join(root, 'home'), XDG_CONFIG_HOME: '' } };

    const asked = await command('policy explain --endpoint messages request.json', place);
    const named = await command('policy explain -c gateway.yaml --endpoint messages request.json', place);

    expect(asked.stderr).toContain('its service is not asked before "gateway trust" allows it');
    expect([asked.exit, named.exit]).toEqual([3, 3]);
    expect(named.stdout).toContain('content.person');
    expect(checker.calls).toHaveLength(1);
  });

  test.each([
    ['answers', 'apply_to: [request, response]', 'a rule with check is for requests'],
    ['texts to be tried at load', 'tests: { block: ["x"] }', 'no service is asked then'],
  ])('is refused at load for %s', async (_, settings, message) => {
    const url = 'http://127.0.0.1:9';
    const files = { 'gateway.yaml': yaml(rule({ url }, { more: `, ${settings}` })) };

    const { exit, stdout, stderr } = await command('config check -c gateway.yaml', { files, env: secrets });

    expect(exit).not.toBe(0);
    expect(stdout + stderr).toContain(message);
  });
});

test('the service of docs/checks.md answers as it says there', async () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/checks.md'), 'utf8');
  const port = await freePort();
  const code = /```js\n([\s\S]*?)```/.exec(text)?.[1]?.replace('5055', String(port)) ?? '';
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  closeAtEnd(async () => void (await worker.terminate()));
  await untilListening(port);
  const gateway = await started(rule({ url: `http://127.0.0.1:${port}` }, { action: 'redact' }));

  const { sent } = await ask(gateway, 'Ask Erika Muster or José García, not Erika Musterfrau');

  expect(sent.messages[0].content).toBe(
    'Ask [REDACTED:content.person] or [REDACTED:content.person], not Erika Musterfrau',
  );
  expect(code.trimEnd().split('\n').length).toBeLessThanOrEqual(20);
});

describe('a service that fails', () => {
  const lists =
    (list: unknown): Script =>
    (response, request) =>
      answerJson(response, { findings: textsOf(request).map(() => list) });

  test.each<[string, Script, string]>([
    ['is late', () => undefined, 'did not answer within 300 ms'],
    [
      'answers slowly by the byte',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
      },
      'did not answer within 300 ms',
    ],
    [
      'dies in mid-answer',
      (response) =>
        response.writeHead(200, { 'content-length': '100' }).write('{"findings', () => response.destroy()),
      'could not be asked',
    ],
    ['closes the connection', (response) => response.destroy(), 'could not be asked'],
    ['answers no JSON', (response) => response.writeHead(200).end('<html>'), 'answered something else'],
    ['answers other JSON', (response) => answerJson(response, { findings: {} }), 'answered something else'],
    [
      'answers for fewer texts',
      (response) => answerJson(response, { findings: [] }),
      'answered something else',
    ],
    ['answers with an error', (response) => response.writeHead(500).end(), 'answered with status 500'],
    [
      'leads elsewhere',
      (response) => response.writeHead(307, { location: host.url }).end(),
      'could not be asked',
    ],
    [
      'names a place behind the end',
      lists([{ start: 0, end: 1_000, kind: 'person' }]),
      'a place that is not in the text',
    ],
    [
      'names a place before the beginning',
      lists([{ start: -1, end: 2, kind: 'person' }]),
      'a place that is not in the text',
    ],
    [
      'names an empty place',
      lists([{ start: 2, end: 2, kind: 'person' }]),
      'a place that is not in the text',
    ],
    [
      'names half a character',
      lists([{ start: 0, end: 1, kind: 'person' }]),
      'a place that is not in the text',
    ],
    [
      'names a place that is no number',
      lists([{ start: '0', end: 1.5, kind: 'person' }]),
      'a place that is not in the text',
    ],
    ['names no kind', lists([{ start: 0, end: 2 }]), 'named no kind'],
    ['repeats the text as a kind', lists([{ start: 0, end: 2, kind: 'x'.repeat(100) }]), 'named no kind'],
    [
      'gives a strange score',
      lists([{ start: 0, end: 2, kind: 'person', score: 7 }]),
      'a score that is not from 0 to 1',
    ],
    [
      'returns ten thousand ranges',
      lists(Array.from({ length: 10_000 }, () => ({ start: 0, end: 2, kind: 'person' }))),
      'more than 1000 things',
    ],
  ])('that %s fails its rule, and nothing leaves', async (_, script, words) => {
    const checker = await startChecker(script);
    const timeout = words.includes('300 ms') ? '300ms' : '10s';
    const gateway = await started(rule(checker, { action: 'warn', check: `, timeout: ${timeout}` }));

    const { status, text, sent } = await ask(gateway, '😀 hello');

    expect(status).toBe(403);
    expect(text).toContain('rule people could not be evaluated');
    expect(text).toContain(words);
    expect(sent).toBeUndefined();
  });

  test('is asked again by the next request', async () => {
    const checker = await startChecker((response) => response.writeHead(503).end());
    const gateway = await started(rule(checker));

    expect((await ask(gateway, 'hello')).status).toBe(403);
    checker.script(findNames);
    expect((await ask(gateway, 'hello')).status).toBe(200);
  });

  test('keeps nothing from leaving where its rule only records', async () => {
    const checker = await startChecker((response) => response.writeHead(503).end());
    const gateway = await started(rule(checker, { more: ', mode: monitor' }));

    const { status, record } = await ask(gateway, 'hello');

    expect(status).toBe(200);
    expect(record.would_block).toEqual(['people']);
  });

  test('is named by its rule where that depends on the provider, and leaves those that are exempt', async () => {
    const checker = await startChecker((response) => response.writeHead(503).end());
    const exempt = (provider: string) => rule(checker, { more: `, unless: { provider: [${provider}] }` });

    const refused = await ask(await started(exempt('here')), 'hello');
    const passed = await ask(await started(exempt('claude')), 'hello');

    expect(refused.status).toBe(403);
    expect(refused.text).toContain('rule people could not be evaluated');
    expect(passed.status).toBe(200);
  });

  test('fails a route, which then leads nowhere', async () => {
    const checker = await startChecker((response) => response.writeHead(503).end());
    const list = `models:\n  - { match: "claude-*", when: { check: { url: "${checker.url}" } }, provider: here }\n  - { match: "claude-*", provider: claude }\n`;
    const gateway = await started('', list);

    expect(await ask(gateway, 'hello')).toMatchObject({ status: 403, sent: undefined });
  });

  test('ends with its client', async () => {
    const checker = await startChecker(() => undefined);
    const gateway = await started(rule(checker, { check: ', timeout: 1h' }));
    const controller = new AbortController();
    const asked = fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': gateway.key },
      body: JSON.stringify({
        model: 'claude-test',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'hi' }],
      }),
      signal: controller.signal,
    });
    while (checker.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();

    await expect(asked).rejects.toThrow();
    const [record] = await gateway.recorded(1);
    expect(record?.outcome).toBe('left');
  });
});
