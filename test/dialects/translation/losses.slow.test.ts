import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withSection } from '../../kit/generated-section.ts';
import { renderLosses } from './losses.ts';

test('docs/translation.md says what each client loses at each host', async () => {
  const page = join(import.meta.dirname, '../../../docs/translation.md');
  const losses = renderLosses();

  expect(losses).not.toContain('refused');
  await expect(withSection(readFileSync(page, 'utf8'), 'losses', losses)).toMatchFileSnapshot(page);
}, 60_000);
