import { describe, expect, test } from 'vitest';
import { isText } from '../../src/dialects/dialect.ts';
import { hasModel, targetOf } from '../../src/dialects/model-path.ts';
import { type DialectName, dialects } from '../../src/dialects/registry.ts';
import { tableBetween } from '../../src/dialects/translate.ts';
import { speakAll } from '../kit/answers.ts';
import { providerOf } from '../kit/config.ts';
import { secrets, startGateway } from '../kit/gateway.ts';
import { type HostRequest, type ScriptedHost, startHost } from '../kit/host.ts';
import { scale } from '../kit/scale.ts';
import { fill } from './leaks/fill.ts';
import { isIn, type Thing, things } from './leaks/forbidden.ts';
import { type Body, shapesOf } from './leaks/shapes.ts';

// What leaves is what was checked: every field of every dialect is filled with what must not leave, in every form, and
// sent to every dialect through a gateway; then all that the host received is searched. Headers and the query:
// outgoing/evaluate-head.

const names = Object.keys(dialects) as DialectName[];
const pairs = names.flatMap((client) =>
  names.filter((provider) => canBeSent(client, provider)).map((provider) => ({ client, provider })),
);

function canBeSent(client: DialectName, provider: DialectName): boolean {
  const [one, other] = [dialects[client], dialects[provider]];
  return one === other || (isText(one) && isText(other) && tableBetween(one, other) !== undefined);
}

/** Routes whose first target fails, so that the second one, of another dialect, is tried with the same request. */
const detours = pairs.flatMap(({ client, provider: first }) =>
  pairs
    .filter(({ client: other, provider }) => other === client && provider !== first)
    .map(({ provider: second }) => ({ client, first, second })),
);

const received = new Map<string, HostRequest>();
const receivedByDown = new Map<string, HostRequest>();
const host = await startHost((response, request) => {
  received.set(idOf(request), request);
  return speakAll(response, request);
});
/** Fails each request. */
const downHost = await startHost((response, request) => {
  receivedByDown.set(idOf(request), request);
  response.writeHead(500).end();
});
const provider = (name: DialectName, { url }: ScriptedHost) =>
  providerOf(name, url, 'forward_headers: [x-team]');
const gateway = await startGateway(`
providers:
${names.map((name) => `  ${name}: ${provider(name, host)}\n  ${name}-down: ${provider(name, downHost)}`).join('\n')}
models:
${names.map((name) => `  - { match: to-${name}, provider: ${name} }`).join('\n')}
${names.flatMap((first) => names.map((second) => `  - { match: to-${first}-then-${second}, provider: ${first}-down, fallbacks: [{ provider: ${second} }] }`)).join('\n')}
policies:
  strict:
    rules:
      - { id: phrase, action: block, when: { text: { phrases: ["project nightfall"] } }, reason: content.phrase }
      - { id: found, action: block, when: { text: { detect: [credit_card, secrets] } }, reason: content.found }
  mild:
    rules:
      - { id: phrase-out, action: redact, when: { text: { phrases: ["project nightfall"] } }, reason: content.removed }
      - { id: found-out, action: redact, when: { text: { detect: [credit_card, secrets] } }, reason: content.removed }
projects:
  shop: { policies: [strict], keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
  other: { policies: [mild], keys: [{ id: other-web, value: "\${OTHER_KEY}" }] }
`);

function idOf({ headers }: HostRequest): string {
  return headers.find(([name]) => name === 'x-client-request-id')?.[1] ?? '';
}

interface Sent {
  readonly status: number;
  readonly form: string | null;
  /** What the hosts received. */
  readonly requests: readonly HostRequest[];
}

let sent = 0;

async function send(client: DialectName, body: string, key: string): Promise<Sent> {
  sent += 1;
  const id = `leak-${sent}`;
  const [method] = dialects[client].methods;
  const { model } = JSON.parse(body) as Body;
  const answer = await fetch(gateway.url + targetOf(method, String(model)), {
    method: 'POST',
    body: hasModel(method) ? body.replace(/"model":"to-[\w-]*",/, '') : body,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      'x-client-request-id': id,
    },
  });
  await answer.arrayBuffer();
  const requests = [receivedByDown, received].flatMap((requestsById) => requestsById.get(id) ?? []);
  received.delete(id);
  receivedByDown.delete(id);
  return { status: answer.status, form: answer.headers.get('x-gateway-body'), requests };
}

/** Runs some at once: waiting for each answer would double the time. */
async function forAll<Item>(items: Iterable<Item>, run: (item: Item) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) await run(next.value);
  };
  await Promise.all(Array.from({ length: 12 }, worker));
}

function isLeft(thing: Thing, { requests }: Sent): boolean {
  return requests.some(({ body, target, headers }) =>
    [JSON.parse(body.toString()), target, decodeURIComponent(target), ...headers.flat()]
      // Our own key is in its own header.
      .filter((each) => each !== secrets.PROVIDER_KEY && each !== `Bearer ${secrets.PROVIDER_KEY}`)
      .some((each) => isIn(thing, each)),
  );
}

describe.each(pairs)('$client to $provider', ({ client, provider }) => {
  const withModel = (body: string) => body.replace('"model":"x"', `"model":"to-${provider}"`);

  test('nothing forbidden reaches the host, and its harmless twins do', { timeout: 600_000 }, async () => {
    const counts = { sent: 0, held: 0, redacted: 0, harmless: 0 };
    const forms = new Set<string>();
    const left: string[] = [];
    const refused: string[] = [];
    let twins = 0;

    await forAll(cases(client, stepOf(client)), async ({ thing, form, at, forbidden, harmless }) => {
      for (const key of [secrets.PROJECT_KEY, secrets.OTHER_KEY]) {
        const outcome = await send(client, withModel(forbidden), key);
        counts.sent += 1;
        forms.add(form);
        if (isLeft(thing, outcome))
          left.push(`${thing.name} ${form} ${at} ${key === secrets.OTHER_KEY ? 'redacting' : ''}`);
        else if (outcome.status === 403) counts.held += 1;
        else if (outcome.form === 'redacted') counts.redacted += 1;
      }
      twins += 1;
      const twin = await send(
        client,
        withModel(harmless),
        twins % 2 ? secrets.PROJECT_KEY : secrets.OTHER_KEY,
      );
      if (twin.status === 200) counts.harmless += 1;
      // A shape that this provider can't take is no verdict on its content.
      else if (twin.status !== 400) refused.push(`${thing.name} ${form} ${at}: ${twin.status}`);
    });

    expect(left).toEqual([]);
    expect(refused).toEqual([]);
    const all = [
      'escaped',
      'key',
      'neighbours',
      ...(client === 'embeddings' ? [] : ['over one']),
      'twins',
      'whole',
    ];
    expect([...forms].sort()).toEqual(all);
    expect(counts.held).toBeGreaterThan(counts.sent / 5);
    expect(counts.redacted).toBeGreaterThan(0);
    expect(counts.harmless).toBeGreaterThan(counts.sent / 8);
  });
});

describe.each(detours.filter((_, i) => i % scale(2, 1) === 0))(
  '$client to $first, which fails, then to $second',
  ({ client, first, second }) => {
    const withModel = (body: string) => body.replace('"model":"x"', `"model":"to-${first}-then-${second}"`);

    test('nothing forbidden reaches either host', { timeout: 600_000 }, async () => {
      const left: string[] = [];
      let tried = 0;
      let answered = 0;

      await forAll(
        cases(client, client === 'gemini' ? scale(85, 35) : 5 * stepOf(client)),
        async ({ thing, form, at, forbidden, harmless }) => {
          tried += 1;
          for (const key of [secrets.PROJECT_KEY, secrets.OTHER_KEY]) {
            const outcome = await send(client, withModel(forbidden), key);
            if (isLeft(thing, outcome)) left.push(`${thing.name} ${form} ${at}`);
          }
          const twin = await send(client, withModel(harmless), secrets.OTHER_KEY);
          if (twin.status === 200) answered += 1;
        },
      );

      expect(left).toEqual([]);
      expect(answered).toBeGreaterThan(tried / 4);
    });
  },
);

/** Dialects with few fields have few cases. */
function stepOf(client: DialectName): number {
  if (client.endsWith('embeddings')) return 1;
  return client === 'gemini' ? scale(37, 13) : scale(89, 41);
}

/** Every so many of the places and forms. */
function* cases(client: DialectName, step: number) {
  let count = 0;
  for (const [number, shape] of shapesOf(client).entries()) {
    for (const pair of fill(shape, (place) => things[(number + place) % things.length] as Thing)) {
      count += 1;
      if (count % step === 0) yield pair;
    }
  }
}

test('every dialect and every row of its tables has shapes', () => {
  for (const name of names) expect(shapesOf(name).length).toBeGreaterThan(1);
  const shapes: readonly Body[] = names.flatMap((name) => shapesOf(name));
  expect(shapes.length).toBeGreaterThan(150);
});
