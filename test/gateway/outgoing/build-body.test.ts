import { describe, expect, test } from 'vitest';
import { withCapLimit } from '../../../src/gateway/decision/decide-request.ts';
import { translateBody } from '../../../src/gateway/decision/translate-request.ts';
import { endpoints, type ModelEndpoint } from '../../../src/gateway/endpoints.ts';
import { type BodyTarget, buildBody } from '../../../src/gateway/outgoing/build-upstream-request.ts';
import { parseRequest } from '../../../src/gateway/request.ts';
import type { KnownModel } from '../../../src/limits/known-models.ts';
import { compile, subjectOf } from '../../policy/deciding.ts';

const target: BodyTarget = {
  dialect: 'messages',
  model: 'claude',
  host: 'unknown',
  origin: 'o',
  family: 'anthropic',
  entry: { match: 'claude', isPattern: false, targets: [{ provider: 'p' }] },
};

function build(
  body: string,
  destination: Partial<BodyTarget> = {},
  rules: readonly unknown[] = [],
  path = '/v1/messages',
) {
  const endpoint = endpoints.get(path) as ModelEndpoint; // those asked for here are all of models
  const parsed = parseRequest(Buffer.from(body), endpoint);
  const policies = compile({ house: { rules } }).select(['house']);
  const subject = subjectOf({}, { model: parsed.model });
  const request = withCapLimit(policies, parsed, { subject });
  const { document: _document, dialect: _dialect, ...meta } = subject;
  const built = buildBody({ request, endpoint, meta }, { ...target, ...destination });
  const made = built.form === 'untranslated' ? translateBody(built).body : built.body;
  return { form: built.form, text: made.toString(), isSame: made === request.document.bytes };
}

const over = (tokens: number) => ({
  id: `over-${tokens}`,
  action: 'block',
  when: { max_output_tokens: { over: tokens } },
  reason: 'limits.max_output_tokens',
});

describe('the same dialect', () => {
  const body =
    '{ "messages" : [] ,\n "mode\\u006c":"claud\\u0065" ,"max_tokens":9, "seed":9007199254740993, "é":1.0 }';

  test('gets the very bytes where the name is the same, however it was spelled', () => {
    expect(build(body)).toEqual({ form: 'exact', text: body, isSame: true });
  });

  test('gets the bytes with nothing replaced but the name where it is another', () => {
    expect(build(body, { model: 'a"b\\é' })).toMatchObject({
      form: 'spliced',
      text: body.replace('claud\\u0065', 'a\\"b\\\\é'),
    });
  });
});

describe('the usage of a chat stream', () => {
  const ask = (body: string, asksUsage = true) =>
    build(body, { dialect: 'chat', host: 'openai', family: 'openai', asksUsage }, [], '/v1/chat/completions');
  const rest = '"stream":true, "messages" : [],"model":"claude"}';

  test.each([
    [`{ ${rest}`, `{"stream_options":{"include_usage":true}, ${rest}`],
    [`{"stream_options" : null,${rest}`, `{"stream_options" : {"include_usage":true},${rest}`],
    [`{"stream_options":{ },${rest}`, `{"stream_options":{"include_usage":true },${rest}`],
    [`{"stream_options":{"x":1},${rest}`, `{"stream_options":{"include_usage":true,"x":1},${rest}`],
    [
      `{"stream_options":{"include_usage": false},${rest}`,
      `{"stream_options":{"include_usage": true},${rest}`,
    ],
  ])('is asked for in %s', (sent, expected) => {
    expect(ask(sent)).toMatchObject({ form: 'spliced', text: expected });
    expect(ask(sent, false)).toMatchObject({ form: 'exact', text: sent });
  });

  test.each([
    `{"stream_options":{"include_usage":true},${rest}`,
    `{"stream_options":[],${rest}`,
    '{"messages":[],"model":"claude"}',
    '{"stream":false,"messages":[],"model":"claude"}',
  ])('is not asked for in %s', (sent) => {
    expect(ask(sent)).toMatchObject({ form: 'exact', text: sent });
  });
});

describe('a cap that the client left out', () => {
  const rest = '"model":"claude", "messages" : []}';

  test.each([
    ['absent', `{ ${rest}`, `{"max_tokens":4096, ${rest}`],
    ['null', `{"max_tokens" : null ,${rest}`, `{"max_tokens" : 4096 ,${rest}`],
  ])('is put in where it is %s', (_name, sent, expected) => {
    expect(build(sent)).toMatchObject({ form: 'spliced', text: expected });
  });

  test('is put in with a renamed model, in the order of the bytes', () => {
    const body = '{"model":"claude","max_tokens":null,"messages":[]}';

    expect(build(body, { model: 'other' }).text).toBe('{"model":"other","max_tokens":4096,"messages":[]}');
  });

  test.each(['0', '1', '1e3', '10.0', '32000'])('of %s is the client’s own', (cap) => {
    expect(build(`{"max_tokens":${cap},${rest}`)).toMatchObject({ form: 'exact' });
  });

  test('is the model’s own limit, but never more than a rule lets pass', () => {
    const entry = {
      match: 'claude',
      isPattern: false,
      targets: [{ provider: 'p' }],
      maxOutputTokens: 64_000,
    } as const;

    expect(build(`{${rest}`, { entry }).text).toContain('"max_tokens":64000');
    expect(build(`{${rest}`, { entry }, [over(1_000)]).text).toContain('"max_tokens":1000');
    expect(build(`{${rest}`, {}, [over(9_000)]).text).toContain('"max_tokens":4096');
    expect(build(`{${rest}`, {}, [over(0)]).text).toContain('"max_tokens":0');
  });

  test('is nobody’s business at the sandbox, where tokens are counted, and in other dialects', () => {
    expect(build(`{${rest}`, { family: 'sandbox' })).toMatchObject({ form: 'exact' });
    expect(build(`{${rest}`, {}, [], '/v1/messages/count_tokens')).toMatchObject({ form: 'exact' });
    expect(build(`{${rest}`, { dialect: 'chat' }, [], '/v1/chat/completions')).toMatchObject({
      form: 'exact',
    });
  });

  test('of a client of another vendor is lowered to what the model is known to write', () => {
    const body = '{"model":"gpt-4o","max_tokens":64000,"messages":[{"role":"user","content":"hi"}]}';
    const { text } = build(body, {
      dialect: 'chat',
      model: 'gpt-4o',
      family: 'openai',
      known: { maxOutputTokens: 16_384 } as KnownModel,
    });

    expect(JSON.parse(text)).toMatchObject({ max_tokens: 16_384 });
  });

  test('is what the model can write in a translation, whose client knows no cap', () => {
    const translated = (cap: string, rules: readonly unknown[] = []) => {
      const body = `{"model":"claude",${cap}"messages":[{"role":"user","content":"x"}]}`;
      return JSON.parse(build(body, {}, rules, '/v1/chat/completions').text).max_tokens;
    };

    expect(translated('')).toBe(32_000);
    expect(translated('', [over(100)])).toBe(100);
    expect(translated('"max_tokens":7,')).toBe(7);
  });
});
