import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inspectConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/source/problems.ts';

const page = readFileSync(new URL('../../docs/translation-howto.md', import.meta.url), 'utf8');
const configurations = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, yaml]) => yaml ?? '');

test('the page has its three configurations', () => {
  expect(configurations).toHaveLength(3);
});

test.each(configurations)('%s is valid, without a warning that it would not tell of', async (yaml) => {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-howto-'));
  writeFileSync(join(directory, 'gateway.yaml'), yaml, { mode: 0o600 });
  const env = { ANTHROPIC_API_KEY: 'a-provider-key', GATEWAY_KEY: 'a-project-key-0123456789' };

  const { problems, name } = await inspectConfig({
    file: 'gateway.yaml',
    cwd: directory,
    env,
    nowMs: Date.now(),
  });

  rmSync(directory, { recursive: true });
  const said = problems.map((problem) => formatProblem(problem, name));
  // Where nothing is to be kept from a project there is no policy; that is all it may mind.
  expect(said.filter((text) => !text.includes('policy') && !text.includes('policies'))).toEqual([]);
});
