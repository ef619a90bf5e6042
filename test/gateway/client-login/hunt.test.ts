import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dialectCases, json, messagesEvents } from '../../kit/answers.ts';
import { secrets } from '../../kit/gateway.ts';
import { type HostRequest, type Script, type ScriptedHost, startHost } from '../../kit/host.ts';
import { type InspectedGateway, startInspected } from '../../kit/inspector.ts';
import { createRandom, type Random } from '../../kit/random.ts';
import { head, sendRaw } from '../../kit/raw.ts';
import { scale } from '../../kit/scale.ts';

// Requests with a marked login in every place, at hosts that answer, fail, break off, echo what they got and redirect
// to each other, while the configuration changes. Where may a login be? In the one header for it, at the one host for
// the requested dialect; nowhere else, and in nothing that the gateway says or keeps.

test('no login is where it does not belong', { timeout: 600_000 }, async () => {
  const count = scale(120, 2_000);
  const { delivered, shown, found } = await huntLogins(count);

  expect(found).toEqual([]);
  expect(delivered).toBeGreaterThan(count / 20);
  expect(shown).toBe(60);
});

type Header = readonly [name: string, value: string];

const chance = (random: Random, share: number) => random.next() < share;
const mark = /MARK(\d+)x/g;
const tokenOf = (number: number) =>
  `sk-ant-oat01-MARK${number}x${`q${number}Zr7_-`.repeat(12)}`.slice(0, 103);

interface Sent {
  /** The header that carries the token as a login. */
  readonly placed: Header | undefined;
  /** The dialect that the client speaks. */
  readonly dialect: string;
}

/** What was found where no login may be, how many got where they belong, and how many the live page was asked for. */
async function huntLogins(count: number) {
  const random = createRandom(1);
  const hosts = await startHosts(random);
  const requests = new Map<number, Sent>();
  const found: string[] = [];
  const keep = (place: string, text: string) => {
    for (const { index } of text.matchAll(mark))
      found.push(`${place}: ${text.slice(Math.max(0, index - 99), index + 9)}`);
  };
  const record = (one: object) => keep('a record', JSON.stringify(one));
  const gateway = await startInspected(configuration(hosts, random), { record });
  await gateway.api('keep-bodies', { method: 'POST', body: '{"minutes":60}' });
  for (let number = 1; number <= count; ) {
    const batch = Array.from({ length: Math.min(20, count - number + 1) }, () => {
      const { path, headers, body, sent } = build(number, random);
      requests.set(number, sent);
      number += 1;
      return ask(gateway, path, headers, body).then((text) => keep('an answer', text));
    });
    const reloading = number % 3 === 0 ? gateway.reload(configuration(hosts, random)) : undefined;
    await Promise.all([...batch, reloading]);
  }
  const pages = await pagesOf(gateway);
  keep('the live page', JSON.stringify(pages));
  await gateway.stop();
  for (const [name, text] of filesBelow(gateway.directory)) keep(`the file ${name}`, text);
  const delivered = hosts.flatMap((host) =>
    host.host.requests.filter((request) => checkRequest(request, host, requests, found)),
  );
  await Promise.all(hosts.map(({ host }) => host.close()));
  return { delivered: delivered.length, shown: pages.length, found };
}

/** What the live page shows of the newest exchanges. */
async function pagesOf(gateway: InspectedGateway): Promise<readonly unknown[]> {
  const shown = [];
  for (const row of (await gateway.rows()).slice(0, 60)) {
    const { id } = row;
    shown.push([row, await gateway.detail(id), await gateway.api(`exchanges/${id}/curl`)]);
  }
  return shown;
}

interface Host {
  readonly name: string;
  /** The dialect for which the host takes logins; undefined if it takes none. */
  readonly dialect: string | undefined;
  readonly isAnthropic: boolean;
  readonly host: ScriptedHost;
}

/** Whether the host got a login that was for it; anything else goes to `found`. */
function checkRequest(
  { target, headers, body }: HostRequest,
  { name, dialect }: Host,
  requests: ReadonlyMap<number, Sent>,
  found: string[],
): boolean {
  let isDelivered = false;
  const rest: string[] = [target, body.toString('latin1')];
  for (const [header, value] of headers) {
    const sent = requests.get(Number(/MARK(\d+)x/.exec(value)?.[1] ?? 0));
    const isPlaced = sent?.placed?.[0] === header && sent.placed[1] === value;
    if (isPlaced && dialect !== undefined && sent?.dialect === dialect) isDelivered = true;
    else rest.push(value);
    if (/project-key|gw_/.test(value)) found.push(`${name}: a project key in ${header}`);
  }
  for (const [, number] of rest.join('\n').matchAll(mark)) found.push(`${name}: ${number}`);
  return isDelivered;
}

async function startHosts(random: Random): Promise<readonly Host[]> {
  const hosts: Host[] = [];
  const script = scriptFrom(random, () => hosts.map(({ host }) => host.url));
  for (const dialect of ['messages', 'chat', 'responses', undefined, undefined]) {
    const number = hosts.length;
    const name = dialect === undefined ? `keyed-${number}` : `own-${dialect}`;
    const isAnthropic = dialect === 'messages' || number === 3;
    hosts.push({ name, dialect, isAnthropic, host: await startHost(script) });
  }
  return hosts;
}

/** Answers each time in another way. */
function scriptFrom(random: Random, urls: () => readonly string[]): Script {
  return (response, request) => {
    const echo = JSON.stringify(Object.fromEntries(request.headers));
    const error = `{"error":{"type":"x","message":${JSON.stringify(echo)}}}`;
    const found = dialectCases.find(({ path }) => request.target.endsWith(path.slice('/v1'.length)));
    const { plain = '{}', events = messagesEvents } = found ?? {};
    const isStream = /"stream":\s*true/.test(request.body.toString());
    const write = (pieces: readonly string[]) => {
      response.writeHead(200, chance(random, 0.8) ? { 'content-type': 'text/event-stream' } : {});
      for (const piece of pieces) response.write(piece);
      return response;
    };
    const send = (...answer: Parameters<typeof json>) => json(...answer)(response, request);
    const answers: (() => unknown)[] = [
      () => (isStream ? write(events).end() : send(plain)),
      () => send(plain.replace(/Hello/, JSON.stringify(echo).slice(1, -1)), 200, { 'anthropic-echo': echo }),
      () => send(error, random.of([400, 401, 403, 404, 429, 500, 529])),
      () => send(error, 401, { 'x-should-retry': 'true', 'retry-after': '0' }),
      () => send('', random.of([301, 302, 307, 308]), { location: random.of(urls()) + request.target }),
      () => send(`<h1>${echo}</h1>`, 502, { 'content-type': 'text/html' }),
      () => response.destroy(),
      () => write([...events.slice(0, 2), `: ${echo}\n\n`]).destroy(),
      () => send(`${plain.slice(0, 40)}${echo}`),
    ];
    random.of(answers)();
  };
}

function configuration(hosts: readonly Host[], random: Random): string {
  const providers = hosts.map(({ name, dialect, isAnthropic, host }) => {
    const family = isAnthropic
      ? `dialect: anthropic, base_url: "${host.url}"`
      : `dialect: openai, base_url: "${host.url}/v1"`;
    const whose =
      dialect === undefined ? `api_key: "\${PROVIDER_KEY}"` : `credentials: client, endpoints: [${dialect}]`;
    const retries = `retries: { attempts: ${random.of([1, 2, 3])} }, breaker: { failures: 1000 }`;
    return `  ${name}: { ${family}, ${whose}, ${retries} }`;
  });
  const models = hosts.map((own, i) => {
    const fallbacks = hosts.filter((other) => other !== own && chance(random, 0.5));
    const list = fallbacks.map(({ name }) => `{ provider: ${name} }`).join(', ');
    return `  - { match: m${i}, provider: ${own.name}, fallbacks: [${list}] }`;
  });
  const action = random.of(['block', 'redact']);
  return `
providers:
${providers.join('\n')}
models:
${models.join('\n')}
policies:
  house: { apply: all, rules: [{ id: s, action: ${action}, when: { text: { detect: [secrets] } }, reason: content.secret }] }
projects:
  shop: { keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
  other: { keys: [{ id: other-web, value: "\${OTHER_KEY}" }] }
`;
}

interface Built {
  readonly path: string;
  readonly headers: readonly Header[];
  readonly body: string;
  readonly sent: Sent;
}

function build(number: number, random: Random): Built {
  const token = tokenOf(number);
  const { path, dialect } = random.of(dialectCases);
  // In its place alone, or in others too.
  const isAlone = chance(random, 0.6);
  const headers = [...credentials(token, random)];
  // What no header carries is no login but a text, and the page shows bodies to its owner.
  const hasLogin = headers.some(([, value]) => value.includes(token));
  if (!isAlone) {
    const value = random.of([token, `a ${token} b`, encodeURIComponent(`a b ${token}`)]);
    headers.push([random.of(otherHeaders), value]);
  }
  const text =
    isAlone || !hasLogin || chance(random, 0.5)
      ? 'hello'
      : random.of([token, `my login: ${token}`, `\\u0073${token.slice(1)}`]);
  const own = dialectCases.findIndex((each) => each.dialect === dialect);
  const model =
    !isAlone && hasLogin && chance(random, 0.1) ? token : `m${random.of([own, own, own, 0, 1, 2, 3, 4])}`;
  const turns =
    dialect === 'responses' ? `"input":"${text}"` : `"messages":[{"role":"user","content":"${text}"}]`;
  const cap = dialect === 'messages' ? '"max_tokens":9,' : '';
  const stream = chance(random, 0.4) ? '"stream":true,' : '';
  return {
    path: isAlone || !hasLogin || chance(random, 0.5) ? path : random.of(pathsWith(token, path)),
    headers,
    body: `{"model":"${model}",${cap}${stream}${turns}}`,
    sent: { dialect, placed: placedIn(headers) },
  };
}

/** In the query, and where a path is quoted, cut off or read as a model's name. */
function pathsWith(token: string, path: string): readonly string[] {
  return [
    `${path}?beta=${token}&k=${token}`,
    `${path}/${token}`,
    `/${'x'.repeat(150)}/${token}`,
    `/v1/models/${token}`,
    `/v1beta/models/${token}:generateContent`,
    `/v1beta/models/${encodeURIComponent(`a ${token}`)}:countTokens`,
  ];
}

/** A project key, or none, and the login in one header, in two, or in none. */
function credentials(token: string, random: Random): readonly Header[] {
  const key = chance(random, 0.85)
    ? secrets.PROJECT_KEY
    : random.of([secrets.OTHER_KEY, 'unknown-key-0123456789']);
  const value = `${random.of(['Bearer ', 'Bearer ', 'bearer  ', 'BEARER ', '', 'Basic '])}${token}`;
  const usual = Array.from({ length: 5 }, () => ['authorization']);
  const carriers = random.of([...usual, ['x-api-key'], [], ['authorization', 'x-api-key']]);
  const logins = carriers.map((carrier): Header => {
    return [random.of([carrier, carrier.toUpperCase()]), carrier === 'x-api-key' ? token : value];
  });
  if (chance(random, 0.9)) return [['x-gateway-key', key], ...logins];
  return chance(random, 0.5) ? [...logins, ['authorization', `Bearer ${key}`]] : logins;
}

const otherHeaders = [
  'user-agent',
  'anthropic-beta',
  'x-claude-code-session-id',
  'x-stainless-lang',
  'x-codex-window-id',
  'chatgpt-account-id',
  'cookie',
  'proxy-authorization',
  'x-team',
  'session-id',
  'originator',
  'tracestate',
] as const;

/** The one header next to the project key that can carry a login. */
function placedIn(headers: readonly Header[]): Header | undefined {
  const lower = headers.map(([name, value]): Header => [name.toLowerCase(), value]);
  const found = lower.filter(([name]) => name === 'authorization' || name === 'x-api-key');
  return lower.some(([name]) => name === 'x-gateway-key') && found.length === 1 ? found[0] : undefined;
}

/** All files with their texts. */
function filesBelow(directory: string): readonly (readonly [name: string, text: string])[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ name, parentPath }) => [name, readFileSync(join(parentPath, name), 'latin1')]);
}

/** Head and body of the answer as one text; empty if the gateway closed the connection. */
async function ask(
  { port }: InspectedGateway,
  path: string,
  headers: readonly Header[],
  body: string,
): Promise<string> {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const length = `content-length: ${Buffer.byteLength(body)}`;
  const start = [`POST ${path} HTTP/1.1`, 'host: 127.0.0.1', 'content-type: application/json'];
  try {
    const answer = await sendRaw(port, head(...start, ...lines, length), body);
    return `${JSON.stringify([...answer.headers])}\n${answer.body}`;
  } catch {
    return '';
  }
}
