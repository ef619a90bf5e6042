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
import { scale } from '../../kit/scale.ts';
import { compile, subjectOf } from '../deciding.ts';
import { labelledSets } from '../detectors/labelled-set/registry.ts';

const label = '[REDACTED:content.private]';

/** A body with a text in one place, and the pointer to that place. */
interface Place {
  readonly endpoint: DialectName;
  readonly at: string;
  readonly wrap: (text: string) => unknown;
}

// Neighbours are read together with the text: signs at their ends keep a value apart.
const question = { role: 'user', content: '\n(see above)\n' };
const call = (text: string) => JSON.stringify({ n: 1.5, q: text });
const base64 = (text: string) => Buffer.from(text).toString('base64');

const message = (role: string, content: unknown, ...others: object[]) => ({
  max_tokens: 9,
  messages: [{ role, content }, ...others],
});
const turn = (role: string, content: unknown, ...others: object[]) => ({
  messages: [{ role, content }, ...others],
});
const item = (more: object) => ({ input: [more] });
const result = { type: 'tool_result', tool_use_id: 'toolu_1' };
const use = { type: 'tool_use', id: 'toolu_1', name: 'f' };
const calling = (text: string) => ({
  id: 'call_1',
  type: 'function',
  function: { name: 'f', arguments: call(text) },
});
const plain = { media_type: 'text/plain' };

// biome-ignore format: a case a line
const places: Readonly<Record<string, Place>> = {
  'messages, system': { endpoint: 'messages', at: '/system', wrap: (system) => ({ max_tokens: 9, system, messages: [question] }) },
  'messages, system block': { endpoint: 'messages', at: '/system/0/text', wrap: (text) => ({ max_tokens: 9, system: [{ type: 'text', text }], messages: [question] }) },
  'messages, user text': { endpoint: 'messages', at: '/messages/0/content/0/text', wrap: (text) => message('user', [{ type: 'text', text }]) },
  'messages, tool result': { endpoint: 'messages', at: '/messages/0/content/0/content/0/text', wrap: (text) => message('user', [{ ...result, content: [{ type: 'text', text }] }]) },
  'messages, tool arguments': { endpoint: 'messages', at: '/messages/0/content/0/input/q', wrap: (q) => message('assistant', [{ ...use, input: { q } }], question) },
  'messages, document': { endpoint: 'messages', at: '/messages/0/content/0/source/data', wrap: (data) => message('user', [{ type: 'document', source: { type: 'text', ...plain, data } }]) },
  'chat, system': { endpoint: 'chat', at: '/messages/0/content', wrap: (content) => turn('system', content, question) },
  'chat, user text': { endpoint: 'chat', at: '/messages/0/content/0/text', wrap: (text) => turn('user', [{ type: 'text', text }]) },
  'chat, tool result': { endpoint: 'chat', at: '/messages/0/content', wrap: (content) => ({ messages: [{ role: 'tool', tool_call_id: 'call_1', content }, question] }) },
  'chat, tool arguments': { endpoint: 'chat', at: '/messages/0/tool_calls/0/function/arguments', wrap: (text) => ({ messages: [{ role: 'assistant', tool_calls: [calling(text)] }] }) },
  'responses, instructions': { endpoint: 'responses', at: '/instructions', wrap: (instructions) => ({ instructions, input: '\n(see above)\n' }) },
  'responses, user text': { endpoint: 'responses', at: '/input/0/content/0/text', wrap: (text) => item({ role: 'user', content: [{ type: 'input_text', text }] }) },
  'responses, tool result': { endpoint: 'responses', at: '/input/0/output', wrap: (output) => item({ type: 'function_call_output', call_id: 'call_1', output }) },
  'responses, tool arguments': { endpoint: 'responses', at: '/input/0/arguments', wrap: (text) => item({ type: 'function_call', call_id: 'call_1', name: 'f', arguments: call(text) }) },
  'gemini, user text': { endpoint: 'gemini', at: '/contents/0/parts/0/text', wrap: (text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }) },
  'gemini_embeddings, content': { endpoint: 'gemini_embeddings', at: '/content/parts/0/text', wrap: (text) => ({ content: { parts: [{ text }] } }) },
  'embeddings, input': { endpoint: 'embeddings', at: '/input', wrap: (input) => ({ input }) },
  'embeddings, one of several': { endpoint: 'embeddings', at: '/input/1', wrap: (input) => ({ input: ['\n(see below)\n', input] }) },
};

const dataUrl = (text: string) => `data:text/plain;base64,${base64(text)}`;
/** Content that is decoded to be read can't be changed. */
// biome-ignore format: a case a line
const files: Readonly<Record<string, Omit<Place, 'at'>>> = {
  'messages, file': { endpoint: 'messages', wrap: (text) => message('user', [{ type: 'document', source: { type: 'base64', ...plain, data: base64(text) } }]) },
  'chat, file': { endpoint: 'chat', wrap: (text) => turn('user', [{ type: 'file', file: { filename: 'a.txt', file_data: dataUrl(text) } }]) },
  'responses, file': { endpoint: 'responses', wrap: (text) => item({ role: 'user', content: [{ type: 'input_file', filename: 'a.txt', file_data: dataUrl(text) }] }) },
};

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
const numbered = cases.map((each, number) => ({ ...each, number }));

/** All of them, or some: other ones for the next case. */
function chosen<T>(list: Readonly<Record<string, T>>, number: number): [string, T][] {
  return Object.entries(list).filter((_, i) => (i + number) % scale(8, 2) === 0);
}

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

describe.each(numbered)('$name, $confidence', ({ name, confidence, examples, number }) => {
  const policies = policiesOf(name, confidence);

  test.each(chosen(places, number))('is replaced in %s and nothing else is', (_, { endpoint, at, wrap }) => {
    for (const { text, value } of examples) {
      const body = wrap(text);
      const decision = policies.decide(subjectOf(body, { endpoint }));
      const leaving = decision.redacted?.bytes ?? Buffer.alloc(0);

      expect(decision).toMatchObject({ action: 'redact' });
      expect(() => parseStrictJson(leaving)).not.toThrow();
      expect(leaving.toString()).toBe(JSON.stringify(wrap(text.replace(value, () => label))));

      const { rules } = explain(policies, subjectOf(body, { endpoint }), () => 0);
      const [match, ...more] = rules.flatMap(({ matches }) => matches);
      expect(more).toEqual([]);
      expect(match).toMatchObject({ at, detected: [{ detector: name, confidence }] });
      expect(JSON.stringify(rules)).not.toContain(value);
    }
  });

  test.each(chosen(files, number))('refuses the request in %s', (_, { endpoint, wrap }) => {
    for (const { text, value } of examples) {
      const decision = policies.decide(subjectOf(wrap(text), { endpoint }));

      expect(decision).toMatchObject({ action: 'block', refusal: { reason: 'content.unredactable' } });
      expect(JSON.stringify(decision.refusal)).not.toContain(value);
    }
  });
});
