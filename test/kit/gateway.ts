import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { generateKey } from '../../src/config/build/keys.ts';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { ExchangeRecord } from '../../src/record/record.ts';
import { type Services, startServices } from '../../src/server/services.ts';
import { emptyDirectory } from './own-configuration.ts';
import { stopAtEnd } from './started.ts';

/** What configurations of tests take from the environment; none of them may ever be in an answer or a record. */
export const secrets = {
  PROJECT_KEY: 'project-key-0123456789',
  OTHER_KEY: 'other-project-key-0123456789',
  OLD_KEY: 'expired-project-key-0123456789',
  PROVIDER_KEY: 'provider-secret-9876543210',
  HEADER_KEY: 'header-secret-5647382910',
} as const;

/** The projects that most tests use: `shop` with a working and an expired key, and `other`. */
export const projects = `
projects:
  shop:
    keys:
      - { id: shop-web, value: "\${PROJECT_KEY}" }
      - { id: shop-old, value: "\${OLD_KEY}", expires: 2020-01-01 }
  other:
    keys: [{ id: other-web, value: "\${OTHER_KEY}" }]
`;

export interface TestGateway {
  readonly url: string;
  readonly port: number;
  /** A key that works. */
  readonly key: string;
  readonly services: Services;
  readonly records: readonly ExchangeRecord[];
  /** Waits until so many exchanges were recorded. */
  recorded(count: number): Promise<readonly ExchangeRecord[]>;
  /** The first record that is meant, as soon as it is there. */
  recordWhere(isMeant: (record: ExchangeRecord) => boolean): Promise<ExchangeRecord>;
  /** Applies another configuration while it runs. */
  reload(yaml: string): Promise<void>;
  stop(): Promise<void>;
}

type Options = Partial<Omit<Parameters<typeof startServices>[0], 'config'>> & {
  /** Where its configuration is. */
  readonly directory?: string;
  /** The key where there are no projects. */
  readonly localKey?: string;
};

/** Starts a gateway from the text of a configuration file on a free port, as `gateway serve` does. */
export async function startGateway(
  yaml = '',
  { directory = emptyDirectory(), localKey = generateKey(), ...more }: Options = {},
): Promise<TestGateway> {
  const load = async (text: string): Promise<Config> => {
    const config = await configFrom(text, directory);
    if (!config.needsLocalKey) return config;
    return config.withKey({ id: 'local', project: 'local', value: localKey });
  };
  const config = await load(yaml);
  const records: ExchangeRecord[] = [];
  const waiting = new Set<() => void>();
  const record = (one: ExchangeRecord) => {
    records.push(one);
    more.record?.(one);
    for (const look of waiting) look();
  };
  /** What `find` gives, as soon as it gives something. */
  const wait = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const look = () => {
        const found = find();
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  const services = await startServices({ host: '127.0.0.1', port: 0, ...more, config, record });
  services.announce();
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= services.stop();
    return stopping;
  };
  stopAtEnd(stop);
  return {
    url: services.url,
    port: Number(new URL(services.url).port),
    key: config.keys.find(localKey) === undefined ? secrets.PROJECT_KEY : localKey,
    services,
    records,
    recorded: (count) => wait(() => (records.length >= count ? records : undefined)),
    recordWhere: (isMeant) => wait(() => records.find(isMeant)),
    reload: async (next) => (await services.prepare(await load(next))).commit(),
    stop,
  };
}

/** What a configuration file with this text makes; its variables are the secrets of tests. */
export async function configFrom(yaml: string, directory = emptyDirectory()): Promise<Config> {
  const file = join(directory, 'gateway.yaml');
  writeFileSync(file, yaml || '{}', { mode: 0o600 });
  return (await loadConfig({ file, cwd: directory, env: secrets, nowMs: Date.now() })).config;
}

export function anthropicClient({ url, key }: Pick<TestGateway, 'url' | 'key'>): Anthropic {
  return new Anthropic({ apiKey: key, authToken: null, baseURL: url, maxRetries: 0 });
}

export function openaiClient({ url, key }: Pick<TestGateway, 'url' | 'key'>): OpenAI {
  return new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
}

/** Posts JSON with the project key, or whatever else is given. */
export function post(
  gateway: Pick<TestGateway, 'url' | 'key'>,
  path: string,
  body: unknown,
  init: RequestInit = {},
): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${gateway.key}`,
      ...(init.headers as Record<string, string> | undefined),
    },
  });
}
