import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { tokenHeader } from '../../src/inspector/contract/actions.ts';
import type { ExchangeDetail } from '../../src/inspector/contract/exchange-detail.ts';
import type { ExchangeRow, ListResponse } from '../../src/inspector/contract/exchange-list.ts';
import { answerHeader, challengeHeader } from '../../src/lib/owner-proof.ts';
import { fileLedger } from '../../src/record/ledger/ledger-store.ts';
import type { ExchangeRecord } from '../../src/record/record.ts';
import { secrets, startGateway, type TestGateway } from './gateway.ts';
import { type Files, homeWith } from './own-configuration.ts';

export interface InspectedGateway extends TestGateway {
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
  readonly files?: Files;
  /** Gets every record. */
  readonly record?: (record: ExchangeRecord) => void;
}

/** A gateway with a live page, by the text of a configuration file. */
export async function startInspected(
  yaml: string,
  { files = {}, ...options }: Options = {},
): Promise<InspectedGateway> {
  const directory = homeWith(files);
  const ownerProof = { challenge: randomBytes(32).toString('hex'), answer: randomBytes(32).toString('hex') };
  const gateway = await startGateway(yaml, {
    ...options,
    directory,
    localKey: secrets.PROJECT_KEY,
    ledger: {
      place: fileLedger(join(directory, 'ledger.sqlite')),
      isSynced: false,
      keepsRows: false,
      days: 1,
      bytes: 1e7,
    },
    ownerProof,
    inspector: { configPath: join(directory, 'gateway.yaml'), recordsFile: join(directory, 'records.jsonl') },
  });
  const url = `http://127.0.0.1:${gateway.port}`;
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
  const api = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const headers = { 'content-type': 'application/json', ...(await session()), ...init.headers };
    const response = await fetch(`${url}/_/api/${path}`, { ...init, headers });
    return response.status === 204 ? undefined : response.json();
  };
  const ask = (
    body: string | Uint8Array | object,
    { path = '/v1/chat/completions', headers = {} }: Sent = {},
  ) => {
    const authorization = `Bearer ${secrets.PROJECT_KEY}`;
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization, ...headers },
    };
    const isWritten = typeof body === 'string' || body instanceof Uint8Array;
    return idOf(fetch(url + path, { ...init, body: isWritten ? body : JSON.stringify(body) }));
  };
  return {
    ...gateway,
    url,
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
    rows: async () => ((await api('exchanges')) as ListResponse).rows,
  };
}
