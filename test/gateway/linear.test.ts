import { expect, test, vi } from 'vitest';
import { shapedBody, shapeNames } from '../../bench/shapes.mjs';
import { dialects } from '../../src/dialects/registry.ts';
import { parseStrictJson } from '../../src/json/strict-json.ts';
import { NfaSteps } from '../../src/policy/automaton/nfa.ts';
import { findCaps } from '../../src/policy/traverse/settings.ts';
import { worstInputTokens } from '../../src/policy/traverse/worst-input.ts';
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

// What is another way with Gemini: its turns, parts, calls and members in two spellings.
const formsOfGemini = [
  'blocks of text',
  'messages',
  'calls',
  'images',
  'tools',
  'keys of the body',
  'many keys',
];
const ofGemini = formsOfGemini.filter((_, i) => i % scale(2, 1) === 0);

test.each([
  ...shapes.map((name) => [name, 'messages', '/v1/messages'] as const),
  ...ofGemini.map((name) => [name, 'gemini', '/v1beta/models/m:generateContent'] as const),
])('reading, deciding and estimating are linear in %s of %s', (name, dialect, endpoint) => {
  const run = (bytes: Buffer) => readAndDecide(bytes, dialect);
  // The tables of the automata fill with the first texts of a kind.
  run(shapedBody(name, small * times, { endpoint }));

  expect(growth(run, sizes(name, small, { endpoint }))).toBeLessThan(limit);
});

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

test('a search from each string to the end of the body does not pass for linear', () => {
  const search = (bytes: Buffer) => {
    const document = parseStrictJson(bytes);
    for (let entry = 0; entry < document.count; entry += 1) bytes.indexOf('\\u', document.start(entry));
  };

  // A pause while the small one is measured hides the growth; hardly three times in a row.
  const measured = [1, 2, 3].map(() => growth(search, sizes('strings of \\n', small / 4)));

  expect(Math.max(...measured)).toBeGreaterThan(limit);
});
