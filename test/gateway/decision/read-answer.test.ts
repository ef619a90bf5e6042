import { afterAll, expect, test } from 'vitest';
import { createDecider, threadBytes } from '../../../src/gateway/decision/decider.ts';
import { type AnswerReader, readAnswer } from '../../../src/gateway/decision/read-answer.ts';
import { translateBody } from '../../../src/gateway/decision/translate-request.ts';
import { endpoints, type ModelEndpoint } from '../../../src/gateway/endpoints.ts';
import { Scrubber } from '../../../src/gateway/scrub.ts';
import { Lifetime } from '../../../src/lib/lifetime.ts';
import { compilePolicies } from '../../../src/policy/compile.ts';
import { collectValues } from '../../../src/policy/mask/masked-values.ts';
import { policySchema } from '../../../src/policy/rules/schema.ts';

const onAnswers = (id: string, action: string, phrase: string) => ({
  id,
  action,
  when: { text: { phrases: [phrase] } },
  apply_to: ['response'],
  reason: 'content.codename',
});
const house = policySchema.parse({
  rules: [onAnswers('stop', 'block', 'nightfall'), onAnswers('cover', 'redact', 'daybreak')],
});
const source = { policies: { house }, secrets: [] };
const policies = compilePolicies(source.policies, source.secrets).select(['house']);
const padding = 'nothing to see here, é. '.repeat(60_000);

const endpointAt = (path: string) => endpoints.get(path) as ModelEndpoint; // those asked for here are all of models

function reader(more: Partial<AnswerReader> = {}): AnswerReader {
  return {
    key: 'web',
    endpoint: endpointAt('/v1/messages'),
    form: undefined,
    translation: undefined,
    policies,
    answerRules: [0, 1],
    masked: undefined,
    scrubber: new Scrubber(['a-secret-of-the-gateway']),
    ...more,
  };
}

function messagesAnswer(text: string, usage: object = { input_tokens: 3, output_tokens: 4 }): Buffer {
  const content = [{ type: 'text', text: padding + text }];
  return Buffer.from(
    JSON.stringify({ id: 'm', type: 'message', role: 'assistant', content, stop_reason: 'end_turn', usage }),
  );
}

const translation = () =>
  translateBody({
    body: Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })),
    from: 'chat',
    to: 'messages',
    context: { requestedModel: 'm', targetModel: 't', host: 'anthropic', origin: 'o', createdS: 1 },
    meta: {
      endpoint: 'chat',
      model: 'm',
      targetModels: [],
      stream: false,
      project: 'p',
      key: 'k',
      nowMs: 1,
    },
  }).translation;

// biome-ignore format: a case a line
const cases = [
  ['is passed on', messagesAnswer('x'), reader()],
  ['has no usage', messagesAnswer('x', {}), reader()],
  ['is blocked', messagesAnswer('of nightfall'), reader()],
  ['is redacted', messagesAnswer('of daybreak'), reader()],
  ['has a secret', messagesAnswer('it is a-secret-of-the-gateway'), reader()],
  ['has a placeholder', messagesAnswer('to EMAIL_ABCDEFGHIJKLM'), reader({ masked: collectValues(new Map([['EMAIL_ABCDEFGHIJKLM', 'rosa@example.org']])) })],
  ['is translated', messagesAnswer('x'), reader({ endpoint: endpointAt('/v1/chat/completions'), translation: translation() })],
  ['is translated and blocked', messagesAnswer('of nightfall'), reader({ endpoint: endpointAt('/v1/chat/completions'), translation: translation() })],
  ['can not be translated', Buffer.from(`[${messagesAnswer('')}]`), reader({ endpoint: endpointAt('/v1/chat/completions'), translation: translation() })],
  ['is encoded as asked', Buffer.from(JSON.stringify({ data: [{ embedding: Array(300_000).fill(0.5) }], usage: { prompt_tokens: 2 } })), reader({ endpoint: endpointAt('/v1/embeddings'), form: 'base64' })],
] as const;

const decider = createDecider({ source, names: { models: [], providers: [] } });
afterAll(() => decider.close());

test.each(cases)('a large answer that %s is read in the thread as here', async (_name, body, how) => {
  const here = readAnswer(Buffer.from(body), how);
  const moving = Buffer.from(new Uint8Array(body).buffer);

  const there = await decider.readAnswer(moving, how, new Lifetime());

  expect(body.length).toBeGreaterThan(threadBytes);
  expect(moving.length).toBe(0); // its memory has moved, so it was the thread that read it
  expect({ ...there, result: 0 }).toEqual({ ...here, result: 0 });
  expect(plain(there.result)).toEqual(plain(here.result));
});

/** Without the ids that each translation makes. */
function plain(result: Buffer | Error): unknown {
  if (Buffer.isBuffer(result)) return result.toString().replace(/[0-9a-f]{24}/g, '');
  const { name, message, code, reason } = result as Error & { code: string; reason: string };
  return { name, message, code, reason };
}

test('what the cases are about happens', () => {
  const results = cases.map(([name, body, how]) => [name, readAnswer(Buffer.from(body), how)] as const);
  const outcome = Object.fromEntries(results);
  const end = (name: string) => String(outcome[name]?.result).slice(-200);

  expect(outcome['is blocked']?.result).toMatchObject({ code: 'policy.blocked', reason: 'content.codename' });
  expect(end('is redacted')).toContain('[REDACTED:content.codename]');
  expect(end('has a secret')).toContain('it is [secret]');
  expect(end('has a placeholder')).toContain('rosa@example.org');
  expect(outcome['has a placeholder']?.masking).toEqual({ restored: { EMAIL: 1 } });
  expect(String(outcome['is translated']?.result).slice(0, 200)).toContain('"object":"chat.completion"');
  expect(outcome['can not be translated']?.result).toMatchObject({ code: 'provider.broken_response' });
  expect(outcome['is encoded as asked']?.tally.usage).toMatchObject({ inputTokens: 2 });
  expect(outcome['has no usage']?.tally.unreportedTokens).toBeGreaterThan(threadBytes / 4);
});

test('a large answer that breaks off is refused in the same words', async () => {
  const body = messagesAnswer('x').subarray(0, -1);

  const reading = decider.readAnswer(Buffer.from(body), reader(), new Lifetime());
  const there = await Promise.resolve(reading).catch((thrown) => thrown);

  expect(() => readAnswer(body, reader())).toThrow(there.message);
  expect(there).toMatchObject({ code: 'provider.broken_response' });
});
