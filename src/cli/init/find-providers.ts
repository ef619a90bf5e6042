import { readText, send } from '../../client/http.ts';
import { type LoginAgent, logins } from '../../config/source/logins.ts';
import { toFields, toList, toText } from '../../dialects/fields.ts';
import { hosts, vendorSetups } from '../../hosts/registry.ts';
import { reachableHost } from '../../http/bind.ts';
import { isLoggedIn } from '../agents/logins.ts';
import type { Io } from '../shell/io.ts';
import { type FoundProvider, findClouds } from './find-clouds.ts';

/** The endpoints that most hosts of the OpenAI family support; requests to the others are translated. */
const chatAndEmbeddings = ['chat', 'embeddings'] as const;

/** A server on this machine answers immediately or does not exist, but the machine may be busy. `init` ends within 2 s. */
const patienceMs = 800;

/**
 * All providers that can be set up: first hosted ones, found by their keys, then clouds, then servers on this machine
 * that answer.
 */
export async function findProviders(
  env: Io['env'],
  more: readonly string[],
): Promise<readonly FoundProvider[]> {
  const local = [
    findServer('ollama', ollamaUrl(env)),
    findServer('lmstudio', 'http://127.0.0.1:1234/v1'),
    ...more.map((url, i) => findServer(i === 0 ? 'local' : `local-${i + 1}`, url)),
  ];
  return [...findHosts(env), ...findLogins(env), ...findClouds(env), ...(await Promise.all(local))];
}

function findHosts(env: Io['env']): FoundProvider[] {
  return vendorSetups().map(([name, host]) => {
    const isFound = (env[host.variable] ?? '') !== '';
    // Only OpenAI itself has all three of its endpoints.
    const endpoints = host.dialect === 'openai' && name !== 'openai' ? { endpoints: chatAndEmbeddings } : {};
    return {
      name,
      ...host,
      ...endpoints,
      isFound,
      note: isFound ? `${host.variable} is set` : `needs ${host.variable}`,
    };
  });
}

/** Logins that agents keep; only what a key doesn't serve already counts as found. */
function findLogins(env: Io['env']): FoundProvider[] {
  return (Object.keys(logins) as LoginAgent[]).map((agent) => {
    const { name, match, provider } = logins[agent];
    const isIn = isLoggedIn(agent, { env });
    const hasKey = (env[hosts[provider.dialect].setup.variable] ?? '') !== '';
    const { base_url: baseUrl, dialect } = provider;
    return {
      name,
      dialect,
      baseUrl,
      takesLogin: true,
      ...('endpoints' in provider && { endpoints: provider.endpoints }),
      models: match,
      isFound: isIn && !hasKey,
      note: isIn ? `${agent} is logged in; its login goes there` : `needs a login of ${agent}`,
    };
  });
}

async function findServer(name: string, baseUrl: string): Promise<FoundProvider> {
  const models = await listModels(baseUrl);
  const server = { name, dialect: 'openai' as const, baseUrl, endpoints: chatAndEmbeddings };
  if (models === 'none')
    return { ...server, models: [], isFound: false, note: `nothing answers at ${baseUrl}` };
  if (models === 'late') {
    const note = `${baseUrl} didn't answer within ${patienceMs / 1000} s`;
    return { ...server, models: [], isFound: false, isLate: true, note };
  }
  const count = models.length === 1 ? 'a model' : `${models.length} models`;
  return { ...server, models, isFound: true, note: `${baseUrl} answers, with ${count}` };
}

/** Names of a server's models, without odd ones, as they are untrusted; or why there are none. */
async function listModels(baseUrl: string): Promise<readonly string[] | 'none' | 'late'> {
  const { signal, stop } = patience();
  try {
    const response = await send(new URL(`${baseUrl}/models`), {
      method: 'GET',
      headers: { connection: 'close' },
      agent: false,
      signal,
    });
    const text = await readText(response);
    if (response.statusCode !== 200) return 'none';
    const { data } = toFields(JSON.parse(text));
    if (!Array.isArray(data)) return 'none';
    const ids = toList(data).map((model) => toText(toFields(model).id));
    return ids.filter((id) => /^[\w./:@+-]{1,128}$/.test(id));
  } catch {
    return signal.aborted ? 'late' : 'none'; // nothing listens there, or it is something else
  } finally {
    stop();
  }
}

/** Ends after `patienceMs` in steps: what `serve` does meanwhile, while it starts, takes at most one of them. */
function patience(): { readonly signal: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController();
  const steps = 8;
  let step = 0;
  const timer = setInterval(() => {
    step += 1;
    if (step === steps) controller.abort();
  }, patienceMs / steps);
  return { signal: controller.signal, stop: () => clearInterval(timer) };
}

/** OLLAMA_HOST as Ollama reads it: a host, a port, both, or a URL. A wildcard address becomes loopback. */
export function ollamaUrl({ OLLAMA_HOST: given = '' }: Io['env']): string {
  const text = given.trim();
  const candidate = /^https?:\/\//.test(text)
    ? text
    : `http://${text.startsWith(':') ? `127.0.0.1${text}` : text || '127.0.0.1'}`;
  const url = URL.canParse(candidate) ? new URL(candidate) : new URL('http://127.0.0.1');
  const host = reachableHost(url.hostname);
  const hasScheme = candidate === text;
  const port = url.port || (hasScheme ? '' : '11434');
  return `${url.protocol}//${host}${port === '' ? '' : `:${port}`}/v1`;
}
