import { describe, expect, test } from 'vitest';
import { type DialectName, dialects } from '../../../src/dialects/registry.ts';
import { BodyCache } from '../../../src/json/body-cache.ts';
import type { JsonDocument } from '../../../src/json/json-document.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';
import { compilePatternSet } from '../../../src/policy/automaton/pattern-set.ts';
import { createFold } from '../../../src/policy/fold/fold.ts';
import type { PolicySet } from '../../../src/policy/policy-set.ts';
import { type Checkpoint, Gatherer } from '../../../src/policy/search/gatherer.ts';
import { SearchCache, type SearchStore } from '../../../src/policy/search/search-cache.ts';
import { TextReader } from '../../../src/policy/search/text-reader.ts';
import { createWalk } from '../../../src/policy/traverse/walk.ts';
import { alteredBody, type Body, randomBody } from '../../kit/random-conversations.ts';
import { createRandom } from '../automaton/random.ts';
import { compile, subjectOf } from '../deciding.ts';

const rule = (id: string, action: string, text: unknown, more: object = {}) => ({
  id,
  action,
  when: { text },
  reason: `content.${id}`,
  ...more,
});

const policies = {
  // Everything is told, nothing is refused.
  told: {
    opaque_content: 'allow',
    rules: [
      rule('phrase', 'warn', { phrases: ['project nightfall'], match: 'folded' }),
      rule('exact', 'warn', { phrases: ['nightfall'], match: 'exact', in: ['assistant', 'tool_result'] }),
      rule(
        'pattern',
        'warn',
        { regex: ['\\bTCK-[0-9]{6}\\b'] },
        { except: { text: { phrases: ['TCK-000000'] } } },
      ),
      rule('card', 'warn', { detect: ['credit_card'] }),
      rule('mail', 'warn', { detect: ['email'], in: ['user', 'system'] }),
      rule('phone', 'warn', { detect: ['phone'] }),
      { id: 'turns', action: 'warn', when: { messages: { over: 3 } }, reason: 'limits.turns' },
      { id: 'shell', action: 'warn', when: { tools: ['Read'] }, reason: 'tools.read' },
    ],
  },
  redacting: {
    rules: [
      rule('phrase', 'redact', { phrases: ['project nightfall'], match: 'folded' }),
      rule('mail', 'redact', { detect: ['email'] }),
      rule('card', 'redact', { detect: ['credit_card'] }),
    ],
  },
  blocking: {
    opaque_content: 'block',
    unseen_references: 'block',
    rules: [
      rule('dry', 'block', { phrases: ['nightfall'] }, { mode: 'monitor' }),
      rule('card', 'block', { detect: ['credit_card'] }),
    ],
  },
};

function decideWith(set: PolicySet, document: JsonDocument, endpoint: DialectName) {
  const subject = { ...subjectOf({}), document, dialect: dialects[endpoint], endpoint };
  const { redacted, ...decision } = set.decide(subject);
  return { ...decision, redactedBody: redacted?.bytes.toString(), answerRules: set.answerRules(subject) };
}

const filler = 'x'.repeat(1_200);
const bytesOf = (body: unknown) => Buffer.from(JSON.stringify(body));

test('decides a body that shares a prefix with cached ones as if nothing were cached', () => {
  const random = createRandom(7);
  const compiled = compile(policies);
  const fresh = compile(policies);
  const names = Object.keys(dialects) as DialectName[];
  const seen = new Set<string>();
  let begunAlike = 0;
  for (let round = 0; round < 50; round += 1) {
    // One memory for all rule sets and dialects: the same bytes mean something else to each.
    const bodies = new BodyCache();
    const own = random.of(names);
    let body: Body = { first: filler, ...randomBody(random, own, random.below(12)) };
    for (let turn = 0; turn < 6; turn += 1) {
      const endpoint = random.below(5) === 0 ? random.of(names) : own;
      const policy = random.below(2) === 0 ? random.of(Object.keys(policies)) : 'told';
      const bytes = bytesOf(body);
      const document = bodies.read(bytes);
      if (document.sharedPrefix !== undefined) begunAlike += 1;

      const decision = decideWith(compiled.select([policy]), document, endpoint);

      const expected = decideWith(fresh.select([policy]), parseStrictJson(bytes), endpoint);
      expect(decision).toEqual(expected);
      for (const { rule: id } of expected.verdicts) seen.add(id);
      seen.add(expected.action);
      body = alteredBody(random, own, body);
    }
  }

  expect(begunAlike).toBeGreaterThan(120);
  expect([...seen].sort()).toEqual([
    'allow',
    'block',
    'card',
    'dry',
    'exact',
    'mail',
    'opaque_content',
    'pattern',
    'phone',
    'phrase',
    'redact',
    'shell',
    'turns',
    'unseen_references',
    'warn',
  ]);
});

describe('matches across the end of a shared prefix', () => {
  const turn = (content: string, role = 'user') => ({ role, content });
  const decideInTurn = (policy: unknown, ...bodies: readonly unknown[]) => {
    const set = compile({ house: policy }).select(['house']);
    const cache = new BodyCache();
    return bodies.map((body) => decideWith(set, cache.read(bytesOf(body)), 'messages'));
  };
  const saying = (...turns: readonly unknown[]) => ({ model: 'm', fill: filler, messages: turns });
  const phrase = { rules: [rule('phrase', 'block', { phrases: ['project nightfall'] })] };

  const base64 = Buffer.from('project nightfall').toString('base64');
  const document = (source: object) => [{ type: 'document', source }];

  test.each<[string, unknown, unknown]>([
    ['the list of the last turn', [], ['project nightfall']],
    ['a list in it', [[]], [['project nightfall']]],
    ['a block of it', [{}], [{ type: 'text', text: 'project nightfall' }]],
    [
      'a call of it',
      [{ type: 'tool_use', input: {} }],
      [{ type: 'tool_use', input: { a: 'project nightfall' } }],
    ],
    ['a document of it', document({}), document({ type: 'base64', media_type: 'text/plain', data: base64 })],
    ['a list of numbers of it', [], [Array.from('project nightfall', (each) => each.charCodeAt(0))]],
  ])('content added to %s that was empty is decided as if nothing were cached', (_name, empty, full) => {
    const bodies = [empty, full].map((content) => saying(turn('a'), { role: 'user', content }));
    const [before, after] = decideInTurn(phrase, ...bodies);
    const [fresh] = decideInTurn(phrase, bodies[1]);

    expect(before?.action).toBe('allow');
    expect(after).toEqual(fresh);
    expect(after?.action).toBe('block');
  });

  test('a phrase that begins in the last cached turn is found', () => {
    const [before, after] = decideInTurn(
      phrase,
      saying(turn('a'), turn('tell me of project')),
      saying(turn('a'), turn('tell me of project'), turn('nightfall')),
    );

    expect(before?.action).toBe('allow');
    expect(after?.refusal?.at).toBe('/messages/2/content');
  });

  test('a match that continues a plain text in place of the last turn is found', () => {
    const [before, after] = decideInTurn(
      phrase,
      saying(turn('a'), 'it is'),
      saying(turn('a'), 'it is project nightfall'),
    );

    expect([before?.action, after?.action]).toEqual(['allow', 'block']);
  });

  test('digits that continue in the next turn are found', () => {
    const card = { rules: [rule('card', 'block', { detect: ['credit_card'] })] };
    const [before, after] = decideInTurn(
      card,
      saying(turn('4111 1111')),
      saying(turn('4111 1111'), turn('1111 1111')),
    );

    expect([before?.action, after?.action]).toEqual(['allow', 'block']);
  });

  test('the system prompt, which is read first, may change when it comes after the turns', () => {
    const turns = [turn('nightfall it is'), turn('b'), turn('c')];
    const [before, changed, same] = decideInTurn(
      phrase,
      { ...saying(...turns), system: 'be kind' },
      { ...saying(...turns), system: 'it is project' },
      { ...saying(...turns, turn('d')), system: 'be kind' },
    );

    expect([before?.action, changed?.action, same?.action]).toEqual(['allow', 'block', 'allow']);
    expect(changed?.refusal?.at).toBe('/messages/0/content');
  });

  test('matches in a system prompt after the turns are reported at its new place', () => {
    const warning = { rules: [rule('phrase', 'warn', { phrases: ['project nightfall'] })] };
    const redacting = { rules: [rule('phrase', 'redact', { phrases: ['project nightfall'] })] };
    const bodies = [
      { ...saying(turn('a'), turn('b')), system: 'of project nightfall' },
      { ...saying(turn('a'), turn('b'), turn('c')), system: 'of project nightfall' },
    ];

    const [, told] = decideInTurn(warning, ...bodies);
    const [, redacted] = decideInTurn(redacting, ...bodies);

    expect(told?.verdicts[0]?.matches).toMatchObject([{ at: '/system', count: 1 }]);
    expect(JSON.parse(redacted?.redactedBody ?? '')).toMatchObject({
      messages: [{}, {}, { content: 'c' }],
      system: 'of [REDACTED:content.phrase]',
    });
  });

  test('numbers in place of turns are refused after cached turns', () => {
    const [before, after] = decideInTurn(phrase, saying(turn('a')), saying(turn('a'), 12));

    expect(before?.action).toBe('allow');
    expect(after?.refusal).toMatchObject({ reason: 'content.unreadable', at: '/messages/1' });
  });

  test('another dialect reads the same bytes by its own roles', () => {
    const set = compile({
      house: { rules: [rule('phrase', 'block', { phrases: ['nightfall'], in: ['tool_result'] })] },
    }).select(['house']);
    const bodies = new BodyCache();
    const document = bodies.read(bytesOf(saying(turn('nightfall', 'tool'))));

    const actions = (['messages', 'chat', 'messages'] as const).map(
      (endpoint) => decideWith(set, document, endpoint).action,
    );

    // To the Messages API a turn of this role may be anybody's.
    expect(actions).toEqual(['block', 'block', 'block']);
    expect(decideWith(set, bodies.read(bytesOf(saying(turn('nightfall', 'user')))), 'chat').action).toBe(
      'allow',
    );
  });
});

/** The checkpoints that the search of a longer conversation gets from the search of a shorter one. */
function checkpointsAfter(shorter: unknown, longer: unknown): readonly Checkpoint[] {
  const patternSet = compilePatternSet([], createFold());
  const reader = new TextReader(patternSet);
  const bodies = new BodyCache();
  const searches = new SearchCache(new WeakMap());
  const before = bodies.read(bytesOf(shorter));
  const gatherer = new Gatherer(patternSet, reader, true);
  createWalk().request(before, dialects.messages, gatherer);
  const searchResult = gatherer.finish();
  searches.store(before, dialects.messages, { ...gatherer, searchResult });
  const given = new Gatherer(patternSet, reader, true);
  searches.resume(bodies.read(bytesOf(longer)), dialects.messages, given);
  return given.checkpoints;
}

test.each([
  [120, 7],
  [1_200, 4],
  [9_000, 0],
])('a search that left %i texts open before each turn keeps %i checkpoints', (texts, expected) => {
  const open = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`k${at}`, Array.from({ length: texts / 40 }, () => 'x')]),
  );
  const saying = (turns: number) => ({
    fill: filler,
    messages: [{ role: 'user', content: [open] }, ...Array.from({ length: turns }, () => 'y')],
  });

  const checkpoints = checkpointsAfter(saying(1_024), saying(1_025));

  expect(checkpoints.length).toBe(expected);
});

test('for one document, the searches of the last four policy sets are cached', () => {
  const patternSet = compilePatternSet([], createFold());
  const reader = new TextReader(patternSet);
  const store: SearchStore = new WeakMap();
  const document = new BodyCache().read(
    bytesOf({ fill: filler, messages: [{ role: 'user', content: 'x' }, 'y'] }),
  );
  const sets = Array.from({ length: 5 }, () => new SearchCache(store));
  for (const searches of [...sets, ...sets.slice(3)]) {
    const gatherer = new Gatherer(patternSet, reader, true);
    createWalk().request(document, dialects.messages, gatherer);
    searches.store(document, dialects.messages, { ...gatherer, searchResult: gatherer.finish() });
  }

  const isCached = sets.map((searches) => searches.get(document, dialects.messages) !== undefined);

  expect(isCached).toEqual([false, true, true, true, true]);
});

test('no dialect has two fields for the system prompt or for the turns, which resuming relies on', () => {
  const held = Object.values(dialects).map(({ places }) => [...places.values()]);
  const most = (kind: string) =>
    Math.max(...held.map((places) => places.filter((each) => each === kind).length));

  expect([most('system'), most('turns')]).toEqual([1, 1]);
});
