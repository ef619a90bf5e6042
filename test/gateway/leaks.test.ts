import { describe, expect, test } from 'vitest';
import { hasModel, targetOf } from '../../src/dialects/model-path.ts';
import { type DialectName, dialects } from '../../src/dialects/registry.ts';
import { speakAll } from '../kit/answers.ts';
import { providerOf } from '../kit/config.ts';
import { dialectNames, directions } from '../kit/dialects.ts';
import { secrets, startGateway } from '../kit/gateway.ts';
import { type HostRequest, startHost } from '../kit/host.ts';
import { scale } from '../kit/scale.ts';
import { fill } from './leaks/fill.ts';
import { isIn, type Thing, things } from './leaks/forbidden.ts';
import { type Body, shapesOf } from './leaks/shapes.ts';

// What leaves is what was checked: every field of every dialect is filled with what must not leave, in every form, and
// sent to every dialect through a gateway; then all that the host received is searched. Headers and the query:
// outgoing/evaluate-head; fallbacks: outgoing/build-upstream-request.

const pairs = [...dialectNames.map((name) => [name, name] as const), ...directions];

const received = new Map<string, HostRequest>();
const host = await startHost((response, request) => {
  received.set(idOf(request), request);
  return speakAll(response, request);
});
const gateway = await startGateway(`
providers:
${dialectNames.map((name) => `  ${name}: ${providerOf(name, host.url, 'forward_headers: [x-team]')}`).join('\n')}
models:
${dialectNames.map((name) => `  - { match: to-${name}, provider: ${name} }`).join('\n')}
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
  /** What the host received. */
  readonly request: HostRequest | undefined;
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
  const request = received.get(id);
  received.delete(id);
  return { status: answer.status, form: answer.headers.get('x-gateway-body'), request };
}

/** Runs some at once: waiting for each answer would double the time. */
async function forAll<Item>(items: Iterable<Item>, run: (item: Item) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) await run(next.value);
  };
  await Promise.all(Array.from({ length: 12 }, worker));
}

function isLeft(thing: Thing, { request }: Sent): boolean {
  if (request === undefined) return false;
  const { body, target, headers } = request;
  return (
    [JSON.parse(body.toString()), target, decodeURIComponent(target), ...headers.flat()]
      // Our own key is in its own header.
      .filter((each) => each !== secrets.PROVIDER_KEY && each !== `Bearer ${secrets.PROVIDER_KEY}`)
      .some((each) => isIn(thing, each))
  );
}

describe.each(pairs)('%s to %s', (client, provider) => {
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
  for (const name of dialectNames) expect(shapesOf(name).length).toBeGreaterThan(1);
  const shapes: readonly Body[] = dialectNames.flatMap((name) => shapesOf(name));
  expect(shapes.length).toBeGreaterThan(150);
});
