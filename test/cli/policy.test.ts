// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a configuration file says
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { command, failure, printed, startServing, withoutStore } from '../kit/command.ts';
import type { Files } from '../kit/own-configuration.ts';

const house = `
policies:
  house:
    apply: all
    rules:
      - id: codename
        action: block
        when: { text: { phrases: ["project nightfall"] } }
        reason: content.codename
        tests: { block: ["Project  Nightfall"], allow: ["the project ended; nightfall came"] }
      - id: short-answers
        action: block
        mode: monitor
        when: { max_output_tokens: { over: 1000 } }
        reason: limits.max_output_tokens
      - id: cards
        action: redact
        when: { text: { detect: [credit_card] } }
        reason: content.credit_card
      - id: by-day
        action: block
        when: { time: { days: [sat, sun] } }
        reason: time.weekend
      - id: only-sandbox
        action: block
        unless: { model: ["sandbox-*"] }
        reason: model.not_allowed
`;
const yaml = `${house}
models:
  - { match: "sandbox-*", provider: sandbox }
  - { match: sandbox-alias, provider: sandbox, model: elsewhere }
  - { match: alias, provider: sandbox, model: sandbox-mini }
providers: { sandbox: { dialect: sandbox } }
projects:
  shop: { keys: [{ id: shop-web, value: "\${SHOP_KEY}" }] }
`;
const weekday = '2026-01-07T12:00:00Z';
const say = (text: string, more: object = {}) => ({
  model: 'sandbox-mini',
  messages: [{ role: 'user', content: text }],
  ...more,
});

/** `gateway policy` with these words, where these files are. */
function policy(line: string, files: Files = {}, stdin?: string) {
  const more = stdin === undefined ? {} : { stdin };
  return command(['policy', ...line.split(' ')], { files: { 'gateway.yaml': yaml, ...files }, ...more });
}

const fixture = (text: string): Files => ({ 'fixtures.yaml': text });

/** The lines of a table, without the times in it. */
const cellsOf = (stdout: string, from: number, to: number) =>
  stdout
    .split('\n')
    .slice(from, to)
    .map((line) => line.replace(/\d+us/, 'TIME').split('\t'));

const block = `
name: codename in a tool's result
key: shop-web
endpoint: messages
time: ${weekday}
body:
  model: sandbox-mini
  max_tokens: 5000
  messages: [{ role: user, content: [{ type: tool_result, tool_use_id: toolu_1, content: PROJECT NIGHTFALL }] }]
expect:
  { decision: block, rule: codename, reason: content.codename, at: /messages/0/content/0/content, would_block: [short-answers] }
`;

describe('policy test', () => {
  test.each([
    ['decision', 'decision: block', 'decision: allow'],
    ['rule', 'rule: codename', 'rule: cards'],
    ['reason', 'reason: content.codename', 'reason: null'],
    ['at', 'at: /messages/0/content/0/content', 'at: /messages/0'],
    ['would_block', 'would_block: [short-answers]', 'would_block: []'],
  ])('exits 1 when the expected %s is turned round', async (field, right, wrong) => {
    const { exit, stdout, stderr } = await policy(
      'test -q fixtures.yaml',
      fixture(block.replace(right, wrong)),
    );

    expect(exit).toBe(1);
    expect(stdout).toContain("FAIL  fixtures.yaml:2  codename in a tool's result\n");
    expect(stdout).toContain(`      ${field}: expected `);
    expect(stdout.match(/expected .*, got /g)).toHaveLength(1);
    expect(stderr).toBe('gateway: 1 of 3 cases are not as expected\n');
  });

  test('reads a file that an editor began with a byte order mark', async () => {
    expect(await policy('test -q fixtures.yaml', fixture(`\ufeff${block}`))).toMatchObject({ exit: 0 });
  });

  test('knows which values leave as placeholders', async () => {
    const rule = '{ id: mails, action: mask, when: { text: { detect: [email] } } }';
    const body = JSON.stringify(say('ann@example.com, bob@example.com, ann@example.com'));
    const masked = (values: string) =>
      `- { endpoint: chat, body: ${body}, expect: { masked: [${values}] } }\n`;

    const { exit, stdout } = await policy('test -q fixtures.yaml', {
      'gateway.yaml': `policies: { masking: { apply: all, rules: [${rule}] } }\n`,
      'fixtures.yaml': masked('ann@example.com, bob@example.com') + masked('ann@example.com'),
    });

    expect(exit).toBe(1);
    expect(stdout).toContain('masked: expected ["ann@example.com"], got ');
    expect(stdout).toContain('1 as expected, 1 not\n');
  });

  test('takes lists, several documents and bodies in bytes', async () => {
    const fixtures = `
{ endpoint: responses, raw: !!binary e/99, expect: { decision: block, reason: request.encoding } }
---
{ endpoint: embeddings, time: 2026-01-10T12:00:00Z, body: { model: sandbox-embed, input: hi }, expect: { decision: block, reason: time.weekend } }
---
# the name at the provider counts as much as the one that is asked for
- { endpoint: chat, time: ${weekday}, body: { model: sandbox-alias, messages: [] }, expect: allow }
- { endpoint: chat, time: ${weekday}, body: { model: alias, messages: [] }, expect: { decision: block, reason: model.not_allowed } }
`;

    expect(await policy('test -q fixtures.yaml', fixture(fixtures))).toEqual(
      printed('6 as expected, 0 not\n'),
    );
  });

  test('says so where there are no tests', async () => {
    const files = { 'gateway.yaml': yaml.replace(/^ +tests: .*\n/m, '') };

    expect(await policy('test', files)).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^no tests: .*tests: \{ block: .*fixtures\n$/),
    });
    expect(await policy('test -o json', files)).toMatchObject({
      exit: 0,
      json: { passed: 0, failed: 0, cases: [] },
    });
  });

  test("exits 1 where a rule's own test fails, by its place and without its text", async () => {
    const files = { 'gateway.yaml': yaml.replace('Project  Nightfall', 'harmless words') };

    const { exit, stdout } = await policy('test', files);

    expect(exit).toBe(1);
    expect(stdout).toContain(
      'FAIL  gateway.yaml:10  codename: policies.house.rules[0].tests.block[0]\n' +
        '      rule codename should match this text, but does not\n',
    );
    expect(stdout).not.toContain('harmless words');
  });

  test.each<[string, Files, string]>(
    // biome-ignore format: a case a line
    [
      ['no file', {}, 'fixtures.yaml: there is no such file'],
      ['no YAML', fixture('a: ['), 'fixtures.yaml:1:'],
      ['nothing', fixture('# nothing\n'), 'fixtures.yaml holds no fixtures'],
      ['a list of words', fixture('- word\n'), 'fixtures.yaml:1  a fixture: expected a mapping'],
      ['an unknown key', fixture('\nbdy: {}\n'), 'fixtures.yaml:2  a fixture: unknown key bdy; did you mean "body"?'],
      ['neither body nor raw', fixture('expect: allow\n'), 'fixtures.yaml:1  give one of body and raw'],
      ['an unknown decision', fixture('raw: "{}"\nexpect: refuse\n'), 'fixtures.yaml:1  expect.decision: expected allow'],
      ['nothing expected', fixture('raw: "{}"\n'), 'fixtures.yaml:1  the fixture expects nothing'],
      ['an unknown endpoint', fixture('endpoint: chats\nraw: "{}"\nexpect: allow\n'), 'fixtures.yaml:1  there is no endpoint'],
      ['an unknown key id', fixture('key: shop-wed\nraw: "{}"\nexpect: allow\n'), 'there is no key with the id shop-wed; did you'],
      ['a number that JSON lacks', fixture('body: { a: .nan }\nexpect: allow\n'), 'fixtures.yaml:1  body: JSON has no NaN'],
      ['a time that is none', fixture('time: noon\nraw: "{}"\nexpect: allow\n'), 'fixtures.yaml:1  time: expected a time'],
      ['a wrong configuration', { 'gateway.yaml': yaml.replace('action: redact', 'action: redcat') }, 'did you mean "redact"?'],
    ],
  )('exits 2 for %s', async (_what, files, message) => {
    expect(await policy('test fixtures.yaml', files)).toEqual(failure(2, message));
  });

  test('gives programs every case with what differs', async () => {
    const files = fixture(block.replace('rule: codename', 'rule: cards'));

    const { exit, json, error } = await policy('test -o json fixtures.yaml', files);
    const { lines } = await policy('test -o ndjson fixtures.yaml', files);

    expect([exit, json.passed, json.failed]).toEqual([1, 2, 1]);
    expect(json.cases[2]).toEqual({
      kind: 'fixture',
      file: 'fixtures.yaml',
      line: 2,
      name: "codename in a tool's result",
      passed: false,
      differences: [{ field: 'rule', expected: 'cards', got: 'codename' }],
    });
    expect(lines).toEqual(json.cases);
    expect(error.reason).toBe('policy.mismatch');
  });
});

/** What a configuration says of a provider that speaks chat alone, and gets what is sent in other dialects. */
const chatOnly = (rule: string) => `
policies: { house: { apply: all, rules: [${rule}] } }
models: [{ match: "*", provider: gpt }]
providers: { gpt: { dialect: openai, base_url: "http://127.0.0.1:9/v1", endpoints: [chat] } }
projects: { shop: { keys: [{ id: shop-web, value: "\${SHOP_KEY}" }] } }
`;

describe('policy explain', () => {
  const mail = 'to ann@example.com';
  const content = [
    { type: 'text', text: 'about Project ' },
    { type: 'text', text: 'Nightfall, card 4111 1111 1111 1111' },
  ];
  const request = { model: 'sandbox-mini', max_tokens: 5000, messages: [{ role: 'user', content }] };
  const explain = (asked: string | object, more: Files = {}, line = 'explain request.json') =>
    policy(`${line} --time ${weekday}`, { 'request.json': asked, ...more });

  test('shows what only the body that leaves would be blocked for, with its place there', async () => {
    const call = { type: 'tool_use', id: 'call_1', name: 'f', input: {} };
    const result = { type: 'tool_result', tool_use_id: 'call_1', is_error: true, content: 'x' };
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ];
    const given = {
      'request.json': { model: 'gpt-test', max_tokens: 9, messages },
      'gateway.yaml': chatOnly(
        '{ id: marks, action: block, when: { text: { phrases: ["error: x"] } }, reason: content.mark }',
      ),
    };

    const { exit, stdout } = await policy('explain request.json', given);
    const { json } = await policy('explain request.json -o json', given);

    expect(exit).toBe(3);
    expect(cellsOf(stdout, 3, 6)).toEqual([
      ['marks', 'house', 'block', 'enforce', 'no', 'TIME', ''],
      ['to gpt/gpt-test, as chat'],
      ['marks', 'house', 'block', 'enforce', 'yes', 'TIME', '/messages/2/content folded'],
    ]);
    expect(json).toMatchObject({
      decision: 'block',
      rule: 'marks',
      at: '/messages/2/content',
      outgoing: [{ target: 'gpt/gpt-test', dialect: 'chat', decision: 'block' }],
    });
  });

  test('names the entries of the model list, why one is taken, and where it goes', async () => {
    const given = {
      'request.json': request,
      'request.yaml': JSON.stringify({
        class: 'compaction',
        body: request,
        expect: { target: 'tiny/sandbox-mini' },
      }),
      'gateway.yaml': `providers:
  tiny: { dialect: sandbox }
  large: { dialect: sandbox }
models:
  - { match: "*", when: { class: [compaction] }, provider: tiny }
  - { match: "*", when: { text: { phrases: [nightfall] } }, provider: large, model: sandbox-large }
  - { match: "*", provider: tiny }
`,
    };
    const line = 'explain request.json --endpoint messages';

    const byText = await policy(line, given);
    const byClass = await policy(`${line} --class compaction -o json`, given);
    const fixture = await policy('test request.yaml', given);

    expect(byText.stdout).toContain(
      [
        'route     models[0] (*): its conditions do not hold',
        '          models[1] (*): taken, text at /messages/0/content/1/text',
        '          to large/sandbox-large',
        '',
      ].join('\n'),
    );
    expect(byClass.json).toMatchObject({
      route: { targets: ['tiny/sandbox-mini', 'large/sandbox-large'] },
      target_models: ['sandbox-mini', 'sandbox-large'],
    });
    expect(fixture.exit).toBe(0);
  });

  test('gives programs what a person sees, from standard input, and exits 3', async () => {
    const line = `explain - -o json --key shop-web --endpoint messages --time ${weekday}`;

    const { exit, json, error, stdout, stderr } = await policy(line, {}, JSON.stringify(request));

    expect(exit).toBe(3);
    expect(stdout + stderr).not.toMatch(/4111 ?1111|nightfall/i);
    expect(json).toMatchObject({
      endpoint: 'messages',
      key: 'shop-web',
      decision: 'block',
      rule: 'codename',
      at: '/messages/0/content/1/text',
      would_block: ['short-answers'],
      served: true,
    });
    expect(json.rules[2]).toEqual({
      policy: 'house',
      rule: 'codename',
      action: 'block',
      mode: 'enforce',
      reason: 'content.codename',
      matched: true,
      matches: [
        {
          at: '/messages/0/content/1/text',
          view: 'folded',
          matcher: 'text',
          count: 1,
          ranges: [{ start: 0, end: 9 }],
        },
      ],
      microseconds: expect.any(Number),
      failed: false,
    });
    expect(error).toMatchObject({ reason: 'content.codename', param: json.at });
  });

  test('exits 0 where the request may pass', async () => {
    expect(await explain(say('hello'))).toEqual(
      printed(expect.stringMatching(/^request {3}chat, key shop-web.*\ndecision {2}allow, \d+us\n$/s)),
    );
    // Nothing is replaced, so no body is shown.
    expect((await explain(say(mail), {}, 'explain request.json -o json')).json).not.toHaveProperty('body');
  });

  test('shows the body that would leave, masked, also as it is translated', async () => {
    const given = {
      'gateway.yaml': chatOnly('{ id: emails, action: mask, when: { text: { detect: [email] } } }'),
      'request.json': { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: mail }] },
    };

    const text = await policy('explain request.json --endpoint messages', given);
    const data = await policy('explain request.json --endpoint messages -o json', given);

    expect([text.exit, data.exit]).toEqual([0, 0]);
    expect(text.stdout + data.stdout).not.toContain('ann@');
    const messages = [{ role: 'user', content: expect.stringMatching(/^to EMAIL_[A-Z]{13}$/) }];
    expect(data.json).toMatchObject({
      decision: 'mask',
      body: { messages },
      outgoing: [{ dialect: 'chat', body: { messages } }],
    });
    expect(text.stdout.match(/^body {6}\{$/gm)).toHaveLength(2);
  });

  test('names the rule that the model in the path matches', async () => {
    const { exit, json } = await policy(
      'explain request.json --endpoint /v1beta/models/nightfall-1:generateContent -o json',
      {
        'gateway.yaml': chatOnly('{ id: code, action: block, when: { text: { phrases: [nightfall] } } }'),
        'request.json': { contents: [{ parts: [{ text: 'hello' }] }] },
      },
    );

    expect(exit).toBe(3);
    expect(json).toMatchObject({ decision: 'block', rule: 'code', at: '/model' });
    const { rules } = json as { rules: readonly { rule: string; matched: boolean; matches: object[] }[] };
    expect(rules.filter(({ matched }) => matched)).toMatchObject([
      { rule: 'code', matches: [{ at: '/model' }] },
    ]);
  });

  test('tells what the strict gate refuses, and where', async () => {
    expect(await explain('{"model":"a","messages":[{"role":"user","role":"user"}]}')).toEqual({
      exit: 3,
      stdout:
        'request   chat, key shop-web of project shop\n' +
        'decision  block, request.duplicate_key at /messages/0/role\n',
      stderr: 'gateway: a key is used twice in one object\n',
    });
  });

  test('takes a fixture, and says that nobody serves the model and which enforced rules warn', async () => {
    const warning = (id: string, mode: string) =>
      `      - { id: ${id}, action: warn, mode: ${mode}, when: { text: { phrases: [alpha] } } }\n`;
    const { exit, stdout } = await policy('explain one.yaml', {
      'gateway.yaml': `providers: { sandbox: { dialect: sandbox } }\nmodels: [{ match: "sandbox-*", provider: sandbox }]\n${house}${warning('said', 'enforce')}${warning('tried', 'monitor')}`,
      'one.yaml': `endpoint: chat\ntime: ${weekday}\nbody: { model: gpt-9, messages: [{ role: user, content: alpha }] }\n`,
    });

    expect(exit).toBe(3);
    expect(stdout).toContain('request   chat, key local of project local, model gpt-9\n');
    expect(stdout).toContain('note      no configured provider serves this model\n');
    expect(stdout).toContain('decision  block by only-sandbox, model.not_allowed');
    expect(stdout).toMatch(/^warnings {2}said$/m);
  });

  test.each([
    ['explain', 'missing required argument'],
    ['explain none.json', 'none.json: there is no such file'],
    ['explain request.json --endpoint chats', 'there is no endpoint chats; there are messages'],
    ['explain request.json --key nobody', 'there is no key with the id nobody; there are shop-web'],
    ['explain request.json --time noon', 'expected a time such as'],
    ['explain request.json -o yaml', 'explain prints text, table, json or ndjson, not yaml'],
    ['replay none.jsonl', 'none.jsonl: there is no such file'],
  ])('%s exits 2 and says why', async (line, message) => {
    expect(await policy(line, { 'request.json': request })).toEqual(failure(2, message));
  });
});

describe('policy replay', () => {
  test('tells of recorded requests what the present policies would decide', async () => {
    const anyDay = yaml.replace(/ {6}- id: by-day[\s\S]*?weekend\n/, '');
    const monitoring = anyDay.replace('apply: all', 'mode: monitor\n    apply: all');
    const gateway = await startServing({
      files: {
        'gateway.yaml': `${monitoring}${withoutStore}records: { bodies: true, file: records.jsonl }\n`,
      },
      env: { SHOP_KEY: 'shop-key-0123456789abcdef' },
    });
    const said = { contents: [{ parts: [{ text: 'project nightfall' }] }] };
    for (const [path, body] of [
      ['/v1/chat/completions', JSON.stringify(say('hello'))],
      ['/v1/chat/completions', JSON.stringify(say('project nightfall'))],
      ['/v1/messages', JSON.stringify(say('card 4111 1111 1111 1111', { max_tokens: 9 }))],
      ['/v1/messages', '{"model":"sandbox-mini","model":"b"}'],
      ['/v1/messages', ''],
      ['/v1beta/models/a:countTokens', JSON.stringify(said)],
    ] as const) {
      const type = body === '' ? 'text/plain' : 'application/json';
      const headers = { 'content-type': type, authorization: 'Bearer shop-key-0123456789abcdef' };
      await (await fetch(gateway.url + path, { method: 'POST', headers, body })).arrayBuffer();
    }
    await gateway.stop();
    const records = readFileSync(join(gateway.home, 'records.jsonl'), 'utf8');
    const files = {
      'gateway.yaml': `${anyDay}records: { file: records.jsonl }\n`,
      'records.jsonl': records,
    };

    const text = await policy('replay records.jsonl', files);
    const { json } = await policy('replay -o json records.jsonl', files);
    const { lines } = await policy('replay -o ndjson records.jsonl', files);

    expect(text).toMatchObject({
      exit: 1,
      stderr: 'gateway: 3 of 5 requests would be decided differently\n',
    });
    expect(await policy('replay', files)).toEqual(text);
    const end = records.indexOf('\n') + 1;
    const days = { 'records.2026-11-28.jsonl': records.slice(0, end), 'records.jsonl': records.slice(end) };
    expect(await policy('replay', { ...files, ...days })).toEqual(text);
    expect(text.stdout).not.toMatch(/4111 ?1111|nightfall/i);
    expect(json).toMatchObject({
      requests: 5,
      same: 2,
      changed: 3,
      changes: { 'allow -> block': 2, 'allow -> redact': 1 },
      skipped: { 'no body': 1 },
    });
    const now = json.records.map((each: { now: object }) => each.now);
    expect([now[1], now[2], now[4]]).toMatchObject([
      { rule: 'codename', at: '/messages/0/content' },
      { rule: 'cards', at: '/messages/0/content' },
      { rule: 'codename', at: '/contents/0/parts/0/text' },
    ]);
    expect(json.records[3]).toMatchObject({
      was: { decision: 'block', reason: 'request.duplicate_key' },
      now: { decision: 'block', reason: 'request.duplicate_key', at: '/model' },
      changed: false,
    });
    expect(lines).toEqual(json.records.toSpliced(4, 0, { line: 5, skipped: 'no body' }));
  });

  const record = {
    time: '2026-01-07T12:00:00.000Z',
    request_id: 'req_1',
    key: 'shop-web',
    endpoint: 'chat',
    outcome: 'answered',
    decision: 'allow',
    request_body: JSON.stringify(say('hello')),
  };

  test('exits 0 where all is decided as then, and tells what was left out', async () => {
    const records = [
      JSON.stringify(record),
      JSON.stringify({ ...record, key: 'gone' }),
      JSON.stringify({ ...record, request_body: undefined }),
      JSON.stringify({ ...record, decision: undefined, outcome: 'left' }),
      '{"time":"2026-01',
    ].join('\n');

    expect(await policy('replay records.jsonl --all', { 'records.jsonl': records })).toEqual(
      printed(
        '2026-01-07T12:00:00.000Z req_1 shop-web chat  allow, as then\n' +
          '1 requests: 1 as then, 0 otherwise; left out: 1 unknown key, 1 no body, 1 not decided, 1 unreadable\n',
      ),
    );
    expect((await policy('replay - --key shop-web', {}, records)).stdout).toContain('2 requests: 2 as then');
  });

  test('exits 2 where no record has a body', async () => {
    const records = JSON.stringify({ ...record, request_body: undefined });

    expect(await policy('replay records.jsonl', { 'records.jsonl': records })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('records.bodies: true'),
    });
  });
});

test('a key of documentation is passed over, and the dry run and explain say where', async () => {
  const files = {
    'gateway.yaml': `
providers: { sandbox: { dialect: sandbox } }
models: [{ match: "*", provider: sandbox }]
policies:
  house: { apply: all, rules: [{ id: secrets, action: redact, when: { text: { detect: [secrets] } }, reason: content.secret }] }
`,
    'request.json': JSON.stringify({
      model: 'm',
      messages: [{ role: 'user', content: 'AKIAIOSFODNN7EXAMPLE' }],
    }),
  };
  const line = 'passed    /messages/0/content: looks like a documentation example, not replaced';

  expect((await command('policy explain request.json', { files })).stdout).toContain(line);
  expect((await command('policy explain request.json -o json', { files })).json.examples).toEqual([
    '/messages/0/content',
  ]);
});
