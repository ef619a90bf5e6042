import { describe, expect, test } from 'vitest';
import type { DialectName } from '../../../src/dialects/registry.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';
import {
  atLeast,
  type Confidence,
  confidences,
  type Detector,
} from '../../../src/policy/detectors/detector.ts';
import type { DetectorName } from '../../../src/policy/detectors/names.ts';
import { detectors } from '../../../src/policy/detectors/registry.ts';
import { explain } from '../../../src/policy/explain.ts';
import type { PolicySet } from '../../../src/policy/policy-set.ts';
import { textDialects } from '../../kit/dialects.ts';
import { scale } from '../../kit/scale.ts';
import { compile, saying, subjectOf } from '../deciding.ts';
import { labelledSets } from '../detectors/labelled-set/registry.ts';
import { forms, slots, turnOf } from '../traverse/slots.ts';

const label = '[REDACTED:content.private]';

interface Example {
  readonly text: string;
  readonly value: string;
}

/** Texts of the labelled sets in which nothing but the value is found, with exactly this confidence. */
function examplesOf(
  detector: Detector,
  samples: readonly Sample[],
  confidence: Confidence,
): readonly Example[] {
  const examples: Example[] = [];
  for (const { text, planted: value = '' } of samples.filter((_, i) => i % scale(5, 1) === 0)) {
    const [found, ...others] = atLeast(detector, 'possible').find(text);
    if (found === undefined || others.length > 0 || (found.confidence ?? 'likely') !== confidence) continue;
    if (text.slice(found.start, found.end) === value && text.split(value).length === 2) {
      examples.push({ text, value });
    }
    if (examples.length === 2) break;
  }
  return examples;
}

type Sample = { readonly text: string; readonly planted?: string };

/** Keys of this gateway are refused whatever a policy says. */
const redacting = Object.entries<Detector>(detectors).filter(([name]) => name !== 'gateway_key');

const cases = redacting.flatMap(([name, detector]) => {
  const samples = Object.entries(labelledSets)
    .filter(([set]) => set === name || set.startsWith(`${name}: `))
    .flatMap(([, { label: draw }]) => draw().positives);
  return confidences
    .map((confidence) => ({ name: name as DetectorName, confidence }))
    .map((each) => ({ ...each, examples: examplesOf(detector, samples, each.confidence) }))
    .filter(({ examples }) => examples.length > 0);
});
function policiesOf(name: DetectorName, confidence: Confidence) {
  const rule = {
    id: 'private',
    action: 'redact',
    when: { text: { detect: [{ [name]: confidence }] } },
    reason: 'content.private',
  };
  const compiled = compile({ house: { rules: [rule] } });
  expect(compiled.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return compiled.select(['house']);
}

test('every kind has examples, and every confidence somewhere', () => {
  const names = new Set(cases.map(({ name }) => name));

  expect(redacting.filter(([name]) => !names.has(name as DetectorName))).toEqual([]);
  expect(new Set(cases.map(({ confidence }) => confidence)).size).toBe(3);
});

/** What leaves, or why nothing does. */
function leaving(policies: PolicySet, body: object, endpoint: DialectName): string {
  const { redacted, refusal } = policies.decide(subjectOf(body, { endpoint }));
  if (redacted !== undefined) parseStrictJson(redacted.bytes);
  return redacted?.bytes.toString() ?? refusal?.reason ?? 'all of it';
}

test.each(cases)('$name, $confidence, is replaced, and nothing else is', ({ name, confidence, examples }) => {
  const policies = policiesOf(name, confidence);

  for (const { text, value } of examples) {
    const body = saying(text);
    expect(leaving(policies, body, 'messages')).toBe(
      JSON.stringify(saying(text.replace(value, () => label))),
    );

    const { rules } = explain(policies, subjectOf(body), () => 0);
    const [match, ...more] = rules.flatMap(({ matches }) => matches);
    expect(more).toEqual([]);
    expect(match).toMatchObject({ at: '/messages/0/content', detected: [{ detector: name, confidence }] });
    expect(JSON.stringify(rules)).not.toContain(value);
  }
});

const address = 'ann@customers.example';
const addresses = policiesOf('email', 'likely');
const written = (text: string) => `\n(write to ${text} today)\n`;

/** Where a text can't be changed: it is decoded to be read, signed, or an id. */
const fixed =
  /^messages: thinking$|base64|UTF-16|data URL|by URL|claims to be|: (?:file|file in .*|file of .*|name)$/;

describe.each(textDialects)('in a request of %s', (dialect) => {
  const form = forms[dialect];
  const question = form.turn('user', 'see above');
  const places = [
    ...slots[dialect].map((slot) => ({
      place: slot.name,
      wrap: (text: string) => form.body([turnOf(form, slot, text), question]),
    })),
    ...form.systems('').map((_, at) => ({
      place: `system text ${at}`,
      wrap: (text: string) => ({ ...form.body([question]), ...form.systems(text)[at] }),
    })),
  ];

  test.each(places)('an address is replaced, or the request refused: $place', ({ place, wrap }) => {
    expect(leaving(addresses, wrap(written(address)), dialect)).toBe(
      fixed.test(`${dialect}: ${place}`) ? 'content.unredactable' : JSON.stringify(wrap(written(label))),
    );
  });
});

const callWith = (input: object) => ({
  messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input }] }],
});

test.each<[DialectName, (text: string) => object]>([
  ['messages', (text) => callWith({ q: text, id: text })],
  ['gemini_embeddings', (text) => ({ content: { parts: [{ text }] } })],
  ['embeddings', (input) => ({ input })],
  ['embeddings', (text) => ({ input: ['see below', text] })],
])('an address is replaced in a text of %s', (endpoint, wrap) => {
  expect(leaving(addresses, wrap(written(address)), endpoint)).toBe(JSON.stringify(wrap(written(label))));
});
