import { describe, expect, test } from 'vitest';
import { dialects } from '../../../src/dialects/registry.ts';
import { betaOf, evaluateHead } from '../../../src/gateway/outgoing/outgoing-check.ts';
import { Scrubber } from '../../../src/gateway/scrub.ts';
import { compile, subjectOf } from '../../policy/deciding.ts';

const secret = 'sk-Provider-0123456789ABCdef';
const token = `gh${'p_'}${'16C7e42F292c6912E7710c838347Ae178B4a'}`;
const policies = compile(
  {
    house: {
      // biome-ignore format: a case a line
      rules: [
        { id: 'codename', action: 'block', when: { text: { phrases: ['project nightfall'] } }, reason: 'content.codename' },
        { id: 'mails', action: 'redact', when: { text: { detect: ['email'] } }, reason: 'content.email' },
        { id: 'tokens', action: 'block', when: { text: { detect: ['secrets'] } }, reason: 'content.secret' },
        { id: 'tickets', action: 'warn', when: { text: { regex: ['TCK-[0-9]+'] } }, reason: 'content.ticket' },
      ],
    },
  },
  [secret],
).select(['house']);
const judge = {
  policies,
  scrubber: new Scrubber([secret]),
  subjectOf: () => subjectOf({ model: 'm', messages: [] }),
};

function head(rawHeaders: readonly string[], query = '', extraNames: readonly string[] = []) {
  const options = { dialect: dialects.chat, extraNames: new Set(extraNames), own: [], added: [] };
  const evaluated = evaluateHead({ rawHeaders, query }, judge, { ...options, provider: 'house' });
  const { headers, dropped, verdicts, query: sent } = evaluated;
  const found = verdicts.map(({ rule, action, matches }) => `${rule} ${action} ${matches[0]?.at}`);
  return { headers: headers.slice(2), dropped, found, query: sent };
}

describe('a header', () => {
  test('in which nothing is found is forwarded unchanged', () => {
    expect(head(['User-Agent', 'cli/1 (x; y)'])).toEqual({
      headers: ['user-agent', 'cli/1 (x; y)'],
      dropped: [],
      found: [],
      query: '',
    });
  });

  test.each([
    ['a phrase', 'user-agent', 'Project  Nightfall', 'codename block header:user-agent'],
    ['a phrase in percent-encoding', 'user-agent', 'project%20nightfall', 'codename block header:user-agent'],
    ['a provider key', 'idempotency-key', secret, 'gateway-key block header:idempotency-key'],
    ['a ticket', 'x-app', 'TCK-1', 'tickets warn header:x-app'],
  ])('with %s is found', (_name, name, value, found) => {
    expect(head([name, value]).found).toEqual([found]);
  });

  test('is left out where a rule redacts', () => {
    expect(head(['x-claude-user', 'rosa@example.org', 'x-app', 'cli'])).toMatchObject({
      headers: ['x-app', 'cli'],
      dropped: ['header:x-claude-*'],
      found: ['mails redact header:x-claude-*'],
    });
  });

  test('is checked by its name too if clients choose that', () => {
    for (const spelled of [secret, secret.toLowerCase(), secret.toUpperCase()]) {
      expect(head([`X-Claude-${spelled}`, '1']).found).toEqual(['gateway-key block header:x-claude-*']);
    }
    expect(head([`X-Claude-${token}`, '1']).found).toEqual(['tokens block header:x-claude-*']);
  });

  test('that comes twice is one list, and checked as one', () => {
    expect(head(['x-app', 'a', 'X-App', 'b']).headers).toEqual(['x-app', 'a, b']);
  });

  test.each([
    ['idempotency-key', 'two words'],
    ['idempotency-key', 'x'.repeat(129)],
    ['traceparent', '00-xyz'],
    ['x-app', 'é'],
    ['x-team', 'gr\u00fcn'],
    ['x-team', 'x'.repeat(4_097)],
    [`x-claude-${'a'.repeat(60)}`, '1'],
    ['x-claude-a.b', '1'],
  ])('%s does not leave with %j', (name, value) => {
    expect(head([name, value], '', ['x-team'])).toMatchObject({
      headers: [],
      dropped: [`header:${name.replace(/^x-claude-.*/, 'x-claude-*')}`],
    });
  });
});

test.each([
  ['', ''],
  ['beta=true', 'true'],
  ['x=1&beta=true&y=2', 'true'],
  ['beta=true&beta=false', 'true'],
  ['beta', ''],
  ['beta=a%26b%3Dc%0d%0a', ''],
  ['beta=project%20nightfall', ''],
  [`beta=${'a'.repeat(33)}`, ''],
  ['Beta=true', ''],
  ['api_key=secret&base_url=http://evil.example', ''],
])('of the query %j the flag is %j', (query, expected) => {
  expect(betaOf(query)).toBe(expected);
});

test('the query is checked too', () => {
  expect(head([], 'beta=TCK-1')).toMatchObject({ query: '?beta=TCK-1', found: ['tickets warn query:beta'] });
});
