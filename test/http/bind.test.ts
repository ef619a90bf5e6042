import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { bind } from '../../src/http/bind.ts';

test('connections that cannot be accepted do not end the process', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  await bind(server, { host: '127.0.0.1', port: 0 });

  const fail = () => server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));

  expect([fail(), fail(), fail()]).toEqual([true, true, true]);
});
