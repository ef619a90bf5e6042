import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { allCases, askedOf, pathFor, requestFor, streamedIn } from '../../kit/answers.ts';
import { startGateway } from '../../kit/gateway.ts';
import { type Script, startHost } from '../../kit/host.ts';
import { startNginx } from '../../kit/nginx.ts';
import { isInstalled } from '../../kit/real-program.ts';

// Once its stream has begun the host is silent for longer than a proxy waits: a third of nginx's own 60 s.

const patienceS = 20;
const silentMs = 40_000;
const cases = allCases.filter(({ events }) => events.length > 0);
const dialectNames = cases.map(({ dialect }) => dialect);

const silent: Script = async (response, request) => {
  const { dialect } = askedOf(request);
  const events = cases.find((one) => one.dialect === dialect)?.events ?? [];
  const { type, pieces } = streamedIn(request.target, events);
  response.writeHead(200, { 'content-type': type }).write(pieces[0]);
  await pause(silentMs);
  for (const piece of pieces.slice(1)) response.write(piece);
  response.end();
};

/** nginx, and behind it a gateway whose rule holds what answers say. */
async function startBehind() {
  const { url } = await startHost(silent);
  const gateway = await startGateway(`
providers:
  messages: { dialect: anthropic, base_url: "${url}" }
  chat: { dialect: openai, base_url: "${url}/v1", endpoints: [chat] }
  responses: { dialect: openai, base_url: "${url}/v1", endpoints: [responses] }
  gemini: { dialect: gemini, base_url: "${url}" }
models: [${dialectNames.map((name) => `{ match: ${name}, provider: ${name} }`)}]
policies:
  house:
    apply: all
    rules:
      - id: codename
        action: block
        apply_to: [response]
        when: { text: { phrases: ["project nightfall"] } }
        reason: content.codename
`);
  return { url: await startNginx(gateway.url, `proxy_read_timeout ${patienceS}s;`), key: gateway.key };
}

test.skipIf(!isInstalled('nginx'))(
  'nginx keeps a stream whose host is silent for long',
  { timeout: silentMs + 60_000 },
  async () => {
    const { url, key } = await startBehind();
    const pairs = dialectNames.flatMap((client) => dialectNames.map((host) => [client, host] as const));

    // Where nginx has lost patience, the answer is cut, and reading it fails.
    const answers = pairs.map(async ([client, host]) => {
      const answer = await fetch(url + pathFor(client, host, true), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gateway-key': key },
        body: JSON.stringify(requestFor(client, host, { stream: true })),
      });
      const text = await answer.text().catch(() => 'cut');
      return [`${client} from ${host}`, /Grüße 👋 .*東京/s.test(text) ? 'whole' : text];
    });

    expect(Object.fromEntries(await Promise.all(answers))).toEqual(
      Object.fromEntries(pairs.map(([client, host]) => [`${client} from ${host}`, 'whole'])),
    );
  },
);
