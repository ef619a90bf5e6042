import { expect, test } from 'vitest';
import { json, messagesAnswer } from '../kit/answers.ts';
import { post, projects, startGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';

// Places in records and refusals name members of the dialect; a key that somebody chose is content.

const host = await startHost(() => undefined);
const gatewayWith = (action: string) =>
  startGateway(`
providers: { host: { dialect: anthropic, base_url: "${host.url}", api_key: "\${PROVIDER_KEY}" } }
models:
  - { match: "*", provider: host, when: { text: { phrases: ["project nightfall"] } } }
  - { match: "*", provider: host }
policies:
  house: { apply: all, rules: [{ id: code, action: ${action}, when: { text: { phrases: ["project nightfall"] } } }] }
${projects}`);

const key = 'Erika Muster';
const text = 'project nightfall';
const use = (input: unknown) => [
  { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input }] },
];
const bodies: [string, string, string][] = [
  ['an input', JSON.stringify({ messages: use({ [key]: { text } }) }), '/messages/0/content/0/input/*/text'],
  ['a list', JSON.stringify({ messages: use({ [key]: [text] }) }), '/messages/0/content/0/input/*/0'],
  ['a member that no dialect has', JSON.stringify({ messages: [], [key]: text }), '/*'],
];

test.each(['block', 'redact', 'mask', 'warn'])(
  '%s records places without keys of the client',
  async (action) => {
    const gateway = await gatewayWith(action);
    host.script(json(messagesAnswer));
    for (const [, body, at] of bodies) {
      const before = gateway.records.length;

      const answer = await post(gateway, '/v1/messages', `{"model":"m","max_tokens":9,${body.slice(1)}`);

      const said = await answer.text();
      await gateway.recorded(before + 1);
      const record = gateway.records[before];
      expect(record?.rules?.[0]?.at).toBe(at);
      expect(record?.route?.by[0]?.at).toBe(at);
      expect(said + JSON.stringify(record)).not.toContain(key);
      if (action === 'block') expect(JSON.parse(said).error.param).toBe(at);
    }
  },
);

test('a body that strict parsing refuses is refused without them', async () => {
  const gateway = await gatewayWith('block');

  const answer = await post(
    gateway,
    '/v1/messages',
    `{"model":"m","messages":[],"${key}":{"${key}":1,"${key}":2}}`,
  );

  expect(await answer.json()).toMatchObject({ error: { reason: 'request.duplicate_key', param: '/*/*' } });
});
