import { expect, test, vi } from 'vitest';
import { shapedBody, shapeNames } from '../../bench/shapes.mjs';
import { dialects } from '../../src/dialects/registry.ts';
import { worstInputTokens } from '../../src/gateway/spending/worst-input.ts';
import type { JsonDocument } from '../../src/json/json-document.ts';
import { parseStrictJson } from '../../src/json/strict-json.ts';
import { NfaSteps } from '../../src/policy/automaton/nfa-steps.ts';
import { findCaps } from '../../src/policy/traverse/caps.ts';
import { growth } from '../kit/growth.ts';
import { scale } from '../kit/scale.ts';
import { compile, subjectOf } from '../policy/deciding.ts';

// Only the time of the processor is limited: a busy machine takes longer.
vi.setConfig({ testTimeout: 120_000 });

// Four times the bytes take four times as long where work is linear, sixteen times where it is quadratic. The bench
// (bench/linear.mjs) holds the whole gateway to 1.3 of linear; here other tests keep the processor busy.
const small = 20_000;
const times = 4;
const limit = 2 * times;

const detect = ['credit_card', 'email', 'phone', 'iban', 'us_ssn', 'ip_address', 'secrets', 'private_key'];
const set = compile({
  house: {
    rules: [
      { id: 'phrases', action: 'warn', when: { text: { phrases: ['project nightfall', 'internal only'] } } },
      { id: 'patterns', action: 'warn', when: { text: { regex: ['\\bTCK-[0-9]{6}\\b', 'a.{20,40}z'] } } },
      {
        id: 'detectors',
        action: 'warn',
        when: { text: { detect: detect.map((name) => ({ [name]: 'possible' })) } },
      },
    ],
  },
}).select(['house']);

function readAndDecide(bytes: Buffer, endpoint: 'messages' | 'gemini' = 'messages'): void {
  const document = parseStrictJson(bytes);
  const dialect = dialects[endpoint];
  worstInputTokens(document);
  findCaps(document, dialect);
  set.decide({ ...subjectOf({}), document, dialect, endpoint });
}

const sizes = (name: string, bytes: number, target?: { readonly endpoint: string }) => ({
  small: shapedBody(name, bytes, target),
  large: shapedBody(name, bytes * times, target),
  limit,
});

/** The bench has a dozen times as many random texts; of the others a sample, or all. */
const shapes = shapeNames
  .filter((name) => !name.startsWith('random'))
  .filter((_, i) => i % scale(5, 1) === 0)
  .concat('random base64', 'random hex', 'random base64 in blocks');

test.each(shapes)('reading, deciding and estimating are linear in %s', (name) => {
  // The tables of the automata fill with the first texts of a kind.
  readAndDecide(shapedBody(name, small * times));

  expect(growth((bytes: Buffer) => readAndDecide(bytes), sizes(name, small))).toBeLessThan(limit);
});

// What is another way with Gemini: its turns, parts, calls and members in two spellings.
const structured = [
  'blocks of text',
  'messages',
  'calls',
  'images',
  'tools',
  'keys of the body',
  'many keys',
];

test.each(structured.filter((_, i) => i % scale(2, 1) === 0))(
  'so are they in Gemini’s form of %s',
  (name) => {
    const target = { endpoint: '/v1beta/models/m:generateContent' };
    readAndDecide(shapedBody(name, small * times, target), 'gemini');

    expect(
      growth((bytes: Buffer) => readAndDecide(bytes, 'gemini'), sizes(name, small, target)),
    ).toBeLessThan(limit);
  },
);

test.each(
  ['letters', 'base64', 'base32', 'hex', 'digits', 'Chinese'].map((name) => `random ${name} in blocks`),
)('hardly any byte of %s needs a step that no table has', (name) => {
  const bytes = 4 * small;
  readAndDecide(shapedBody(name, bytes));
  const steps = vi.spyOn(NfaSteps.prototype, 'advance');

  readAndDecide(shapedBody(name, bytes, { seed: 2 }));

  const count = steps.mock.calls.length;
  steps.mockRestore();
  expect(count / bytes).toBeLessThan(0.2);
});

/** As the estimate once was: from each string the search runs to the end of the body. */
function searchPastStrings(document: JsonDocument): number {
  let count = 0;
  for (let entry = 0; entry < document.count; entry += 1) {
    if (!document.isEscaped(entry)) continue;
    const at = document.bytes.indexOf('\\u', document.start(entry));
    if (at >= 0 && at < document.end(entry)) count += 1;
  }
  return count;
}

test('a search from each string to the end of the body does not pass for linear', () => {
  const run = (bytes: Buffer) => searchPastStrings(parseStrictJson(bytes));
  const found = shapeNames.filter((name) => name.startsWith('strings of \\n') || name === 'escaped keys');

  expect(found).toHaveLength(2);
  for (const name of found) {
    // The search is quick among keys, and what takes less than a millisecond is not measured.
    const bytes = sizes(name, name === 'escaped keys' ? small : small / 4);
    // A pause while the small one is measured hides the growth; hardly three times in a row.
    const measured = [1, 2, 3].map(() => growth(run, bytes));
    expect(Math.max(...measured)).toBeGreaterThan(limit);
  }
});
