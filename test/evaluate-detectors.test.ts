import { writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { evaluate, readTexts, renderReport } from '../scripts/evaluate-detectors.ts';

const iban = 'DE89370400440532013000';

test('counts what is found, missed and found in vain, by kind and confidence', () => {
  const report = renderReport(
    evaluate([
      { text: `pay to ${iban}`, values: [{ kind: 'iban', value: iban }] },
      { text: 'pay to DE00370400440532013000', values: [{ kind: 'iban', value: 'DE00370400440532013000' }] },
      { text: `an example: ${iban}`, from: 'readme' },
    ]),
    5,
  );

  expect(report).toContain('3 texts');
  expect(report).toContain('| `iban` | certain | 1 | 1 | 1 |');
  expect(report).toContain('readme: check digits (certain) at 12');
});

test('says which labelled line is wrong', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'labelled-')), 'lines.jsonl');
  writeFileSync(file, '{"text": "a"}\n{"text": "b", "values": [{"kind": "ibam", "value": "b"}]}\n');

  expect(() => [...readTexts(file)]).toThrow(`${file}:2: no detector is named ibam`);
});
