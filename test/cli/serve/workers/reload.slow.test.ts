import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chatAnswer } from '../../../kit/answers.ts';
import { emptyDirectory } from '../../../kit/command.ts';
import type { Script } from '../../../kit/host.ts';
import { askAlone, configure, type Gateway, host, serve, withHost } from './serving.ts';

const answering: Script = (response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer);

/** What each of two workers answers, twice, to a request for a model that only a changed file has. */
function statusesOf(gateway: Gateway): Promise<readonly number[]> {
  return Promise.all([1, 2, 3, 4].map(async () => (await askAlone(gateway, 'other')).status));
}

test('a changed file reaches every worker; one with mistakes changes none', async () => {
  const provider = await host(answering);
  const gateway = await serve(withHost(provider));
  const statuses = () => statusesOf(gateway);

  const before = await statuses();
  configure(gateway.home, withHost(provider).replace('gpt-*', '*'));
  await gateway.child.wrote('configuration reloaded');
  const changed = await statuses();
  configure(gateway.home, 'modles: []');
  gateway.child.process.kill('SIGHUP');
  await gateway.child.wrote('was not reloaded');
  process.kill(gateway.workers[1] as number, 'SIGKILL');
  await gateway.child.wrote('in its place');
  const kept = await statuses();

  expect([before, changed, kept]).toEqual([
    [404, 404, 404, 404],
    [200, 200, 200, 200],
    [200, 200, 200, 200],
  ]);
});

// What a process loads first that is to refuse, as the second worker, the first command of a kind.
const refusing = (kind: string) => `
const on = process.on.bind(process);
let isFirst = process.argv[2] === '2';
process.on = (name, listener) =>
  on(name, (...heard) => {
    if (name !== 'message' || heard[0].kind !== '${kind}' || !isFirst) return listener(...heard);
    isFirst = false;
    process.send({ kind: 'failed', code: 'gateway.overloaded', message: 'no room for it', cause: '' });
  });
`;

/** A gateway whose configuration has just been changed. */
async function changedWhileRefusing(kind: string) {
  const provider = await host(answering);
  const hook = join(emptyDirectory(), 'refusing.cjs');
  writeFileSync(hook, refusing(kind));
  const gateway = await serve(withHost(provider), [], { NODE_OPTIONS: `--require ${hook}` });
  configure(gateway.home, withHost(provider).replace('gpt-*', '*'));
  return gateway;
}

test('a change that one worker refuses reaches none', async () => {
  const gateway = await changedWhileRefusing('prepare');
  await gateway.child.wrote('was not reloaded');
  const refused = await statusesOf(gateway);
  gateway.child.process.kill('SIGHUP');
  await gateway.child.wrote('configuration reloaded');
  const followed = await statusesOf(gateway);

  expect([refused, followed]).toEqual([
    [404, 404, 404, 404],
    [200, 200, 200, 200],
  ]);
});

test('a worker that does not follow what the others do is replaced by one that does', async () => {
  const gateway = await changedWhileRefusing('commit');
  await gateway.child.wrote('configuration reloaded');
  await gateway.child.wrote('in its place');

  expect(await statusesOf(gateway)).toEqual([200, 200, 200, 200]);
});
