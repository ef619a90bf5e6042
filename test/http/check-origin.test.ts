import { describe, expect, test } from 'vitest';
import { checkOrigin, hostsAt } from '../../src/http/check-origin.ts';

const access = {
  allowedHosts: new Set(['gateway.example']),
  allowedOrigins: new Set(['https://app.example']),
};

function ask(headers: Readonly<Record<string, string>>): string {
  try {
    checkOrigin({ header: (name) => headers[name] }, access);
    return 'let in';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('Host', () => {
  test.each([
    'localhost',
    'LocalHost:4100',
    '127.0.0.1',
    '127.0.0.1:4100',
    '127.8.9.10:1',
    '[::1]',
    '[::1]:4100',
    'gateway.example',
    'Gateway.Example:443',
  ])('%s is let in', (host) => {
    expect(ask({ host })).toBe('let in');
  });

  test.each([
    '',
    'evil.example',
    'localhost.evil.example',
    'evil.example:127.0.0.1',
    '127.0.0.1.evil.example',
    'localhost:4100:80',
    'localhost:',
    'localhost:port',
    'user@localhost',
    'localhost evil',
    '0.0.0.0',
    '192.168.0.1',
    '2130706433',
    '[::]',
    '[::ffff:127.0.0.1]',
    '::1',
    'ｌocalhost',
    'xgateway.example',
    'gateway.example.evil',
  ])('%j is refused', (host) => {
    expect(ask({ host })).toBe('host.not_allowed');
  });

  test('must be there', () => {
    expect(ask({})).toBe('host.not_allowed');
  });
});

describe('Origin', () => {
  const host = '127.0.0.1:4100';

  test.each(['http://127.0.0.1:4100', 'https://127.0.0.1:4100', 'https://app.example'])(
    '%s is let in',
    (origin) => {
      expect(ask({ host, origin })).toBe('let in');
    },
  );

  test.each([
    'null',
    '',
    'http://evil.example',
    'http://127.0.0.1',
    'http://127.0.0.1:4101',
    'http://localhost:4100',
    'http://127.0.0.1:4100.evil.example',
    'http://app.example',
    'https://app.example.evil',
    'https://app.example, http://evil.example',
    'file://',
    'chrome-extension://abc',
  ])('%j is refused', (origin) => {
    expect(ask({ host, origin })).toBe('origin.not_allowed');
  });

  test('a foreign Host is not saved by an Origin that is the same', () => {
    expect(ask({ host: 'evil.example', origin: 'http://evil.example' })).toBe('host.not_allowed');
  });
});

describe('where others can reach it', () => {
  const access = {
    ...hostsAt('Gateway.LAN', new Set(['other.example'])),
    allowedOrigins: new Set<string>(),
  };
  const askFor = (host: string) => () =>
    checkOrigin({ header: (name) => (name === 'host' ? host : undefined) }, access);

  test.each([
    '10.1.2.3',
    '10.1.2.3:9464',
    '[fd00::1]:9464',
    'localhost',
    'gateway.lan:9464',
    'other.example',
  ])('%s is let in', (host) => {
    expect(askFor(host)).not.toThrow();
  });

  test.each(['evil.example', 'evil.example:9464', '10.1.2.3.evil.example', '10.1.2', '[evil]', ''])(
    '%j is refused',
    (host) => {
      expect(askFor(host)).toThrow();
    },
  );
});

test('a server on loopback takes no other address', () => {
  for (const host of ['127.0.0.1', '::1', 'localhost']) {
    expect(hostsAt(host, new Set())).toMatchObject({ allowsAddresses: false });
  }
});
