import { describe, expect, test } from 'vitest';
import type { NowResponse } from '../../src/inspector/contract/events.ts';
import type { Body } from '../../src/inspector/contract/exchange-detail.ts';
import { projects } from '../kit/gateway.ts';
import { idOf, startInspected } from '../kit/inspector.ts';

const yaml = `
policies:
  house:
    apply: all
    rules:
      # Rules of the house.
      - id: no-mail
        action: redact
        when: { text: { detect: [email] } }
      - id: no-codename
        action: block
        reason: content.codename
        when: { text: { phrases: ["blue heron"] } }
      - { id: only-sandbox, action: block, reason: model.not_allowed, unless: { model: ["sandbox-*"] } }
${projects}`;

const hello = { model: 'sandbox-mini', messages: [{ role: 'user', content: 'hello' }] };
const gateway = await startInspected(yaml);

const rowOf = async (id: string) => (await gateway.rows()).find((row) => row.id === id);

describe('the list', () => {
  test('shows an answered exchange with its parts in time', async () => {
    const headers = { 'user-agent': 'tester/1.0 (x)', 'x-gateway-session': 'nightly-7' };
    const row = await rowOf(await gateway.ask(hello, { headers }));

    expect(row).toMatchObject({
      state: 'finished',
      method: 'POST',
      path: '/v1/chat/completions',
      endpoint: 'chat',
      project: 'shop',
      key: 'shop-web',
      client: 'tester/1.0',
      session: 'nightly-7',
      model: 'sandbox-mini',
      provider: 'sandbox',
      status: 200,
      outcome: 'answered',
      decision: 'allow',
      attempts: 1,
      bodies: false,
    });
    expect(row?.tokens?.output).toBeGreaterThan(0);
    const { read, decide, connect, first_byte, stream } = row?.times ?? {};
    const sum = [read, decide, connect, first_byte, stream].reduce(
      (all: number, one) => all + (one ?? Number.NaN),
      0,
    );
    expect(Math.abs(sum - (row?.total_ms ?? 0))).toBeLessThan(1);
  });

  test('shows a blocked exchange with its rule', async () => {
    const row = await rowOf(await gateway.say('the blue heron flies'));

    expect(row).toMatchObject({
      status: 403,
      outcome: 'refused',
      decision: 'block',
      rule: 'no-codename',
      reason: 'content.codename',
    });
    expect(Object.keys(row?.times ?? {})).toEqual(['read', 'decide']);
  });

  test('shows who came with a wrong key, and not the probes of monitors', async () => {
    const id = await idOf(
      fetch(`${gateway.url}/v1/models`, { headers: { authorization: 'Bearer wrong-key-0123456789' } }),
    );
    const probe = await idOf(fetch(`${gateway.url}/healthz`));

    expect(await rowOf(id)).toMatchObject({ status: 401, reason: 'key.invalid' });
    expect(await rowOf(probe)).toBeUndefined();
  });
});

const markedTexts = (body: Body | undefined) =>
  body?.marks.map(({ kind, rule, start, end }) => `${kind} ${rule}: ${body.text.slice(start, end)}`);

describe('an exchange', () => {
  test('without a kept body has the rules that matched, hidden headers, and no text', async () => {
    const detail = await gateway.detail(await gateway.say('the blue heron of Zanzibar'));

    expect(detail.all_rules).toBe(false);
    expect(detail.rules).toMatchObject([
      { rule: 'no-codename', action: 'block', matched: true, source: { file: 'gateway.yaml', line: 10 } },
    ]);
    expect(detail.bodies).toBeUndefined();
    expect(detail.headers.find(({ name }) => name === 'authorization')).toMatchObject({ hidden: true });
    expect(JSON.stringify(detail)).not.toContain(gateway.key);
    expect(JSON.stringify(detail)).not.toContain('Zanzibar');
    expect(detail.message).toContain('no-codename');
  });

  test('with kept bodies shows every rule, what was redacted, and the stream event by event', async () => {
    expect(await gateway.post('keep-bodies', {})).toMatchObject({
      keeps_bodies: expect.any(String),
    });
    const id = await gateway.say('write to ann@penguin-mail.com today', { stream: true });

    const detail = await gateway.detail(id);

    expect(detail).toMatchObject({
      all_rules: true,
      form: 'redacted',
      attempts: [{ provider: 'sandbox', model: 'sandbox-mini', form: 'redacted' }],
    });
    expect(detail.rules.map(({ rule, matched }) => [rule, matched])).toEqual(
      expect.arrayContaining([
        ['no-mail', true],
        ['no-codename', false],
        ['only-sandbox', false],
      ]),
    );
    const match = detail.rules.find(({ rule }) => rule === 'no-mail')?.matches[0];
    expect(match).toMatchObject({
      at: '/messages/0/content',
      excerpt: 'w•••• t• a••@p••••••-m•••.c•• t••••',
      excerpt_ranges: [{ start: 9, end: 29 }],
    });
    const { received, sent, answer, answer_parts, events } = detail.bodies ?? {};
    expect(markedTexts(received)).toEqual(['match no-mail: ann@penguin-mail.com']);
    expect(sent?.text).not.toContain('ann@');
    expect(markedTexts(sent)).toEqual([expect.stringMatching(/^redacted no-mail: \[REDACTED:[a-z.]+\]$/)]);
    expect(answer?.text).toContain('data: [DONE]');
    expect(answer_parts).toMatchObject([{ kind: 'text', text: expect.stringMatching(/./) }]);
    expect(events?.length).toBeGreaterThan(2);
    await gateway.post('keep-bodies', { minutes: 0 });
  });

  test('that is still being streamed is shown as far as it is', async () => {
    await gateway.post('keep-bodies', {});
    const stop = new AbortController();
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({ ...hello, model: 'sandbox-slow', stream: true }),
      signal: stop.signal,
    });
    const detail = () => gateway.detail(response.headers.get('x-request-id') ?? '');
    const shown = async () => (await detail()).bodies?.answer_parts?.[0]?.text ?? '';
    await expect.poll(shown).not.toBe('');
    const first = await shown();
    await expect.poll(async () => (await shown()).length).toBeGreaterThan(first.length);
    const { row, answer_headers } = await detail();
    stop.abort();

    expect(await shown()).toMatch(new RegExp(`^${first}`));
    expect(row.state).toBe('open');
    expect(answer_headers).toContainEqual(expect.objectContaining({ name: 'content-type', hidden: false }));
    await gateway.post('keep-bodies', { minutes: 0 });
  });

  test('bodies are kept only while that is on, and can be forgotten', async () => {
    await gateway.post('keep-bodies', { minutes: 1 });
    const kept = await gateway.say('kept');
    await gateway.post('keep-bodies', { minutes: 0 });
    const notKept = await gateway.say('not kept');

    expect((await gateway.detail(kept)).bodies?.received?.text).toContain('kept');
    expect((await gateway.detail(notKept)).bodies).toBeUndefined();
    await gateway.post('keep-bodies', { minutes: 0, forget: true });
    expect((await gateway.detail(kept)).bodies).toBeUndefined();
    expect(await gateway.api(`exchanges/${kept}/curl`)).toMatchObject({
      error: { reason: 'inspector.not_kept' },
    });
  });

  test('that is not kept any more is unknown', async () => {
    expect(await gateway.api('exchanges/req_nothing')).toMatchObject({
      error: { reason: 'inspector.unknown' },
    });
  });
});

describe('from an exchange', () => {
  async function kept(text: string, body?: object): Promise<string> {
    await gateway.post('keep-bodies', {});
    return gateway.say(text, body);
  }

  test('the request is sent again, with another model, through the same policy', async () => {
    const id = await kept('send me twice');

    const send = async (more: object) =>
      (await gateway.post('send-again', { id, ...more })) as { id: string; status: number };
    const messages = [{ role: 'user', content: 'a blue heron' }];
    const again = await send({ model: 'sandbox-think' });
    const blocked = await send({ model: 'gpt-4o' });
    const edited = await send({ body: JSON.stringify({ model: 'sandbox-mini', messages }) });

    expect(await rowOf(again.id)).toMatchObject({
      model: 'sandbox-think',
      project: 'shop',
      key: 'shop-web',
      again: id,
      status: 200,
    });
    expect(await rowOf(blocked.id)).toMatchObject({ decision: 'block', rule: 'only-sandbox' });
    expect(edited.status).toBe(403);
  });

  test('rules can be tried on it, and nothing is saved', async () => {
    const body = JSON.stringify({ model: 'sandbox-mini', messages: [{ role: 'user', content: 'penguins' }] });
    const { text } = (await gateway.api('policies')) as { text: string };
    const indent = /^( *)- id: no-mail/m.exec(text)?.[1];
    const scratch = `${text.trimEnd()}\n${indent}- { id: no-birds, action: block, when: { text: { phrases: [penguins] } } }\n`;
    const attempt = (policies: string) => gateway.post('try-policy', { body, policies });

    expect(text).toContain('# Rules of the house.');
    expect(await attempt(scratch)).toMatchObject({ kind: 'decided', decision: 'block', rule: 'no-birds' });
    expect(await attempt(text)).toMatchObject({ kind: 'decided', decision: 'allow' });
    expect(await attempt('house: { rules: [{ id: x, action: blok }] }')).toMatchObject({
      kind: 'invalid',
      problems: [{ line: 1, column: 35 }],
    });
    expect(await rowOf(await gateway.say('penguins'))).toMatchObject({ decision: 'allow' });
  });
});

test('now has what happened, what is open and how providers stand', async () => {
  await gateway.say('count me');
  await gateway.say('a blue heron');

  const now = (await gateway.api('now')) as NowResponse;

  const last = now.minutes.at(-1);
  const counted = now.minutes.reduce((all, { requests }) => all + requests, 0);
  expect(counted).toBeGreaterThan(3);
  expect(last?.first_byte_ms?.p50).toBeGreaterThan(0);
  expect(now.minutes.some(({ blocks }) => (blocks['content.codename'] ?? 0) > 0)).toBe(true);
  expect(now.breakers).toMatchObject([{ provider: 'sandbox', state: 'closed' }]);
});

test('history comes from the ledger, with the hours of nothing', async () => {
  await gateway.say('for the ledger');
  const history = (await gateway.api('history?by=hour&since=3h')) as { steps: { requests: number }[] };

  expect(history.steps.length).toBeGreaterThanOrEqual(3);
  expect(history.steps[0]?.requests).toBe(0);
});
