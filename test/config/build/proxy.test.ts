// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a configuration file says
import { describe, expect, test } from 'vitest';
import { proxiesOf, proxyFor } from '../../../src/config/build/proxy.ts';
import { inspect } from '../workspace.ts';

const proxy = 'http://proxy.example:3128';

describe('the environment', () => {
  test.each([
    [{ HTTPS_PROXY: proxy }, { https: proxy }],
    [{ https_proxy: proxy, HTTPS_PROXY: 'http://other.example' }, { https: proxy }],
    [
      { HTTP_PROXY: 'proxy.example:3128', NO_PROXY: 'a' },
      { http: proxy, none: 'a' },
    ],
    [{ HTTPS_PROXY: '' }, {}],
  ])('%j', (env, expected) => {
    expect(proxiesOf(env)).toEqual(expected);
  });
});

describe('the proxy towards a host', () => {
  const environment = { https: proxy, http: 'http://plain.example' };

  test.each([
    ['https://api.example/v1', proxy],
    ['http://api.example/v1', 'http://plain.example'],
    ['https://127.0.0.1:1', undefined],
    ['http://localhost:11434', undefined],
    ['https://[::1]:1', undefined],
  ])('%s is that of the environment, but never towards this machine', (url, expected) => {
    expect(proxyFor(new URL(url), undefined, environment)).toBe(expected);
  });

  test('is its own where it has one, or none', () => {
    expect(proxyFor(new URL('https://api.example'), 'http://own.example', environment)).toBe(
      'http://own.example',
    );
    expect(proxyFor(new URL('https://127.0.0.1'), 'http://own.example', environment)).toBe(
      'http://own.example',
    );
    expect(proxyFor(new URL('https://api.example'), 'none', environment)).toBeUndefined();
  });

  test.each([
    ['api.example', true],
    ['.example', true],
    ['*.example', true],
    ['example', true],
    ['*', true],
    ['other.test api.example:443', true],
    ['api.example:8443', false],
    ['api.example.test', false],
    ['example.', true],
    ['.example.', true],
    ['api.example.:443', true],
    ['.', false],
  ])('NO_PROXY %j', (none, isReachedWithout) => {
    const found = proxyFor(new URL('https://api.example/v1'), undefined, { ...environment, none });

    expect(found === undefined).toBe(isReachedWithout);
  });

  test.each([
    ['10.1.2.3', '10.0.0.0/8', true],
    ['11.1.2.3', '10.0.0.0/8', false],
    ['10.1.2.3', '10.1.2.3/32', true],
    ['10.1.2.3', '0.0.0.0/0', true],
    ['[2001:db8::1]', '2001:db8::/32', true],
    ['[2001:db8::1]', '[2001:db8::]/32', true],
    ['[2001:db9::1]', '2001:db8::/32', false],
    ['[2001:db8::1]', '10.0.0.0/8', false],
    ['10.1.2.3', '10.0.0.0/33', false],
    ['10.1.2.3', '10.0.0.0/', false],
    ['api.example', '0.0.0.0/0', false],
    ['[::ffff:10.1.2.3]', '10.0.0.0/8', true],
    ['[::ffff:11.1.2.3]', '10.0.0.0/8', false],
    ['[::ffff:10.1.2.3]', '10.1.2.3', true],
    ['10.1.2.3', '::ffff:10.1.2.3', true],
    ['10.1.2.3', '::/0', false],
    ['10.1.2.3', '2001:db8::/32', false],
    ['[fd00::5]', 'fd00:0::5', true],
    ['[fd00::5]', '[fd00:0:0::0005]:443', true],
    ['[fd00::5]', 'fd00::6', false],
  ])('%s is in the block %s: %s', (host, none, isReachedWithout) => {
    const found = proxyFor(new URL(`https://${host}/v1`), undefined, { ...environment, none });

    expect(found === undefined).toBe(isReachedWithout);
  });

  test.each(['.corp', 'corp.', 'a.corp', 'a.corp.'])('NO_PROXY %s names a.corp., with its dot', (none) => {
    expect(proxyFor(new URL('https://a.corp./v1'), undefined, { ...environment, none })).toBeUndefined();
    expect(proxyFor(new URL('http://localhost.:1'), undefined, environment)).toBeUndefined();
  });

  test('NO_PROXY names an address of IPv6 with or without brackets', () => {
    for (const none of ['2001:db8::1', '[2001:db8::1]', '[2001:db8::1]:443']) {
      expect(
        proxyFor(new URL('https://[2001:db8::1]/v1'), undefined, { ...environment, none }),
      ).toBeUndefined();
    }
  });
});

describe('a configuration with a proxy', () => {
  const provider = 'dialect: openai, base_url: "https://api.example/v1", api_key: "${KEY}"';

  test.each([
    'http://proxy.example:99999',
    'http://user:pass/word@proxy.example:3128',
    'http://user:1#word@proxy.example:3128',
    'http://user?word@proxy.example',
    'socks5://proxy.example',
  ])('that is no URL of one is refused, wherever it is: %s', async (url) => {
    const own = await inspect(`providers: { host: { ${provider}, proxy: "${url}" } }`, { KEY: 'k' });
    const common = await inspect(`providers: { host: { ${provider} } }`, { KEY: 'k', HTTPS_PROXY: url });

    for (const { config, problems } of [own, common]) {
      expect(config).toBeUndefined();
      expect(problems.map(({ message }) => message)).toEqual([
        expect.stringContaining('the http:// or https:// URL of a proxy'),
      ]);
      expect(JSON.stringify(problems)).not.toContain('word@');
    }
  });

  test.each([
    ['http://user:100%@proxy.example:3128', '100%'],
    ['HTTP://user:p%FFss-word@proxy.example', 'p%FFss-word'],
    ['http://user:p@ssword@proxy.example/', 'p@ssword'],
  ])('knows the password that %s contains', async (url, password) => {
    const { config } = await inspect(`providers: { host: { ${provider} } }`, { KEY: 'k', HTTPS_PROXY: url });

    expect(config?.providers.get('host')?.proxy).toBe(url);
    expect(config?.secrets).toContain(password);
  });
});
