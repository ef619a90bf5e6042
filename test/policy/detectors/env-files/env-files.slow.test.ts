import { expect, test } from 'vitest';
import { policyOf, saying } from '../../deciding.ts';
import { envFiles } from './env-files.ts';

/** As `gateway init` writes it. */
const decide = policyOf({
  id: 'secrets',
  action: 'mask',
  when: { text: { detect: [{ secrets: 'possible' }, 'private_key'] } },
  reason: 'content.secret',
});

test('in 200 .env files from public templates, nearly all secrets are masked and all settings are left', () => {
  const counts: Record<string, { masked: number; left: number }> = {};

  for (const { settings, text } of envFiles(8)) {
    const body = decide(saying(text)).redacted?.value(0) as ReturnType<typeof saying> | undefined;
    const sent = String(body?.messages[0]?.content ?? text);
    const sentLines = new Set(sent.split(/\r?\n/));
    for (const { kind, value, line } of settings) {
      const isMasked = kind === 'plain' ? !sentLines.has(line) : !sent.includes(value);
      const count = counts[kind] ?? { masked: 0, left: 0 };
      counts[kind] = count;
      count[isMasked ? 'masked' : 'left'] += 1;
    }
  }

  expect(counts).toEqual({
    password: { masked: 379, left: 5 },
    key: { masked: 1697, left: 63 },
    url: { masked: 264, left: 0 },
    aws_id: { masked: 176, left: 0 },
    aws_secret: { masked: 120, left: 0 },
    private_key: { masked: 96, left: 0 },
    webhook: { masked: 8, left: 0 },
    public: { masked: 71, left: 97 },
    plain: { masked: 0, left: 9768 },
  });
});
