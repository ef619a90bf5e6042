import { describe, expect, test } from 'vitest';
import { eventsOf, wholeOf } from '../../../src/dialects/answer-forms.ts';
import { dialects, type TextDialectName } from '../../../src/dialects/registry.ts';
import { formatSse } from '../../../src/dialects/sse.ts';
import { json, pathFor, stream } from '../../kit/answers.ts';
import { answerOf, clients } from '../../kit/five-turns.ts';
import { askedAt, clientForms, createTally, type TextClient, textPairs } from '../../kit/forms.ts';
import { post, secrets } from '../../kit/gateway.ts';
import type { HostRequest, Script } from '../../kit/host.ts';
import { scale } from '../../kit/scale.ts';
import { checkRequest } from '../../kit/strict/check-request.ts';
import type { Fields } from '../../kit/strict/shapes.ts';
import { nothingIssued, type Vendor, vendors } from '../../kit/strict/vendors.ts';
import { maskedGateway } from './masked-gateway.ts';
import { bodies, conversationOf, escaping, finishing, lastText, replying, saying } from './saying.ts';

// Values × kinds × fields of the answer × dialects of client and provider × where the stream is split: nothing of a value
// leaves, the answer is that of the same request without masks, and what leaves is as the real hosts demand it.

const detected = '{ detect: [email, { secrets: possible }, iban, credit_card, phone, private_key] }';
const names = "{ id: names, action: mask, when: { text: { regex: ['«[^»]*»'] } }, placeholder: CUSTOMER }";
const { host, gateway } = await maskedGateway({
  rules: [`{ id: found, action: mask, when: { text: ${detected} } }`, names],
  others: {
    areAlone: true,
    rules: [
      `{ id: shaped, action: mask, when: { text: ${detected} }, placeholder: shape }`,
      names.replace('id: names', 'id: names-too'),
    ],
  },
});

/** Without masks, with words and with shapes. */
const keys = [secrets.OTHER_KEY, secrets.PROJECT_KEY, secrets.OLD_KEY];

/** By kind: the text that holds it, and the value. */
const values: Readonly<Record<string, readonly [text: string, value: string]>> = {
  email: ['write to ann@example.com today', 'ann@example.com'],
  key: ['OPENAI_API_KEY=sk-proj-abc123def456ghi789jkl012mno345pqr678stu901vwx234', 'sk-proj-abc123def456'],
  password: ['DB_PASSWORD=gT7kQ2vLp9xR4m', 'gT7kQ2vLp9xR4m'],
  card: ['card 4111 1111 1111 1111 expires', '4111 1111 1111 1111'],
  telephone: ['call +41 44 668 18 00 today', '668 18 00'],
  account: ['IBAN DE89 3704 0044 0532 0130 00', '0532 0130 00'],
  quoted: ['the customer «"Ann" \\ & <b>» called', '"Ann"'],
  lines: ['the note «one\n\ttwo\r\n\u0000 🌿» ends', 'one'],
  unicode: ['the name «Łódź 東京 \u2028 é» there', 'Łódź'],
  short: ['the letter «x» there', '«x»'],
};

const fields = {
  text: (heard: string) => ({ text: `I heard ${heard}` }),
  'structured output': (heard: string) => ({ text: JSON.stringify({ a: { b: [heard] } }) }),
  'a call': (heard: string) => ({
    text: 'x',
    input: JSON.stringify({ command: `echo ${heard}`, list: [heard] }),
  }),
  'JSON in a call': (heard: string) => ({
    text: 'x',
    input: JSON.stringify({ content: JSON.stringify({ deep: JSON.stringify({ deeper: heard }) }) }),
  }),
  reasoning: (heard: string) => ({ text: 'x', thinking: `He said ${heard}` }),
} as const;

/** What a client puts together of an answer: each text by where it is, pieces of a stream one behind the other. */
function heard(came: string, isStream: boolean): Readonly<Record<string, string>> {
  const events = came.startsWith('[')
    ? (JSON.parse(came) as unknown[])
    : isStream
      ? [...came.matchAll(/^data: (\{[^\n]*)$/gm)].map(([, data = '']) => JSON.parse(data) as unknown)
      : [JSON.parse(came) as unknown];
  const texts: Record<string, string> = {};
  const walk = (value: unknown, path: string): void => {
    // Some hosts say with every piece why they finish.
    const isReason = /\/finish(?:_r|R)eason$/.test(path);
    if (typeof value === 'string') texts[path] = isReason ? value : (texts[path] ?? '') + value;
    else if (typeof value === 'object' && value !== null) {
      const { type = '', index = '', output_index = '' } = value as Record<string, string>;
      for (const [name, inner] of Object.entries(value))
        if (
          !/^(?:id|item_id|call_id|sequence_number|created|created_at|type|object|model|role|responseId|modelVersion)$/.test(
            name,
          )
        )
          // Only the first piece of a chat's call has a type.
          walk(inner, `${path}/${type === 'function' ? '' : type}${index}${output_index}/${name}`);
    }
  };
  for (const event of events) walk(event, '');
  return texts;
}

/** Whether the dialect's own hosts would refuse it; a cloud's have some members elsewhere. */
function isRefused(request: HostRequest): boolean {
  const { dialect, model, isStream } = conversationOf(request);
  const { anthropic_version: _, ...body } = JSON.parse(request.body.toString()) as Record<string, unknown>;
  const whole = dialect === 'messages' ? { model, ...body } : body;
  return checkRequest(pathFor(dialect, model, isStream), whole) !== undefined;
}

const none = 'has no texts in its answers';
const tally = createTally('masking', {
  without: {
    'client embeddings': none,
    'client gemini_embeddings': none,
    'provider embeddings': none,
    'provider gemini_embeddings': none,
  },
});

/** In short runs each at its own, where nothing is translated, and a quarter of the others: each form as both. */
const pairs = textPairs
  .filter(([client, provider], at) => clientForms[client] === provider || at % scale(4, 1) === 0)
  .map(([client, provider]) => ({ client, provider }));

describe.each(pairs)('a $client client at a $provider provider', ({ client, provider }) => {
  // Thinking may be signed in the Messages dialect, so it stays as it came.
  const names = Object.keys(fields).filter((field) => client !== 'messages' || field !== 'reasoning');

  test.each(names as (keyof typeof fields)[])(
    '%s: none leaves, all come back',
    { timeout: 120_000 },
    async (field) => {
      // Each value in each field at some of the pairs.
      const shift = pairs.findIndex((pair) => pair.client === client && pair.provider === provider);
      const all = Object.values(values);
      const tried = all.filter((_, i) => (i + shift) % scale(all.length, 5) === 0);
      expect(tried).not.toEqual([]);
      const counts = { answers: 0, open: 0, left: 0, different: 0, refused: 0 };
      const ask = async (key: string, text: string, isStream: boolean): Promise<string> => {
        const model = `at-${provider}`;
        const dialect = clientForms[client];
        const body = { ...(dialect !== 'gemini' && { model, stream: isStream }), ...bodies[dialect](text) };
        const init = { headers: { authorization: `Bearer ${key}` } };
        return JSON.stringify(
          heard(await (await post(gateway, askedAt(client, model, isStream), body, init)).text(), isStream),
        );
      };
      const askAll = async (text: string, isStream: boolean) => {
        const answers: string[] = [];
        for (const key of keys) answers.push(await ask(key, text, isStream));
        return answers;
      };
      for (const [text, value] of tried) {
        const answers: string[][] = [];
        // Whole, and in pieces of so many characters: with single ones each position of a placeholder is a seam.
        for (const [size, change] of [
          [undefined, undefined],
          [undefined, escaping],
          [1, finishing],
          [34, undefined],
          [34, escaping],
        ] as const) {
          const cut = (long: string) => long.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
          host.script(saying(fields[field], cut, change));
          answers.push(await askAll(text, size !== undefined));
        }
        for (const [plain, ...masked] of answers) {
          counts.answers += masked.length;
          counts.different += masked.filter((each) => each !== plain).length;
        }
        const written = JSON.stringify(value).slice(1, -1);
        const sent = host.requests.slice(-keys.length * answers.length);
        const withValue = sent.map(({ body }, at) => ({
          isPlain: at % keys.length === 0,
          has: body.includes(written),
        }));
        counts.refused += sent.filter(isRefused).length;
        counts.left += withValue.filter(({ isPlain, has }) => has && !isPlain).length;
        counts.open += withValue.filter(({ isPlain, has }) => has && isPlain).length;
      }

      const requests = tried.length * 5;
      tally.add(client, provider, counts.answers);
      expect(counts).toEqual({ answers: 2 * requests, open: requests, left: 0, different: 0, refused: 0 });
    },
  );
});

/** Hosts that sign or encrypt what their models think, or what they call. */
const signer = (
  host: keyof typeof vendors,
  dialect: TextDialectName,
  reasoning: Vendor['reasoning'] = 'signed',
) => vendors[host].find((each) => each.dialect === dialect && each.reasoning === reasoning) as Vendor;
const signing: Readonly<Record<TextDialectName, Vendor>> = {
  messages: signer('anthropic', 'messages'),
  chat: signer('openrouter', 'chat', 'details'),
  responses: signer('openai', 'responses'),
  gemini: signer('gemini', 'gemini'),
};

/** A host that thinks of what it heard, signs that, and calls a tool. */
function thinking(said: { answer?: unknown }): Script {
  return (response, request) => {
    const { dialect, isStream } = conversationOf(request);
    const heard = JSON.stringify(lastText(request.body)).slice(1, -1);
    const answer = answerOf(
      signing[dialect],
      { says: 'thinking and call', ids: 'fresh' },
      1,
      nothingIssued(),
    );
    said.answer = JSON.parse(JSON.stringify(answer).replaceAll('I think of', () => `I think of ${heard} in`));
    const events = eventsOf(dialects[dialect], said.answer as Fields) ?? [];
    const send = isStream
      ? stream([events.map(({ name, data }) => formatSse(name, data)).join('')])
      : json(JSON.stringify(said.answer));
    return send(response, request);
  };
}

/** What only its host can have made, with the text that it holds for. */
function signedIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { type, signature, thinking: text, data, encrypted_content, thoughtSignature } = value as Fields;
  const own =
    (signature && `${text} ${signature}`) ??
    encrypted_content ??
    thoughtSignature ??
    (type === 'redacted_thinking' || type === 'reasoning.encrypted' ? data : undefined);
  const inside = Object.values(value).flatMap(signedIn);
  return typeof own === 'string' ? [own, ...inside] : inside;
}

/** An answer as its client reads it, whole or from a stream. */
function readAnswer(client: TextClient, came: string, isStream: boolean): Fields {
  if (!isStream) return JSON.parse(came) as Fields;
  const events = client === 'gemini_array' ? (JSON.parse(came) as unknown[]) : undefined;
  const text = events?.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') ?? came;
  return wholeOf(dialects[clientForms[client]], Buffer.from(text));
}

describe.each(pairs)('a $client client that goes on at a $provider provider', ({ client, provider }) => {
  test('sends back what was signed as it was signed, and nothing of a value', {
    timeout: 120_000,
  }, async () => {
    const dialect = clientForms[client];
    const { user, replay, callsOf, results, field, start } = clients[dialect];
    const shift = pairs.findIndex((pair) => pair.client === client && pair.provider === provider);
    const tried = Object.values(values).filter((_, at) => (at + shift) % scale(5, 1) === 0);
    const model = `at-${provider}`;
    const wrong: unknown[] = [];
    let cases = 0;
    for (const [text, value] of tried) {
      for (const [key, isStream] of keys.flatMap((each) => [[each, false] as const, [each, true] as const])) {
        const ask = async (history: readonly Fields[]) => {
          const body = {
            ...start,
            [field]: history,
            ...(dialect !== 'gemini' && { model, stream: isStream }),
          };
          const init = { headers: { authorization: `Bearer ${key}` } };
          return (await post(gateway, askedAt(client, model, isStream), body, init)).text();
        };
        const said: { answer?: unknown } = {};
        host.script(thinking(said));
        const answer = readAnswer(client, await ask([user(text)]), isStream || client === 'gemini_array');
        host.script(replying(() => ({ text: 'done' })));
        const last = await ask([user(text), ...replay(answer), ...results(callsOf(answer), 'text')]);
        const sent = host.requests.at(-1)?.body.toString() ?? '';
        const written = JSON.stringify(value).slice(1, -1);
        cases += 1;
        const [issued, back] = [signedIn(said.answer), signedIn(JSON.parse(sent))];
        const isLeft = key !== secrets.OTHER_KEY && sent.includes(written);
        if (isLeft || issued.length === 0 || issued.join() !== back.join())
          wrong.push({ text, key, isStream, isLeft, issued, back, last: last.slice(0, 300) });
      }
    }
    tally.add(client, provider, cases);

    expect(wrong).toEqual([]);
  });
});

test('every form has had cases', () => {
  expect(tally.wrong()).toEqual([]);
});
