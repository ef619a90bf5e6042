import { readdirSync, readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { dialectCases, messagesEvents } from '../../kit/answers.ts';
import { secrets } from '../../kit/gateway.ts';
import { type HostRequest, type Script, type ScriptedHost, startHost } from '../../kit/host.ts';
import { startInspected } from '../../kit/inspector.ts';
import { type Random, randomFrom } from '../bypass/random-source.ts';

// Requests with a marked login in every place, at hosts that answer, fail, break off, echo what they got and redirect
// to each other, while the configuration changes. Where may a login be? In the one header for it, at the one host for
// the requested dialect; nowhere else, and in nothing that the gateway says or keeps.

export interface Hunt {
  readonly sent: number;
  /** Requests that reached a host with a login in its place. */
  readonly delivered: number;
  readonly statuses: ReadonlyMap<number, number>;
  /** What was found where no login may be. */
  readonly found: readonly string[];
}

const chance = (random: Random, share: number) => random.number(1_000) < share * 1_000;
const mark = /MARK(\d+)x/g;
const tokenOf = (number: number) =>
  `sk-ant-oat01-MARK${number}x${`q${number}Zr7_-`.repeat(12)}`.slice(0, 103);

interface Sent {
  readonly token: string;
  /** The header that carries it as a login, and its value. */
  readonly placed: readonly [name: string, value: string] | undefined;
  /** The dialect that the client speaks. */
  readonly dialect: string;
}

export async function huntLogins(count: number, seed = 1): Promise<Hunt> {
  const random = randomFrom(seed);
  const hosts = await startHosts(random);
  const requests = new Map<number, Sent>();
  const statuses = new Map<number, number>();
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
      const { options, body, sent } = build(number, random);
      requests.set(number, sent);
      number += 1;
      return ask(gateway.url, options, body).then(({ status, text }) => {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        keep(`answer ${status} to`, text);
      });
    });
    const reloading = number % 3 === 0 ? gateway.reload(configuration(hosts, random)) : undefined;
    await Promise.all([...batch, reloading]);
    if (number % 500 < 20) keep('the live page', JSON.stringify(await pagesOf(gateway)));
  }
  keep('the live page', JSON.stringify(await pagesOf(gateway)));
  for (const [name, text] of filesBelow(gateway.directory)) keep(`the file ${name}`, text);
  let delivered = 0;
  for (const { name, dialect, host } of hosts) {
    for (const request of host.requests) {
      const isDelivered = checkRequest(request, { name, dialect }, requests, found);
      if (isDelivered) delivered += 1;
    }
  }
  await Promise.all(hosts.map(({ host }) => host.close()));
  await gateway.stop();
  return { sent: count, delivered, statuses, found };
}

async function pagesOf(gateway: Awaited<ReturnType<typeof startInspected>>): Promise<unknown[]> {
  const list = (await gateway.api('exchanges')) as { exchanges?: readonly { id: string }[] };
  const shown = [];
  for (const { id } of (list.exchanges ?? []).slice(0, 60)) {
    shown.push(await gateway.api(`exchanges/${id}`));
    shown.push(await gateway.api(`exchanges/${id}/curl`));
  }
  return [list, ...shown];
}

interface Place {
  readonly name: string;
  /** The dialect for which the host takes logins; undefined if it takes none. */
  readonly dialect: string | undefined;
}

/** Whether the host got a login that was for it; anything else goes to `found`. */
function checkRequest(
  { target, headers, body }: HostRequest,
  { name, dialect }: Place,
  requests: ReadonlyMap<number, Sent>,
  found: string[],
): boolean {
  let isDelivered = false;
  const rest: string[] = [target, body.toString('latin1')];
  for (const [header, value] of headers) {
    const number = Number(/MARK(\d+)x/.exec(value)?.[1] ?? 0);
    const sent = requests.get(number);
    const isPlaced = sent?.placed?.[0] === header && sent.placed[1] === value;
    if (isPlaced && dialect !== undefined && sent?.dialect === dialect) isDelivered = true;
    else rest.push(value);
    if (/project-key|gw_/.test(value)) found.push(`${name}: a project key in ${header}`);
  }
  for (const [, number] of rest.join('\n').matchAll(mark)) found.push(`${name}: ${number}`);
  return isDelivered;
}

interface Host extends Place {
  readonly host: ScriptedHost;
  readonly base: string;
}

async function startHosts(random: Random): Promise<readonly Host[]> {
  const hosts: Host[] = [];
  const script = scriptFrom(random, () => hosts.map(({ host }) => host.url));
  for (const dialect of ['messages', 'chat', 'responses', undefined, undefined]) {
    const host = await startHost(script);
    const number = hosts.length;
    const isAnthropic = dialect === 'messages' || number === 3;
    const name = dialect === undefined ? `keyed-${number}` : `own-${dialect}`;
    hosts.push({ name, dialect, host, base: isAnthropic ? host.url : `${host.url}/v1` });
  }
  return hosts;
}

/** Answers each time in another way. */
function scriptFrom(random: Random, urls: () => readonly string[]): Script {
  return (response, request) => {
    const echo = JSON.stringify(Object.fromEntries(request.headers));
    const found = dialectCases.find(({ path }) => request.target.endsWith(path.slice('/v1'.length)));
    const plain = found?.plain ?? '{}';
    const json = (text: string, status: number, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
    const events = (pieces: readonly string[]) => {
      response.writeHead(200, chance(random, 0.8) ? { 'content-type': 'text/event-stream' } : {});
      for (const piece of pieces) response.write(piece);
      return response;
    };
    const isStream = /"stream":\s*true/.test(request.body.toString());
    const whole = found?.events ?? messagesEvents;
    const answers: (() => unknown)[] = [
      () => (isStream ? events(whole).end() : json(plain, 200)),
      () => json(plain.replace(/Hello/, JSON.stringify(echo).slice(1, -1)), 200, { 'anthropic-echo': echo }),
      () =>
        json(
          `{"error":{"type":"x","message":${JSON.stringify(echo)}}}`,
          random.pick([400, 401, 403, 404, 429, 500, 529]),
        ),
      () =>
        json(`{"error":{"message":${JSON.stringify(echo)}}}`, 401, {
          'x-should-retry': 'true',
          'retry-after': '0',
        }),
      () =>
        response
          .writeHead(random.pick([301, 302, 307, 308]), {
            location: `${random.pick(urls())}${request.target}`,
          })
          .end(),
      () => response.writeHead(502, { 'content-type': 'text/html' }).end(`<h1>${echo}</h1>`),
      () => response.destroy(),
      () => events([...whole.slice(0, 2), `: ${echo}\n\n`]).destroy(),
      () => json(`${plain.slice(0, 40)}${echo}`, 200),
    ];
    random.pick(answers)();
  };
}

function configuration(hosts: readonly Host[], random: Random): string {
  const names = hosts.map(({ name }) => name);
  const providers = hosts.map(({ name, dialect, base }, i) => {
    const isAnthropic = dialect === 'messages' || i === 3;
    const whose =
      dialect === undefined ? `api_key: "\${PROVIDER_KEY}"` : `credentials: client, endpoints: [${dialect}]`;
    const retries = `{ attempts: ${random.pick([1, 2, 3])} }`;
    return `  ${name}: { dialect: ${isAnthropic ? 'anthropic' : 'openai'}, base_url: "${base}", ${whose}, retries: ${retries}, breaker: { failures: 1000 } }`;
  });
  const models = names.map((name, i) => {
    const fallbacks = names.filter((other) => other !== name && chance(random, 0.5));
    return `  - { match: m${i}, provider: ${name}, fallbacks: [${fallbacks.map((each) => `{ provider: ${each} }`).join(', ')}] }`;
  });
  const action = random.pick(['block', 'redact']);
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
  readonly options: { readonly path: string; readonly headers: readonly string[] };
  readonly body: string;
  readonly sent: Sent;
}

function build(number: number, random: Random): Built {
  const token = tokenOf(number);
  const { path, dialect } = random.pick(dialectCases);
  const key = chance(random, 0.85)
    ? secrets.PROJECT_KEY
    : random.pick([secrets.OTHER_KEY, 'unknown-key-0123456789']);
  const headers: string[] = ['content-type', 'application/json'];
  const hasKey = chance(random, 0.9);
  if (hasKey) headers.push('x-gateway-key', key);
  const spellings = ['Bearer ', 'Bearer ', 'bearer  ', 'BEARER ', '', 'Basic '];
  const value = `${random.pick(spellings)}${token}`;
  const carriers = random.pick([
    ...Array.from({ length: 5 }, () => ['authorization']),
    ['x-api-key'],
    [],
    ['authorization', 'x-api-key'],
  ]);
  for (const carrier of carriers) {
    const spelled = random.pick([carrier, carrier.toUpperCase()]);
    headers.push(spelled, carrier === 'x-api-key' ? token : value);
  }
  if (!hasKey && chance(random, 0.5)) headers.push('authorization', `Bearer ${key}`);
  const isAlone = chance(random, 0.6);
  const places = isAlone ? [] : [random.pick(otherHeaders)];
  for (const name of places)
    headers.push(name, random.pick([token, `a ${token} b`, encodeURIComponent(`a b ${token}`)]));
  const text =
    isAlone || chance(random, 0.5)
      ? 'hello'
      : random.pick([token, `my login: ${token}`, `\\u0073${token.slice(1)}`]);
  const own = ['messages', 'chat', 'responses'].indexOf(dialect);
  const model = `m${random.pick([own, own, own, 0, 1, 2, 3, 4])}`;
  const named = !isAlone && chance(random, 0.1) ? token : model;
  const turns =
    dialect === 'responses' ? `"input":"${text}"` : `"messages":[{"role":"user","content":"${text}"}]`;
  const cap = dialect === 'messages' ? '"max_tokens":9,' : '';
  const stream = chance(random, 0.4) ? '"stream":true,' : '';
  const placed = placedIn(headers);
  return {
    options: { path: isAlone || chance(random, 0.7) ? path : `${path}?beta=${token}&k=${token}`, headers },
    body: `{"model":"${named}",${cap}${stream}${turns}}`,
    sent: { token, dialect, placed },
  };
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
function placedIn(headers: readonly string[]): Sent['placed'] {
  const found = headers.flatMap((name, i) => {
    const lower = name.toLowerCase();
    return i % 2 === 0 && (lower === 'authorization' || lower === 'x-api-key')
      ? [[lower, headers[i + 1] ?? ''] as const]
      : [];
  });
  return headers.includes('x-gateway-key') && found.length === 1 ? found[0] : undefined;
}

/** All files with their texts; read again if one was moved into the database meanwhile. */
function filesBelow(directory: string, tries = 5): readonly (readonly [name: string, text: string])[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map(({ name, parentPath }) => [name, readFileSync(join(parentPath, name), 'latin1')]);
  } catch (error) {
    if (tries === 1) throw error;
    return filesBelow(directory, tries - 1);
  }
}

/** Not fetch, which refuses some of these headers. */
function ask(
  url: string,
  { path, headers }: Built['options'],
  body: string,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve) => {
    const all = [...headers, 'host', new URL(url).host, 'content-length', String(Buffer.byteLength(body))];
    const request = httpRequest(url + path, { method: 'POST', headers: all }, (response) => {
      let text = response.rawHeaders.join('\n');
      const end = () => resolve({ status: response.statusCode ?? 0, text });
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', end).on('error', end);
    });
    request.on('error', (error) => resolve({ status: 0, text: String(error) }));
    request.end(body);
  });
}
