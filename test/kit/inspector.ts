import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExchangeDetail } from '../../src/inspector/contract/exchange-detail.ts';
import type { ExchangeRow, ListAnswer } from '../../src/inspector/contract/exchange-list.ts';
import { tokenHeader } from '../../src/inspector/contract/session.ts';
import { answerHeader, challengeHeader } from '../../src/owner-proof.ts';
import { fileLedger } from '../../src/record/ledger/ledger-store.ts';
import type { ExchangeRecord } from '../../src/record/record.ts';
import { type Services, startServices } from '../../src/server/services.ts';
import { configFrom, secrets } from './gateway.ts';
import { stopAtEnd } from './started.ts';

export interface InspectedGateway {
  readonly url: string;
  readonly port: number;
  /** A key of the project `shop`, where `projects` of the kit are configured. */
  readonly key: string;
  readonly services: Services;
  /** Where its configuration and its ledger are. */
  readonly directory: string;
  /** A one-time token, as `gateway open` gets it. */
  token(): Promise<string>;
  /** The headers of a browser that has opened the page; always the same one. */
  session(): Promise<Readonly<Record<string, string>>>;
  /** The headers of one more browser. */
  newSession(): Promise<Readonly<Record<string, string>>>;
  /** Calls the page's interface with a session; gives the JSON of the answer. */
  api(path: string, init?: RequestInit): Promise<unknown>;
  /** The same with a body, posted as JSON. */
  post(path: string, body: object): Promise<unknown>;
  /** Posts to the gateway, as JSON and with the key, reads the answer to its end, and gives the exchange's id. */
  ask(body: string | Uint8Array | object, sent?: Sent): Promise<string>;
  /** `ask` with a chat of one turn at the sandbox. */
  say(text: string, body?: object): Promise<string>;
  detail(id: string): Promise<ExchangeDetail>;
  rows(): Promise<readonly ExchangeRow[]>;
  /** Takes another configuration into force. */
  reload(yaml: string): Promise<void>;
  stop(): Promise<void>;
}

interface Sent {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The id of the exchange with this answer, which is read to its end. */
export async function idOf(answer: Promise<Response>): Promise<string> {
  const response = await answer;
  await response.text();
  return response.headers.get('x-request-id') ?? '';
}

interface Options {
  /** 0 takes any; the same one for a gateway that is started again. */
  readonly port?: number;
  readonly host?: string;
  /** Files beside the configuration. */
  readonly files?: Readonly<Record<string, string>>;
  /** Gets every record. */
  readonly record?: (record: ExchangeRecord) => void;
}

/** A gateway with a live page, by the text of a configuration file. */
export async function startInspected(yaml: string, options: Options = {}): Promise<InspectedGateway> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-inspected-'));
  const file = join(directory, 'gateway.yaml');
  for (const [name, text] of Object.entries(options.files ?? {})) {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
  }
  const load = async (text: string) => {
    const config = await configFrom(text, directory);
    return config.needsLocalKey
      ? config.withKey({ id: 'local', project: 'local', value: secrets.PROJECT_KEY })
      : config;
  };
  const ownerProof = { challenge: randomBytes(32).toString('hex'), answer: randomBytes(32).toString('hex') };
  const services = await startServices({
    config: await load(yaml),
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    record: options.record ?? (() => undefined),
    ledger: {
      place: fileLedger(join(directory, 'ledger.sqlite')),
      isSynced: false,
      days: 1,
      bytes: 10_000_000,
    },
    ownerProof,
    inspector: { configPath: file, recordsFile: join(directory, 'records.jsonl') },
  });
  services.announce();
  const port = Number(new URL(services.url).port);
  const url = `http://127.0.0.1:${port}`;
  const token = async () => {
    const headers = { [challengeHeader]: ownerProof.challenge };
    const response = await fetch(`${url}/_/api/link`, { method: 'POST', headers });
    if (response.headers.get(answerHeader) !== ownerProof.answer) throw new Error(await response.text());
    return ((await response.json()) as { token: string }).token;
  };
  let opened: Promise<Readonly<Record<string, string>>> | undefined;
  const open = async () => {
    const response = await fetch(`${url}/_/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: await token() }),
    });
    const { token: half } = (await response.json()) as { token: string };
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? '';
    return { cookie, [tokenHeader]: half };
  };
  const session = () => {
    opened ??= open();
    return opened;
  };
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= services.stop();
    return stopping;
  };
  stopAtEnd(stop);
  const api = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const headers = { 'content-type': 'application/json', ...(await session()), ...init.headers };
    const response = await fetch(`${url}/_/api/${path}`, { ...init, headers });
    return response.status === 204 ? undefined : response.json();
  };
  const ask = (
    body: string | Uint8Array | object,
    { path = '/v1/chat/completions', headers = {} }: Sent = {},
  ) =>
    idOf(
      fetch(url + path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${secrets.PROJECT_KEY}`,
          ...headers,
        },
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      }),
    );
  return {
    url,
    port,
    key: secrets.PROJECT_KEY,
    services,
    directory,
    token,
    session,
    newSession: open,
    api,
    post: (path, body) => api(path, { method: 'POST', body: JSON.stringify(body) }),
    ask,
    say: (text, body = {}) =>
      ask({ model: 'sandbox-mini', messages: [{ role: 'user', content: text }], ...body }),
    detail: async (id) => (await api(`exchanges/${id}`)) as ExchangeDetail,
    rows: async () => ((await api('exchanges')) as ListAnswer).rows,
    reload: async (text) => (await services.prepare(await load(text))).commit(),
    stop,
  };
}
