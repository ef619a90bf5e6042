import { describe, expect, test } from 'vitest';
import { fates } from '../../../src/dialects/field-mappings.ts';
import { createTranslation, type TextDialect } from '../../../src/dialects/translate.ts';
import type { FieldFate } from '../../../src/dialects/translation/field-mapping.ts';
import { headOf } from '../../../src/dialects/translation/field-mapping.ts';
import { type Probe, probes } from './fate-probes.ts';
import { renderFates } from './render-fates.ts';
import { directions, newContext } from './run-translation.ts';

const small: Record<TextDialect, object> = {
  messages: { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'hello' }] },
  chat: { model: 'm', messages: [{ role: 'user', content: 'hello' }] },
  responses: { model: 'm', input: 'hello' },
};

const thinker = { host: 'openai', targetModel: 'gpt-5' } as const;
const claude = { host: 'anthropic', targetModel: 'claude-opus-5' } as const;

function contextOf(row: FieldFate, probe: Probe, provider: TextDialect) {
  if (probe.context !== undefined) return probe.context;
  const isEffort = row.fate === 'renamed' && row.field.includes('reasoning');
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

describe.each(directions)('%s to %s', (client, provider) => {
  const rows = fates[client][provider] ?? [];

  test.each(rows.map((row) => [row.field, row.fate, row.when ?? 'always', row] as const))(
    '%s is %s (%s)',
    (field, fate, _when, row) => {
      const key = row.when === undefined ? field : `${field}|${row.when}`;
      const probe = probes[client][key];
      if (probe === undefined) throw new Error(`no probe for ${key}`);
      const context = contextOf(row, probe, provider);
      const translate = (body: object) =>
        createTranslation(client, provider, newContext(context)).request(body);
      const base = { ...small[client], ...probe.base };
      const body = { ...base, ...probe.set };

      if (fate === 'refused') {
        const param = probe.param ?? headOf(field);
        expect(() => translate(body)).toThrow(
          expect.objectContaining({ code: 'request.unsupported', param }),
        );
        return;
      }
      const sent = translate(body);
      // The model's name comes from the context, so there is no request without it.
      const before = field === 'model' ? { body: {} } : translate(base);
      if (fate === 'dropped' || fate === 'answered') {
        expect(sent.body).toEqual(before.body);
        if (fate === 'dropped' && field === headOf(field)) expect(sent.dropped).toContain(field);
        if (fate === 'answered') expect(sent.dropped).not.toContain(field);
        return;
      }
      const found = pick(sent.body, row.to ?? '');
      expect(found).not.toEqual(pick(before.body, row.to ?? ''));
      expect(JSON.stringify(found)).toContain(probe.mark);
    },
  );

  test('a field that nobody knows is dropped, and said to be', () => {
    const translation = createTranslation(client, provider, newContext());

    const { body, dropped } = translation.request({ ...small[client], brand_new: { secret: 'x' } });

    expect(dropped).toEqual(['brand_new']);
    expect(JSON.stringify(body)).not.toContain('secret');
  });
});

test('docs/translation.md says what the code does', async () => {
  await expect(renderFates()).toMatchFileSnapshot('../../../docs/translation.md');
});
