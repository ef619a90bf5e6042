import { describe, expect, test } from 'vitest';
import { decideOffline } from '../../../src/gateway/offline/decide-offline.ts';
import { destinationNamed } from '../../../src/gateway/offline/question.ts';
import { speakAll } from '../../kit/answers.ts';
import { configFrom, secrets, startGateway } from '../../kit/gateway.ts';
import { startHost } from '../../kit/host.ts';
import { createRandom, type Random } from '../../kit/random.ts';
import { postRaw } from '../../kit/raw.ts';
import { scale } from '../../kit/scale.ts';

// Generated model lists and requests: where the gateway sends each, what `explain` says, and what a model of the rules
// that shares no code with either expects.

const names = ['Muster AG', 'Nordlicht', 'Zephyr'] as const;
const agents = ['claude', 'codex', 'opencode'] as const;
const classes = ['main', 'compaction', 'auxiliary'] as const;
const providers = ['p0', 'p1', 'p2', 'p3'] as const;
const userAgents = { claude: 'claude-cli/2.1.332', codex: 'codex/1', opencode: 'opencode/1.18.33' } as const;

/** A request, by what conditions look at. */
interface Facts {
  readonly model: string;
  readonly says: readonly string[];
  readonly words: number;
  readonly hasImage: boolean;
  readonly thinks: boolean;
  readonly isStream: boolean;
  readonly turns: number;
  readonly agent: (typeof agents)[number] | undefined;
  readonly class: (typeof classes)[number] | undefined;
  readonly session: string | undefined;
}

interface Conditions {
  readonly text?: readonly string[];
  readonly tokens?: number;
  readonly images?: boolean;
  readonly thinking?: boolean;
  readonly stream?: boolean;
  readonly messages?: number;
  readonly client?: readonly string[];
  readonly class?: readonly string[];
  readonly session?: string;
}

interface Entry {
  readonly match: string;
  readonly when?: Conditions | undefined;
  readonly unless?: Conditions | undefined;
  /** Those among which requests are spread, and then the fallbacks. */
  readonly groups: readonly (readonly string[])[];
}

/** How its hosts answer: what is asked next depends on it. */
const statuses = [500, 500, 429, 403] as const;

interface List {
  readonly entries: readonly Entry[];
  readonly status: (typeof statuses)[number];
  /** A text that a rule lets go to these providers alone. */
  readonly guarded: { readonly name: string; readonly providers: readonly string[] } | undefined;
}

/** Providers that may be asked, and those of the entry that is, by groups; a text if none may. */
interface Targets {
  readonly open: readonly (readonly string[])[];
  readonly asked: readonly (readonly string[])[];
}

function expected({ entries, guarded }: List, facts: Facts): Targets | 'blocked' | 'no entry' {
  const meets = (own: Conditions) =>
    (own.text === undefined || own.text.some((name) => facts.says.includes(name))) &&
    (own.tokens === undefined || facts.words * 5 > own.tokens * 3) &&
    (own.images === undefined || own.images === facts.hasImage) &&
    (own.thinking === undefined || own.thinking === facts.thinks) &&
    (own.stream === undefined || own.stream === facts.isStream) &&
    (own.messages === undefined || facts.turns > own.messages) &&
    (own.client === undefined || own.client.includes(facts.agent ?? '-')) &&
    (own.class === undefined || own.class.includes(facts.class ?? '-')) &&
    (own.session === undefined || (facts.session ?? '-').startsWith(own.session));
  const taken: Entry[] = [];
  for (const entry of entries) {
    const isNamed = entry.match === facts.model || (entry.match === 'm*' && facts.model.startsWith('m'));
    if (!isNamed) continue;
    const isPlain = entry.when === undefined && entry.unless === undefined;
    if (isPlain && taken.length > 0) break;
    const holds = (entry.when === undefined || meets(entry.when)) && !(entry.unless && meets(entry.unless));
    if (holds) taken.push(entry);
    if (isPlain) break;
  }
  if (taken.length === 0) return guarded && facts.says.includes(guarded.name) ? 'blocked' : 'no entry';
  const isGuarded = guarded !== undefined && facts.says.includes(guarded.name);
  const open = taken.map((entry) =>
    entry.groups
      .map((group) => group.filter((name) => !isGuarded || guarded.providers.includes(name)))
      .filter((group) => group.length > 0),
  );
  const asked = open.find((each) => each.length > 0);
  return asked === undefined ? 'blocked' : { open: open.flat(), asked };
}

/**
 * Whether these are asked, as `provider key`, one after another: of a group one, if it fails; all of their keys, the
 * keys of a provider together, if each asks to wait; nobody after a refusal.
 */
function fits(asked: readonly string[], groups: Targets['asked'], status: List['status']): boolean {
  let rest = asked;
  for (const group of status === 403 ? groups.slice(0, 1) : groups) {
    const all = status === 429 ? group.flatMap(withKeys) : group.slice(0, 1);
    const own = rest.slice(0, all.length);
    rest = rest.slice(all.length);
    const hosts = own.map((each) => each.split(' ')[0] ?? '');
    const runs = hosts.filter((name, i) => name !== hosts[i - 1]).length;
    if (own.length < all.length || new Set(own).size < own.length) return false;
    if (!hosts.every((name) => group.includes(name)) || runs > new Set(hosts).size) return false;
  }
  return rest.length === 0;
}

const withKeys = (name: string) => (name < 'p2' ? [`${name} a`, `${name} b`] : [`${name} a`]);

function some<T>(random: Random, all: readonly T[]): readonly T[] {
  const chosen = all.filter(() => random.below(2) === 0);
  return chosen.length > 0 ? chosen : [random.of(all)];
}

const maybe = <T>(random: Random, make: () => T, oneIn = 3): T | undefined =>
  random.below(oneIn) === 0 ? make() : undefined;

function conditionsOf(random: Random): Conditions {
  const all = {
    text: maybe(random, () => some(random, names)),
    tokens: maybe(random, () => random.of([500, 2_000]), 5),
    images: maybe(random, () => random.below(2) === 0, 6),
    thinking: maybe(random, () => random.below(2) === 0, 6),
    stream: maybe(random, () => random.below(2) === 0, 8),
    messages: maybe(random, () => random.of([1, 3]), 8),
    client: maybe(random, () => some(random, agents), 5),
    class: maybe(random, () => some(random, classes), 5),
    session: maybe(random, () => random.of(['night', 'day']), 7),
  };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return Object.keys(given).length === 0 ? { text: [random.of(names)] } : given;
}

function listOf(random: Random): List {
  const entries = Array.from({ length: 1 + random.below(6) }, (): Entry => {
    const isPlain = random.below(5) === 0;
    const when = isPlain ? undefined : maybe(random, () => conditionsOf(random), 1 + random.below(2));
    const unless =
      isPlain || (when && random.below(2) === 0) ? undefined : maybe(random, () => conditionsOf(random), 1);
    return {
      match: random.of(['m1', 'm2', 'm*', 'm*']),
      when,
      unless,
      groups: groupsOf(random),
    };
  });
  const last: Entry = { match: 'm*', groups: [[random.of(providers)]] };
  return {
    status: random.of(statuses),
    entries: random.below(4) === 0 ? entries : [...entries, last],
    guarded: maybe(random, () => ({ name: random.of(names), providers: some(random, providers) }), 2),
  };
}

function groupsOf(random: Random): Entry['groups'] {
  const all = random.below(3) === 0 ? some(random, providers) : [random.of(providers)];
  const spread = random.below(3);
  return spread === 0 ? [all] : all.map((name) => [name]);
}

function factsOf(random: Random): Facts {
  return {
    model: random.of(['m1', 'm2', 'm3']),
    says: names.filter(() => random.below(4) === 0),
    words: random.of([1, 100, 500, 3_000]),
    hasImage: random.below(4) === 0,
    thinks: random.below(4) === 0,
    isStream: random.below(4) === 0,
    turns: random.of([1, 2, 3, 5]),
    agent: maybe(random, () => random.of(agents), 2),
    class: maybe(random, () => random.of(classes), 2),
    session: maybe(random, () => random.of(['night-1', 'day-2', 'noon-3']), 2),
  };
}

function toYaml({ entries, guarded }: List, url: string): string {
  const conditions = (own: Conditions) => {
    const { text, tokens, messages, session, ...same } = own;
    return JSON.stringify({
      ...same,
      ...(text && { text: { phrases: text } }),
      ...(tokens !== undefined && { input_tokens: { over: tokens } }),
      ...(messages !== undefined && { messages: { over: messages } }),
      ...(session !== undefined && { session: [`${session}*`] }),
    });
  };
  const models = entries.map(({ match, when, unless, groups: [first = [], ...others] }, i) => {
    const own = [when && `when: ${conditions(when)}`, unless && `unless: ${conditions(unless)}`];
    const fallbacks = others.map((provider) => `{ provider: ${provider} }`).join(', ');
    const targets = first.map((provider, j) => `{ provider: ${provider}, weight: ${1 + ((i + j) % 3)} }`);
    const where = first.length === 1 ? `provider: ${first}` : `targets: [${targets.join(', ')}]`;
    const all = [`match: "${match}"`, ...own, where, `fallbacks: [${fallbacks}]`];
    return `  - { ${all.filter(Boolean).join(', ')} }`;
  });
  const guard = guarded
    ? `policies:\n  g:\n    apply: all\n    rules:\n      - { id: stays, action: block, when: { text: { phrases: [${guarded.name}] } }, unless: { provider: [${guarded.providers}] } }\n`
    : '';
  const settings = 'retries: { attempts: 1 }, breaker: { failures: 1000 }';
  const one = 'api_key: "${' + 'PROVIDER_KEY}"';
  const two = 'api_keys: { a: "${' + 'PROVIDER_KEY}", b: "${' + 'HEADER_KEY}" }';
  const hosts = providers.map((name) => {
    const keys = withKeys(name).length > 1 ? two : one;
    return `  ${name}: { dialect: anthropic, base_url: "${url}/${name}", ${keys}, ${settings} }`;
  });
  return `server: { port: 0 }\nproviders:\n${hosts.join('\n')}\nmodels:\n${models.join('\n')}\n${guard}projects:\n  shop:\n    keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }]\n`;
}

function toBody({ model, says, words, hasImage, thinks, isStream, turns }: Facts): object {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
  const text = { type: 'text', text: `${'word '.repeat(words)}${says.join(', ')}` };
  const content = hasImage ? [text, image] : [text];
  return {
    ...{ model, max_tokens: 9 },
    ...(isStream && { stream: true }),
    ...(thinks && { thinking: { type: 'enabled', budget_tokens: 1_024 } }),
    messages: Array.from({ length: turns }, (_, i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content: i === 0 ? content : 'and so on',
    })),
  };
}

const reasons = { sent: undefined, blocked: 'policy.blocked', 'no entry': 'model.unknown' } as const;
const listsEach = scale(1, 10);
const requestsEach = scale(30, 100);
const counts = { sent: 0, blocked: 0, 'no entry': 0 };
const ways = new Set<string>();
let spreadOnes = 0;

describe('where the list and the rules say, as explain says, and nowhere else', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
    'goes every request of seed %i',
    async (seed) => {
      // What fails is asked for at the next target, so that the whole order shows.
      const host = await startHost(speakAll);
      const random = createRandom(seed);
      for (let i = 0; i < listsEach; i += 1) {
        const list = listOf(random);
        host.script((response) => {
          response.writeHead(list.status, { 'content-type': 'application/json', 'retry-after': '0' });
          response.end('{"type":"error","error":{"type":"api_error","message":"down"}}');
        });
        const yaml = toYaml(list, host.url);
        const gateway = await startGateway(yaml);
        const config = await configFrom(yaml);
        const key = [...config.keys.records()][0];
        if (key === undefined) throw new Error('there is no key');
        for (let j = 0; j < requestsEach; j += 1) {
          const facts = factsOf(random);
          const body = Buffer.from(JSON.stringify(toBody(facts)));
          const { agent, class: requestClass } = facts;
          // Of its own, since records of a refusal that is repeated in a session are folded.
          const session = facts.session && `${facts.session}-${i}-${j}`;
          const before = host.requests.length;
          const answer = await postRaw(gateway, '/v1/messages', body, [
            ...['content-type: application/json', `x-api-key: ${gateway.key}`],
            ...(agent ? [`user-agent: ${userAgents[agent]}`, `originator: ${agent}`] : []),
            ...(requestClass ? [`x-claude-code-request-class: ${requestClass}`] : []),
            ...(session ? [`x-gateway-session: ${session}`] : []),
          ]);
          const id = answer.headers.get('x-request-id')?.[0];
          const record = await gateway.recordWhere(({ request_id }) => request_id === id);
          const asked = host.requests.slice(before).map(({ target, headers }) => {
            const key = headers.find(([name]) => name === 'x-api-key')?.[1];
            return `${target.split('/')[1]} ${key === secrets.PROVIDER_KEY ? 'a' : 'b'}`;
          });
          const explained = await decideOffline({
            ...{ config, key, body, nowMs: 0 },
            ...destinationNamed('messages'),
            sender: {
              ...(agent && { agent }),
              ...(requestClass && { request_class: requestClass }),
              ...(session && { session }),
            },
          });

          const should = expected(list, facts);
          const where = `list ${i}, request ${j}: ${JSON.stringify({ list, facts, should })}`;
          const targets = typeof should === 'string' ? { open: [], asked: [] } : should;
          expect(explained.predicted.decision === 'block', where).toBe(should === 'blocked');
          expect(record.reason, where).toBe(reasons[typeof should === 'string' ? should : 'sent']);
          expect(fits(asked, targets.asked, list.status), `${asked}; ${where}`).toBe(true);
          counts[typeof should === 'string' ? should : 'sent'] += 1;
          ways.add(asked.join());
          if (should === 'blocked') continue;
          const named = explained.targets.map((target) => target.split('/')[0] ?? '');
          const inFile = targets.open.flat();
          if (session === undefined) expect(named, where).toEqual(inFile);
          else expect(named.toSorted(), where).toEqual(inFile.toSorted());
          // A session has one order: the same whoever works it out, and whenever.
          if (session === undefined || typeof should === 'string') continue;
          const runs = asked.map((each) => each.split(' ')[0]).filter((name, k, all) => name !== all[k - 1]);
          const fallbacks = targets.asked.slice(1).flat();
          const own = list.status === 429 ? named.slice(0, runs.length) : [named[0]];
          const then = list.status === 500 ? fallbacks : [];
          expect(runs, where).toEqual([...own, ...then]);
          const first = record.provider_key
            ? `${record.provider} ${record.provider_key}`
            : `${record.provider} a`;
          expect(asked.at(-1), where).toBe(first);
          spreadOnes += targets.asked[0] && targets.asked[0].length > 1 ? 1 : 0;
        }
        await gateway.stop();
      }
    },
    600_000,
  );

  test('go all kinds of requests', () => {
    for (const [what, count] of Object.entries(counts)) expect(count, what).toBeGreaterThan(0);
    expect(ways.size).toBeGreaterThan(8);
    expect(spreadOnes).toBeGreaterThan(3);
  });
});
