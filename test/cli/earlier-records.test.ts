import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command, emptyDirectory, startCommand } from '../kit/command.ts';

test('a record that is none of this version does not end the gateway that would show it', async () => {
  const cwd = emptyDirectory();
  const file = join(cwd, 'gateway.yaml');
  const yaml =
    'server: { port: 0 }\nplants: { store: { enabled: false } }\nrecords: { file: records.jsonl }\n';
  writeFileSync(file, yaml, { mode: 0o600 });
  const own = { time: new Date().toISOString(), request_id: 'req_0', method: 'GET', path: '/', status: 404 };
  const lines = [own, { ...own, request_id: 'req_1', rules: {} }].map((each) => `${JSON.stringify(each)}\n`);
  writeFileSync(join(cwd, 'records.jsonl'), lines.join(''), { mode: 0o600 });
  const serving = startCommand(['serve', '-c', file], { cwd });
  await serving.wrote('stderr', "earlier records can't be shown");

  const { exit } = await command(['send', 'hello'], { cwd });
  serving.signal('SIGTERM');
  await serving.ended;

  expect(exit).toBe(0);
});
