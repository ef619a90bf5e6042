import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { makeAuthority } from '../kit/certificate.ts';
import { address, address6, hasNamespaces, inNamespace } from '../kit/namespace.ts';
import { isInstalled } from '../kit/real-program.ts';

// Squid as companies run it: with passwords, with rules, and reached by TLS too. Its log has what it was asked for.

const company = makeAuthority('company');
const password = 's3cret of squid';
const login = `user:${encodeURIComponent(password)}`;
const proxies = {
  plain: `http://${login}@proxy.test:3128`,
  secure: `https://${login}@proxy.test:3129`,
  misnamed: `https://${login}@other.test:3129`,
  // Squid keeps one password for a user: the others' is not asked for with another.
  stranger: 'http://stranger:wrong@proxy.test:3128',
  away: `http://${login}@proxy.test:3130`,
};

/** Where a model is, by its name, and the proxy of its provider where that has one of its own. */
const providers: Readonly<Record<string, { readonly url: string; readonly proxy?: string }>> = {
  plain: { url: 'https://plain.test:8443', proxy: proxies.plain },
  secure: { url: 'https://secure.test:8443', proxy: proxies.secure },
  unencrypted: { url: 'http://unencrypted.test:8000', proxy: proxies.secure },
  environment: { url: 'https://environment.test:8443' },
  spared: { url: 'https://spared.test:8443' },
  block: { url: `https://${address}:8443` },
  block6: { url: `http://[${address6}]:8000` },
  without: { url: 'https://without.test:8443', proxy: 'none' },
  impostor: { url: 'https://impostor.test:8443', proxy: proxies.secure },
  forbidden: { url: 'https://forbidden.test:8443', proxy: proxies.plain },
  misnamed: { url: 'https://misnamed.test:8443', proxy: proxies.misnamed },
  stranger: { url: 'https://stranger.test:8443', proxy: proxies.stranger },
  away: { url: 'https://away.test:8443', proxy: proxies.away },
};
const reached = ['plain', 'secure', 'unencrypted', 'environment', 'spared', 'block', 'block6', 'without'];

/** What `doctor` says of each of the others: who is to blame, and what to do. */
const faults: Readonly<Record<string, string>> = {
  impostor:
    'through the proxy proxy.test:3129: its certificate is for another host | check the host of base_url',
  forbidden: 'the proxy refused the tunnel (403) | let the proxy allow CONNECT',
  misnamed:
    'of the proxy itself: its certificate is for another host | check the host of proxy or HTTPS_PROXY',
  stranger: 'the proxy asks for other credentials (407) | check user and password of proxy or HTTPS_PROXY',
  away: 'of the proxy itself: nothing listens there | start it, or check host and port of proxy or HTTPS_PROXY',
};

const names = [
  '127.0.0.1 proxy.test other.test',
  `${address} ${Object.keys(providers)
    .map((name) => `${name}.test`)
    .join(' ')}`,
];
const proxyIdentity = company.issue(['proxy.test']);
const hostIdentity = company.issue([
  ...Object.keys(providers).flatMap((name) => (name === 'impostor' ? [] : `${name}.test`)),
  address,
]);

const files = {
  'gateway.yaml': JSON.stringify({
    plants: { store: { enabled: false } },
    providers: Object.fromEntries(
      Object.entries(providers).map(([name, { url, proxy }]) => [
        name,
        {
          dialect: 'openai',
          base_url: `${url}/v1`,
          api_key: 'k',
          ca_file: 'ca.pem',
          ...(proxy && { proxy }),
        },
      ]),
    ),
    models: Object.keys(providers).map((name) => ({ match: name, provider: name })),
  }),
  'ca.pem': company.cert,
  'squid.conf': `
http_port 127.0.0.1:3128
https_port 127.0.0.1:3129 tls-cert=proxy.pem tls-key=proxy.key
pid_filename none
pinger_enable off
logformat seen %rm %ru %un %>Hs
access_log stdio:seen.log seen
cache_log cache.log
cache deny all
coredump_dir .
hosts_file /etc/hosts
auth_param basic program /usr/lib/squid/basic_ncsa_auth passwords
auth_param basic children 1
acl known proxy_auth REQUIRED
acl forbidden dstdomain forbidden.test
http_access deny forbidden
http_access allow known
http_access deny all
`,
  passwords: `user:${createHash('md5').update(password).digest('hex')}\n`,
  'proxy.pem': proxyIdentity.cert,
  'proxy.key': proxyIdentity.key,
  'host.pem': hostIdentity.cert,
  'host.key': hostIdentity.key,
  'host.cjs': `
const { readFileSync } = require('node:fs');
const list = { object: 'list', data: [{ id: 'm' }] };
const chat = { id: 'c', object: 'chat.completion', created: 1, model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }] };
const answer = (request, response) => response.setHeader('content-type', 'application/json')
  .end(JSON.stringify(request.method === 'GET' ? list : chat));
const identity = { cert: readFileSync('host.pem'), key: readFileSync('host.key') };
require('node:https').createServer(identity, answer).listen(8443, '::');
require('node:http').createServer(answer).listen(8000, '::');
`,
};

const script = String.raw`
unprivileged squid -N -f squid.conf 2> squid.err &
"$NODE" host.cjs &
listening 127.0.0.1 3129; listening ${address} 8443
run serve serve --detach
for name in ${Object.keys(providers).join(' ')}; do run $name send -m $name hello; done
gateway doctor --jq '.findings[] | select(.subject | startswith("provider")) | "\(.subject)=\(.status) \(.message) | \(.remedy)"'
run stop stop
# A tunnel is in the log once it is closed.
for _ in $(seq 100); do [ $(grep -c '\.test:.* 200' seen.log) -ge 10 ] && break; sleep 0.1; done
grep CONNECT seen.log | sort -u | sed 's/\(.*\) /\1=/'
`;

describe.skipIf(!hasNamespaces || !isInstalled('squid'))('through Squid', () => {
  test('hosts are reached by its own certificate and theirs, and what keeps them away is named', async () => {
    const env = {
      HTTPS_PROXY: proxies.plain,
      HTTP_PROXY: proxies.plain,
      NO_PROXY: '127.0.0.1,.spared.test,spared.test,10.99.0.0/16,fd99::/64',
    };

    const printed = await inNamespace(script, { files, names, env });

    const refused = `7 gateway: the provider can't be reached ("gateway doctor" says why)`;
    const { serve, ...others } = printed;
    expect(serve).toMatch(/^0 /);
    expect(others).toEqual({
      ...Object.fromEntries(reached.map((name) => [name, '0 hello'])),
      ...Object.fromEntries(
        reached.map((name) => [`provider ${name}`, expect.stringMatching(/^ok .* answers/)]),
      ),
      ...Object.fromEntries(Object.keys(faults).map((name) => [name, refused])),
      ...Object.fromEntries(
        Object.entries(faults).map(([name, fault]) => [`provider ${name}`, expect.stringContaining(fault)]),
      ),
      'CONNECT plain.test:8443 user': '200',
      'CONNECT secure.test:8443 user': '200',
      'CONNECT unencrypted.test:8000 user': '200',
      'CONNECT environment.test:8443 user': '200',
      'CONNECT impostor.test:8443 user': '200',
      'CONNECT forbidden.test:8443 -': '403',
      'CONNECT stranger.test:8443 stranger': '407',
      stop: '0 ',
    });
    expect(JSON.stringify(printed)).not.toContain('s3cret');
  });
});
