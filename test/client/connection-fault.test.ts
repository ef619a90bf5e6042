import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeAuthority } from '../kit/certificate.ts';
import { command, failure } from '../kit/command.ts';
import { useGateway } from '../kit/lifecycle.ts';
import { deadUrl, listening } from '../kit/listening.ts';

const authority = makeAuthority('company');
const urls = new Map<string, string>();

beforeAll(async () => {
  const withTls = (names: readonly string[], days?: { from: number; until: number }) =>
    listening(createServer(authority.issue(names, days), (_request, response) => response.end('{}')));
  const plain = createHttpServer((_request, response) => response.end('{}'));
  const redirecting = createHttpServer((_request, response) =>
    response.writeHead(301, { location: 'https://gateway.example/' }).end(),
  );
  const secured = (url: string) => url.replace('http:', 'https:');
  const port = new URL((await listening(plain)).url).port;
  const tls = await withTls(['127.0.0.1']);
  urls.set('an unknown authority', secured(tls.url));
  urls.set(
    'a certificate that is over',
    secured((await withTls(['127.0.0.1'], { from: -9, until: -1 })).url),
  );
  urls.set('no TLS', `https://127.0.0.1:${port}`);
  urls.set('TLS at http', tls.url.replace('https:', 'http:'));
  urls.set('no such host', 'http://no-such-host.invalid:4100');
  urls.set('nothing', await deadUrl());
  urls.set('no HTTP', (await listening(createTcpServer((socket) => socket.end('hello\n')))).url);
  urls.set('a redirect', (await listening(redirecting)).url);
});

const start = 'start one with "gateway serve"';

describe.each([
  ['an unknown authority', 'signed by an unknown authority; set NODE_EXTRA_CA_CERTS'],
  ['a certificate that is over', 'its certificate has expired'],
  ['no TLS', 'it does not speak TLS; write http:// in GATEWAY_URL'],
  ['TLS at http', 'GATEWAY_URL'],
  ['no such host', 'GATEWAY_URL'],
  ['no HTTP', 'what answers there does not speak HTTP; write https:// in GATEWAY_URL'],
  ['a redirect', 'redirects to https://gateway.example; set GATEWAY_URL to that'],
])('a GATEWAY_URL with %s', (name, words) => {
  const at = () => ({ gateway: { url: urls.get(name) ?? '', key: 'gw_some-key' } });

  test('is named by send, in JSON and by doctor', async () => {
    const text = await command('send hello', at());
    const json = await command('send hello -o json', at());
    const doctor = await command('doctor -o json', at());

    expect(text).toEqual(failure(8, words));
    expect(text.stderr).not.toContain(start);
    expect(json.error).toMatchObject({
      reason: 'gateway.unreachable',
      message: expect.stringContaining(words),
    });
    const [finding] = doctor.json.findings.filter(
      ({ subject }: { subject: string }) => subject === 'GATEWAY_URL',
    );
    expect(finding).toMatchObject({ status: 'error' });
    expect(`${finding.message}; ${finding.remedy}`).toContain(words);
  });
});

test('where nothing listens on this machine, a gateway can be started', async () => {
  const gateway = { url: urls.get('nothing') ?? '', key: 'gw_some-key' };

  expect(await command('send hello', { gateway })).toEqual(failure(8, start));
});

describe('a gateway that answers', () => {
  const gateway = useGateway();

  test('is well to doctor', async () => {
    const { json } = await command('doctor -o json', { gateway: gateway() });

    expect(json.findings).toContainEqual({
      subject: 'GATEWAY_URL',
      status: 'ok',
      message: expect.stringContaining('takes the key'),
    });
  });
});
