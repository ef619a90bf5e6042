import { describe, expect, test } from 'vitest';
import { hasNamespaces, inNamespace } from '../../kit/namespace.ts';

// A name with two addresses at which nobody is: Node's error for it has a list of errors, and no message of its own.

const names = ['127.0.0.2 dead.test', '127.0.0.3 dead.test'];
const at = (scheme: string, port: number, rest = '') => `${scheme}://dead.test:${port}${rest}`;
const provider = (more: object) => ({ dialect: 'openai', api_key: 'k', ...more });
const config = JSON.stringify({
  state: at('redis', 6379),
  records: { ledger_database: at('postgres', 5432, '/ledger') },
  providers: {
    direct: provider({ base_url: at('https', 443, '/v1') }),
    proxied: provider({ base_url: 'https://host.test/v1', proxy: at('http', 3128) }),
  },
  models: [
    { match: 'direct', provider: 'direct' },
    { match: 'proxied', provider: 'proxied' },
  ],
  plants: { store: { database: at('postgres', 5432, '/plants') } },
  projects: { p: { keys: [{ id: 'p-key', value: '$' + '{GATEWAY_KEY}' }] } },
  policies: {},
});

const script = String.raw`
run serve serve --detach
log=.local/state/gateway/serve.log
run direct send -m direct hello
run proxied send -m proxied hello
run usage usage
run plants plants search
GATEWAY_URL=http://dead.test:4100 run elsewhere send hello
PLANTS_URL=http://dead.test:4101 run store plants search
gateway doctor --jq '.findings[] | select(.status == "error") | "doctor \(.subject)=\(.message) | \(.remedy)"' 2> /dev/null
for _ in $(seq 100); do grep -q 'traces cannot' $log && break; sleep 0.1; done
run stop stop
grep -E '"(level":50|cause)"?' $log | tr = : | sed 's/^/=/' | awk '{ print "log " NR $0 }'
`;

describe.skipIf(!hasNamespaces)('a name whose addresses are all dead', () => {
  test('is named with the cause, whatever should be there', async () => {
    const env = { GATEWAY_KEY: 'a-project-key-0123456789', OTEL_EXPORTER_OTLP_ENDPOINT: at('http', 4318) };

    const printed = await inNamespace(script, { names, files: { 'gateway.yaml': config }, env });

    const refused = `7 gateway: the provider can't be reached ("gateway doctor" says why)`;
    const nobody = 'nothing listens there; start it, or check host and port of';
    const causeAt = (port: number) =>
      `connect ECONNREFUSED 127.0.0.2:${port}, connect ECONNREFUSED 127.0.0.3:${port}`;
    const starting = 'nothing listens there | start it, or check host and port of';
    expect(printed).toMatchObject({
      direct: refused,
      proxied: refused,
      usage: expect.stringContaining(`can't be read: ${causeAt(5432)}`),
      plants: expect.stringContaining("the store's database has not answered yet"),
      elsewhere: `8 gateway: no gateway answers at http://dead.test:4100: ${nobody} GATEWAY_URL`,
      store: `8 gateway: no plant store at http://dead.test:4101/v3: ${nobody} PLANTS_URL`,
      'doctor provider direct': expect.stringContaining(`${starting} base_url`),
      'doctor provider proxied': expect.stringContaining(`${starting} proxy or HTTPS_PROXY`),
      'doctor redis': expect.stringContaining(`${starting} state`),
      'doctor ledger': expect.stringContaining(`${starting} records.ledger_database`),
      stop: expect.stringMatching(/^0/),
    });
    const log = Object.entries(printed).flatMap(([step, line]) => (step.startsWith('log') ? line : []));
    for (const port of [443, 3128, 4318, 5432, 6379]) {
      expect(log).toContainEqual(expect.stringContaining(causeAt(port)));
    }
    // A request of the store is logged too.
    for (const line of log) expect(line).toMatch(/ECONNREFUSED|try again soon/);
  });
});
