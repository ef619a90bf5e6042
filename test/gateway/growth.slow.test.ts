import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { isText, methodFor } from '../../src/dialects/dialect.ts';
import { hasModel } from '../../src/dialects/model-path.ts';
import { dialects, type TextDialectName } from '../../src/dialects/registry.ts';
import { LazyDfa } from '../../src/policy/automaton/lazy-dfa.ts';
import { ProductDfa } from '../../src/policy/automaton/product-dfa.ts';
import { json, speakAll, stream } from '../kit/answers.ts';
import { modelsAt, providersAt } from '../kit/config.ts';
import {
  allPairs,
  allProviders,
  askedAt,
  type ClientForm,
  clientForms,
  createTally,
  type ProviderForm,
  providerForms,
} from '../kit/forms.ts';
import { secrets, startGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';
import { recordedStream, recordings } from '../kit/recorded-streams.ts';
import { scale } from '../kit/scale.ts';
import { createStepCounter, type StepCounter, type Steps, steepPlaces } from '../kit/steps.ts';
import { answersOf } from './growth/answers.ts';
import { connectorsOf } from './growth/connectors.ts';
import { type Growth, growthsOf } from './growth/grow.ts';
import { growthsOfStream } from './growth/streams.ts';
import { shapesOf } from './leaks/shapes.ts';
import { bodies } from './masking/saying.ts';

// The cost of an exchange is linear in its bytes, whatever grows in it: every list, object and text of every dialect's
// requests and answers, and the events of its streams, at the dialect's own provider and translated, with everything on the
// way that policies can put there. Steps are counted, not time; the bench (bench/linear.mjs) measures that.

/** Only growths of this name, while one looks into it. */
const isThorough = process.env.THOROUGH === '1';
const wanted = process.env.WANTED;
const times = 4;

const host = await startHost(speakAll);
const gateway = await startGateway(`
providers:
${providersAt(host.url, { names: allProviders })}
models:
${modelsAt('to-', { names: allProviders })}
policies:
  all:
    rules:
      - { id: phrases, action: warn, when: { text: { phrases: ["project nightfall", "internal only"] } } }
      - { id: patterns, action: warn, when: { text: { regex: ['\\bTCK-[0-9]{6}\\b', 'a.{20,40}z'] } } }
      - { id: found, action: warn, when: { text: { detect: [{ credit_card: possible }, { phone: possible }, { iban: possible }, { us_ssn: possible }, { ip_address: possible }, { secrets: possible }, { private_key: possible }] } } }
      - { id: offered, action: warn, when: { tools: ["forbidden_*"] } }
      - { id: masked, action: mask, when: { text: { detect: [email] } } }
      - { id: answers, action: redact, apply_to: [response], when: { text: { regex: ['\\bTCK-[0-9]{6}\\b'], phrases: ["project nightfall"] } } }
projects:
  shop: { policies: [all], keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
`);

let counter: StepCounter;
// Where everything is tried.
vi.setConfig({ testTimeout: scale(60_000, 900_000) });

beforeAll(async () => {
  counter = await createStepCounter();
  // No decision is given up here and made again where nothing counts.
  vi.spyOn(performance, 'now').mockReturnValue(0);
});
afterAll(() => {
  vi.restoreAllMocks();
  return counter.close();
});

const tally = createTally('growth');

interface Sent {
  readonly client: ClientForm;
  readonly provider: ProviderForm;
  readonly body: string;
  readonly isStream?: boolean;
}

async function send({ client, provider, body, isStream = false }: Sent): Promise<number> {
  const answer = await fetch(gateway.url + askedAt(client, `to-${provider}`, isStream), {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secrets.PROJECT_KEY}` },
  });
  await answer.arrayBuffer().catch(() => undefined); // a stream that grew may be cut
  return answer.status;
}

/** The body of a request, with the model where its dialect has it. */
function toBody(client: ClientForm, provider: ProviderForm, { model: _, ...rest }: Record<string, unknown>) {
  return hasModel(methodFor(dialects[clientForms[client]], false))
    ? rest
    : { ...rest, model: `to-${provider}` };
}

/**
 * The places that are steep in some inputs, each time: V8 sometimes loses what it has counted of a function. A cost that
 * grows with the square does so however often it is measured.
 */
async function steepIn(
  growths: readonly Growth[],
  run: (input: string) => Promise<unknown>,
  small = 8_000,
): Promise<readonly string[]> {
  const steep: string[] = [];
  for (const { name, make } of growths) {
    const count = (bytes: number) => counter.count(() => run(make(bytes)));
    let found = await steepPlacesOf(count, small);
    for (let repeats = 0; repeats < 2 && found.length > 0; repeats += 1)
      found = inBoth(await steepPlacesOf(count, small), found);
    steep.push(...found.map((place) => `${name}: ${place.name} ${place.growth.toFixed(1)}`));
  }
  return steep;
}

type SteepPlaces = ReturnType<typeof steepPlaces>;

/** Those that are so from a small input to a larger one, and from that to one that is larger still: others have just begun. */
async function steepPlacesOf(count: (bytes: number) => Promise<Steps>, small: number): Promise<SteepPlaces> {
  // The larger one first: the tables of the automata fill.
  const four = await count(small * times);
  const found = steepPlaces(await count(small), four, small);
  if (found.length === 0) return found;
  return inBoth(steepPlaces(four, await count(small * times * times), small * times), found);
}

function inBoth(places: SteepPlaces, others: SteepPlaces): SteepPlaces {
  return places.filter((place) => others.some(({ name }) => name === place.name));
}

/**
 * A sample of all that grows, another one for each pair. With THOROUGH=1 all lists too, for half an hour: most quadratic
 * loops look through one list for each element of another. With WANTED=… all whose names have it.
 */
function sampled(growths: readonly Growth[], count: number, offset: number): readonly Growth[] {
  const all = [...new Map(growths.map((growth) => [growth.name, growth])).values()];
  const step = Math.max(1, Math.floor(all.length / count));
  if (wanted !== undefined) return all.filter(({ name }) => name.includes(wanted));
  const isList = ({ name }: Growth) => /: more, (?:apart|crossed)$/.test(name);
  return all.filter((growth, at) => (at + offset) % step === 0 || (isThorough && isList(growth)));
}

/** Words of the recorded answers, some at the end of a piece, in whose place a placeholder may begin. */
const toBegin = /ci|Grüße|wächst\./g;

/** Fills the caches of names, of which each holds a thousand: what grows then is known to none of them. */
const fillers = Array.from({ length: 1_100 }, (_, at) => `"filler${at}":1`).join(',');

describe.each(allPairs.map((pair, number) => [...pair, number] as const))(
  '%s to %s',
  (client, provider, number) => {
    // Whether automata have room for what is new to them depends on all texts before, and with it what each text costs,
    // a bounded number of times as much. So one half of the pairs always has it, and the other never.
    beforeEach(() => {
      for (const { prototype } of [LazyDfa, ProductDfa])
        vi.spyOn(prototype, 'isFull', 'get').mockReturnValue(number % 2 === 1);
    });

    const dialect = clientForms[client];
    const asking = JSON.stringify(toBody(client, provider, shapesOf(dialect, host.url).at(2) ?? {}));
    const count = (growths: readonly Growth[]) => {
      tally.add(client, provider, growths.length);
      return growths;
    };
    /** With what is masked, so that the answer is searched for its placeholder. */
    const body = isText(dialects[dialect])
      ? JSON.stringify(
          toBody(client, provider, {
            model: '',
            ...bodies[dialect as TextDialectName]('ask rosa@example.org'),
          }),
        )
      : asking;

    test('requests', async () => {
      host.script(speakAll);
      expect(await send({ client, provider, body: asking.replace('{', `{${fillers},`) })).toBe(200);
      const growths = [...shapesOf(dialect, host.url), ...connectorsOf(dialect)].flatMap((shape) =>
        growthsOf(toBody(client, provider, shape)),
      );

      const steep = await steepIn(count(sampled(growths, scale(2, 8), number)), (grown) =>
        send({ client, provider, body: grown }),
      );

      expect(steep).toEqual([]);
    });

    test('answers', async () => {
      const answers = answersOf(providerForms[provider]);
      host.script(json(JSON.stringify(answers[0])));
      expect(await send({ client, provider, body })).toBe(200);

      const steep = await steepIn(
        count(sampled(answers.flatMap(growthsOf), scale(1, 4), number)),
        (grown) => {
          host.script(json(grown));
          return send({ client, provider, body });
        },
      );

      expect(steep).toEqual([]);
    });

    test.runIf(isText(dialects[dialect]))('streams', async () => {
      const isAsked = methodFor(dialects[dialect], true).stream === 'asked';
      const streaming = isAsked ? body.replace('{', '{"stream":true,') : body;
      const recorded = recordings.filter(
        (name) => name.startsWith(`${providerForms[provider]}.`) && /\.(?:text|two-tools.*)$/.test(name),
      );
      const growths = recorded.flatMap((name) =>
        growthsOfStream(recordedStream(name)).map((growth) => ({
          ...growth,
          name: `${name}, ${growth.name}`,
        })),
      );
      expect(growths).not.toEqual([]);

      const steep = await steepIn(
        count(sampled(growths, scale(2, 6), number)),
        (grown) => {
          host.script(stream([grown.replaceAll(toBegin, 'EMAIL_')]));
          return send({ client, provider, body: streaming, isStream: true });
        },
        16_000,
      );

      expect(host.requests.at(-1)?.body.toString()).toContain('EMAIL_');
      expect(steep).toEqual([]);
    });
  },
);

test('every form has had cases', () => {
  expect(tally.wrong()).toEqual([]);
});
