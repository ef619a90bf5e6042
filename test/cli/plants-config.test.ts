import { expect, test } from 'vitest';
import { command } from '../kit/command.ts';
import { directoryWith } from '../kit/own-configuration.ts';

test('plants commands go where the configuration of the project says', async () => {
  const cwd = directoryWith('plants: { base_url: "http://127.0.0.1:9/v3" }\n');

  const ended = await command(['plants', 'search'], { cwd });

  expect(ended.exit).toBe(8);
  expect(ended.stderr).toContain('http://127.0.0.1:9/v3');
});

test('the environment beats the configuration', async () => {
  const cwd = directoryWith('plants: { base_url: "http://127.0.0.1:9/v3" }\n');

  const ended = await command(['plants', 'search'], { cwd, env: { PLANTS_URL: 'http://127.0.0.1:7/v3' } });

  expect(ended.exit).toBe(8);
  expect(ended.stderr).toContain('http://127.0.0.1:7/v3');
});

test('a configuration that is not valid is told, not passed over', async () => {
  const cwd = directoryWith('plants: { base_ulr: "http://127.0.0.1:9/v3" }\n');

  const ended = await command(['plants', 'search'], { cwd });

  expect(ended.exit).toBe(2);
  expect(ended.stderr).toContain('base_url');
});
