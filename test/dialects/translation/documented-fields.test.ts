import { describe, expect, test } from 'vitest';
import { tableBetween } from '../../../src/dialects/dialect.ts';
import { type DialectName, dialects } from '../../../src/dialects/registry.ts';
import { createTranslation } from '../../../src/dialects/translate.ts';
import { allDirections } from '../../kit/dialects.ts';
import { type DocumentedField, documentedFields, headOf } from './documented-fields.ts';
import { type Probe, probeOf } from './field-probes.ts';
import { newContext } from './run-translation.ts';

const small: Record<DialectName, object> = {
  messages: { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'hello' }] },
  chat: { model: 'm', messages: [{ role: 'user', content: 'hello' }] },
  responses: { model: 'm', input: 'hello' },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
  embeddings: { model: 'm', input: 'hello' },
  gemini_embeddings: { content: { parts: [{ text: 'hello' }] } },
};

const thinker = { host: 'openai', targetModel: 'gpt-5' } as const;
const claude = { host: 'anthropic', targetModel: 'claude-opus-5' } as const;

function contextOf(row: DocumentedField, probe: Probe, provider: DialectName) {
  if (provider === 'gemini' && row.to?.endsWith('thinkingConfig')) return { targetModel: 'gemini-3-pro' };
  if (probe.context !== undefined) return probe.context;
  const isEffort = row.kind === 'renamed' && row.field.includes('reasoning');
  if (!isEffort) return {};
  return provider === 'messages' ? claude : thinker;
}

/** Every value at a path such as `messages[].content`. */
function pick(value: unknown, path: string): unknown[] {
  const [head = '', ...rest] = path.split('.');
  const isList = head.endsWith('[]');
  const member = (value as Record<string, unknown> | null | undefined)?.[isList ? head.slice(0, -2) : head];
  const found = isList ? (Array.isArray(member) ? member : []) : [member];
  const next = rest.join('.');
  return next === '' ? found.filter((each) => each !== undefined) : found.flatMap((each) => pick(each, next));
}

describe.each(allDirections)('%s to %s', (client, provider) => {
  const rows = documentedFields(client, provider);

  test.each(rows.map((row) => [row.field, row.kind, row.when ?? 'always', row] as const))(
    '%s is %s (%s)',
    (field, kind, _when, row) => {
      const probe = probeOf(client, row);
      const context = contextOf(row, probe, provider);
      const translate = (body: object) =>
        createTranslation(
          dialects[client],
          dialects[provider],
          newContext({ unsupportedContent: 'refuse', ...context }),
        ).request(body);
      const base = { ...small[client], ...probe.base };
      const body = { ...base, ...probe.set };

      if (kind === 'refused') {
        const param = probe.param ?? headOf(field);
        // What the client is told about a whole field is what the document says.
        const message = expect.stringContaining(field === param ? `${field}: ${row.note}` : '');
        expect(() => translate(body)).toThrow(
          expect.objectContaining({ code: 'request.unsupported', param, message }),
        );
        return;
      }
      const sent = translate(body);
      // The model's name comes from the context, so there is no request without it.
      const before = field === 'model' && kind !== 'answered' ? { body: {} } : translate(base);
      if (kind === 'dropped' || kind === 'answered') {
        expect(sent.body).toEqual(before.body);
        if (kind === 'dropped' && field === headOf(field)) expect(sent.dropped).toContain(field);
        if (kind === 'answered') expect(sent.dropped).not.toContain(field);
        return;
      }
      const found = pick(sent.body, row.to ?? '');
      expect(found).not.toEqual(pick(before.body, row.to ?? ''));
      const mark = probe.marks?.[provider] ?? probe.mark;
      expect(JSON.stringify(found)).toContain(mark);
    },
  );

  test('every field that the gateway knows is in the document, as often as it decides', () => {
    const table = tableBetween(dialects[client], dialects[provider]) ?? new Map();
    const about = (name: string) => rows.filter(({ field }) => headOf(field) === name);

    expect(table.size).toBeGreaterThan(3);
    for (const [name, rule] of table) {
      const kinds = about(name)
        .filter(({ field }) => field === name)
        .map(({ kind }) => kind);
      if (rule === 'kept') {
        expect(about(name).length, name).toBeGreaterThan(0);
        for (const kind of ['dropped', 'refused'] as const) expect(kinds, name).not.toContain(kind);
      } else if (rule === 'dropped') expect(kinds, name).toEqual(['dropped']);
      else if (typeof rule === 'object') expect(kinds, name).toEqual(['refused']);
      else
        expect(
          about(name).some(({ when }) => when !== undefined),
          name,
        ).toBe(true);
    }
    expect(new Set(rows.map(({ field }) => headOf(field)))).toEqual(new Set(table.keys()));
  });

  test('an unknown field is dropped and listed as dropped', () => {
    const translation = createTranslation(dialects[client], dialects[provider], newContext());

    const { body, dropped } = translation.request({ ...small[client], unheard: { secret: 'x' } });

    expect(dropped).toEqual(['unheard']);
    expect(JSON.stringify(body)).not.toContain('secret');
  });
});
