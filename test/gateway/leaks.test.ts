import { describe, expect, test } from 'vitest';
import { hasModel } from '../../src/dialects/model-path.ts';
import { dialects } from '../../src/dialects/registry.ts';
import { speakAll } from '../kit/answers.ts';
import { modelsAt, providersAt } from '../kit/config.ts';
import { dialectNames } from '../kit/dialects.ts';
import { allPairs, allProviders, askedAt, type ClientForm, clientForms, createTally } from '../kit/forms.ts';
import { secrets, startGateway } from '../kit/gateway.ts';
import { type HostRequest, startHost } from '../kit/host.ts';
import { scale } from '../kit/scale.ts';
import { fill, type Pair } from './leaks/fill.ts';
import { isIn, type Thing, things } from './leaks/forbidden.ts';
import { type Body, shapesOf } from './leaks/shapes.ts';

// What leaves is what was checked: every field of every dialect is filled with what must not leave, in every form, and
// sent to every dialect through a gateway; then all that the host received is searched. Headers and the query:
// outgoing/evaluate-head; fallbacks: outgoing/build-upstream-request.

const tally = createTally('leaks');

const received = new Map<string, HostRequest>();
const host = await startHost((response, request) => {
  received.set(idOf(request), request);
  return speakAll(response, request);
});
const gateway = await startGateway(`
providers:
${providersAt(host.url, { names: allProviders, more: 'forward_headers: [x-team]', of: { chat: 'host: openrouter' } })}
models:
${modelsAt('to-', { names: allProviders })}
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
  /** The answer's body. */
  readonly answer: string;
  /** What the host received. */
  readonly request: HostRequest | undefined;
}

let sent = 0;

async function send(client: ClientForm, body: string, key: string): Promise<Sent> {
  sent += 1;
  const id = `leak-${sent}`;
  const [method] = dialects[clientForms[client]].methods;
  const { model } = JSON.parse(body) as Body;
  const answer = await fetch(gateway.url + askedAt(client, String(model), false), {
    method: 'POST',
    body: hasModel(method) ? body.replace(/"model":"to-[\w-]*",/, '') : body,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      'x-client-request-id': id,
    },
  });
  const text = await answer.text();
  const request = received.get(id);
  received.delete(id);
  return { status: answer.status, form: answer.headers.get('x-gateway-body'), answer: text, request };
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

/** In which forms things were sent by each client, and how many were taken out on the way. */
const formsOf = new Map<ClientForm, Set<string>>();
const redactedOf = new Map<ClientForm, number>();

describe.each(allPairs.map((pair, number) => [...pair, number] as const))(
  '%s to %s',
  (client, provider, pair) => {
    const withModel = (body: string) => body.replace('"model":"x"', `"model":"to-${provider}"`);

    test('nothing forbidden reaches the host, and its harmless twins do', { timeout: 600_000 }, async () => {
      const counts = { sent: 0, held: 0, redacted: 0, harmless: 0 };
      const forms = formsOf.get(client) ?? new Set<string>();
      formsOf.set(client, forms);
      const left: string[] = [];
      const refused: string[] = [];
      let twins = 0;

      await forAll(cases(client, pair), async ({ thing, form, at, forbidden, harmless }) => {
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
        else if (twin.status !== 400)
          refused.push(`${thing.name} ${form} ${at}: ${twin.status} ${twin.answer}`);
      });

      tally.add(client, provider, counts.sent);
      expect(left).toEqual([]);
      expect(refused).toEqual([]);
      expect(counts.held).toBeGreaterThan(counts.sent / 5);
      redactedOf.set(client, (redactedOf.get(client) ?? 0) + counts.redacted);
      expect(counts.harmless).toBeGreaterThan(counts.sent / 8);
    });
  },
);

/** Of each form every so many of the places, others for each pair; dialects with few fields have few cases. */
function stepOf(client: ClientForm, { isSealed }: Pair): number {
  if (client.endsWith('embeddings')) return 1;
  if (isSealed) return scale(11, 1);
  return clientForms[client] === 'gemini' ? scale(37, 13) : scale(67, 41);
}

function* cases(client: ClientForm, pair: number) {
  const counts = new Map<string, number>();
  for (const [number, shape] of shapesOf(clientForms[client], host.url).entries()) {
    for (const each of fill(shape, (place) => things[(number + place) % things.length] as Thing)) {
      const kind = `${each.form} ${each.isSealed}`;
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      if ((count + pair) % stepOf(client, each) === 0) yield each;
    }
  }
}

test('every dialect and every row of its tables has shapes', () => {
  for (const name of dialectNames) expect(shapesOf(name, host.url).length).toBeGreaterThan(1);
  const shapes: readonly Body[] = dialectNames.flatMap((name) => shapesOf(name, host.url));
  expect(shapes.length).toBeGreaterThan(150);
});

test('every form has had cases', () => {
  const all = ['escaped', 'key', 'neighbours', 'over one', 'twins', 'whole'];
  // It has no more than two texts.
  const ofEmbeddings = all.filter((form) => form !== 'over one');
  for (const [client, forms] of formsOf)
    expect([...forms].sort()).toEqual(client === 'embeddings' ? ofEmbeddings : all);
  expect([...redactedOf.values()].every((count) => count > 0)).toBe(true);
  expect(tally.wrong()).toEqual([]);
});
