import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { bind, urlOf } from '../../src/http/bind.ts';

test('connections that cannot be accepted do not end the process', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  await bind(server, { host: '127.0.0.1', port: 0 });

  const fail = () => server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));

  expect([fail(), fail(), fail()]).toEqual([true, true, true]);
});

test.each([
  ['127.0.0.1', 'http://127.0.0.1:4100'],
  ['0.0.0.0', 'http://127.0.0.1:4100'],
  ['0', 'http://127.0.0.1:4100'],
  ['::ffff:0.0.0.0', 'http://127.0.0.1:4100'],
  ['10.0.3.17', 'http://10.0.3.17:4100'],
  ['fd00::5', 'http://[fd00::5]:4100'],
  ['gateway.lan', 'http://gateway.lan:4100'],
])('what listens at %s is reached at %s', (host, url) => {
  expect(urlOf({ host, port: 4100 })).toBe(url);
});

test.each(['::', '0:0:0:0:0:0:0:0', '::0'])('what listens at %s is reached at loopback', (host) => {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address));

  expect(urlOf({ host, port: 4100 })).toBe(
    addresses.includes('::1') ? 'http://[::1]:4100' : 'http://127.0.0.1:4100',
  );
});

test('an address with a zone is refused, as no URL can name it', async () => {
  await expect(bind(createServer(), { host: 'fe80::1%lo', port: 0 })).rejects.toMatchObject({
    code: 'config.invalid',
  });
});
