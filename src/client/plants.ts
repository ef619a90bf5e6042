import { parseJson } from '../dialects/fields.ts';
import { type FailureCode, failures, GatewayError } from '../errors.ts';
import { isLoopbackHost } from '../lib/loopback.ts';
import { isRefused, unreachableBecause } from './connection-fault.ts';
import { readText, send } from './http.ts';

// The shapes and paths of the store's OpenAPI document; test/plants/documents.test.ts compares them with it.
export interface Plant {
  id: number;
  name: string;
  category?: string;
  status: 'available' | 'pending' | 'sold';
  tags: string[];
}
export type NewPlant = Pick<Plant, 'name'> & Partial<Omit<Plant, 'id' | 'name'>>;
/** Without an id, the name says which plant; a category of null is removed. */
export type PlantChange = Partial<Omit<Plant, 'category'>> & { category?: string | null };
export interface StoreToken {
  token: string;
  /** Seconds. */
  expiresIn: number;
}
export interface User {
  id: number;
  username: string;
  email: string;
}
/** Paths that the commands use. */
export type PlantsPath =
  | '/plant'
  | '/plant/{plantId}'
  | '/plant/search/tags'
  | '/user/auth/login'
  | '/user/auth/logout'
  | '/user/{username}';

export interface PlantsConnection {
  readonly baseUrl: string;
  readonly token?: string;
  /** For one request. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What is undefined is not sent. */
type Given<Body> = { readonly [Name in keyof Body]: Body[Name] | undefined };

export interface PlantSearch {
  readonly tags?: readonly string[] | undefined;
  readonly match?: 'any' | 'all' | undefined;
  readonly status?: Plant['status'] | undefined;
  /** Part of the name. */
  readonly name?: string | undefined;
  readonly category?: string | undefined;
  /** Maximum number of plants in all; absent: no limit. */
  readonly limit?: number | undefined;
}

export type PlantsClient = ReturnType<typeof createPlantsClient>;

const pageSize = 1_000;

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

interface OperationRequest {
  /** For `{…}` in the path. */
  readonly parameters?: Readonly<Record<string, string | number>>;
  readonly query?: Query;
  readonly body?: unknown;
}

interface OperationResponse<Data> {
  readonly data: Data;
  /** Whether it is one page of several, and not the last. */
  readonly hasMore: boolean;
}

/** The commands' client of a plant store. */
export function createPlantsClient({ baseUrl, token, timeoutMs, signal }: PlantsConnection) {
  const ask = async <Data>(
    method: Method,
    path: PlantsPath,
    call: OperationRequest = {},
  ): Promise<OperationResponse<Data>> => {
    const payload = call.body === undefined ? undefined : JSON.stringify(call.body);
    const headers = {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
    };
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const response = await send(urlOf(baseUrl, path, call), { method, headers, payload, signal: limit });
      const stop = () => response.destroy(limit.reason);
      limit.addEventListener('abort', stop, { once: true });
      const text = await readText(response).finally(() => limit.removeEventListener('abort', stop));
      const status = response.statusCode ?? 0;
      if (status >= 400) throw storeFailure(status, parseJson(text), baseUrl);
      // Redirects are not followed: a token is sent only where it was meant to go.
      const data: unknown = status < 300 ? JSON.parse(text) : undefined;
      if (typeof data !== 'object' || data === null) throw notAStore(baseUrl);
      const hasMore = response.headers.link?.includes('rel="next"') === true;
      return { data: data as Data, hasMore };
    } catch (thrown) {
      throw toConnectionFailure(limit.aborted ? limit.reason : thrown, baseUrl, signal);
    }
  };
  const data = async <Data>(method: Method, path: PlantsPath, call?: OperationRequest): Promise<Data> =>
    (await ask<Data>(method, path, call)).data;

  const plant = async (method: Method, path: PlantsPath, call: OperationRequest): Promise<Plant> => {
    const answer = await data<Plant>(method, path, call);
    if (!isPlant(answer)) throw notAStore(baseUrl);
    return answer;
  };

  async function* search({
    tags,
    limit = Number.POSITIVE_INFINITY,
    ...filters
  }: PlantSearch): AsyncGenerator<readonly Plant[]> {
    let left = limit;
    let after = 0;
    while (left > 0) {
      const query = { ...filters, tags, limit: Math.min(left, pageSize), after };
      const { data: page, hasMore } = await ask<Plant[]>('GET', '/plant/search/tags', { query });
      if (!Array.isArray(page) || !page.every(isPlant)) throw notAStore(baseUrl);
      if (page.length > 0) yield page;
      left -= page.length;
      const last = page.at(-1)?.id ?? 0;
      if (!hasMore || last <= after) return;
      after = last;
    }
  }

  return {
    /** Page by page, so that a long result need not be in memory as a whole. */
    search,
    get: (plantId: number) => plant('GET', '/plant/{plantId}', { parameters: { plantId } }),
    add: (body: Given<NewPlant>) => plant('POST', '/plant', { body }),
    update: (body: Given<PlantChange>) => plant('PUT', '/plant', { body }),
    /** The plant as it was. */
    remove: (plantId: number) => plant('DELETE', '/plant/{plantId}', { parameters: { plantId } }),
    login: async (username: string, password: string): Promise<StoreToken> => {
      const session = await data<StoreToken>('POST', '/user/auth/login', { body: { username, password } });
      if (typeof session.token !== 'string') throw notAStore(baseUrl);
      return session;
    },
    logout: async (): Promise<void> => {
      await data('GET', '/user/auth/logout');
    },
    whoami: async (): Promise<User> => {
      const user = await data<User>('GET', '/user/{username}', { parameters: { username: '@me' } });
      if (typeof user.username !== 'string' || typeof user.email !== 'string') throw notAStore(baseUrl);
      return user;
    },
  };
}

/** Whether an answer has what the commands show: any program may listen at the address. */
function isPlant(value: unknown): value is Plant {
  if (typeof value !== 'object' || value === null) return false;
  const { id, name, status, tags }: Record<string, unknown> = { ...value };
  return (
    typeof id === 'number' && typeof name === 'string' && typeof status === 'string' && Array.isArray(tags)
  );
}

function urlOf(baseUrl: string, path: PlantsPath, { parameters = {}, query = {} }: OperationRequest): URL {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(parameters[name] ?? ''));
  const url = new URL(baseUrl.replace(/\/$/, '') + filled);
  for (const [name, value] of Object.entries(query)) {
    for (const each of value === undefined ? [] : [value].flat()) url.searchParams.append(name, String(each));
  }
  return url;
}

/** The store's error as one of ours, so that the command ends with its exit code. */
export function storeFailure(status: number, body: unknown, baseUrl: string): GatewayError {
  const { reason, message, param } = readBody(body);
  if (status >= 500 && reason !== 'store.database' && reason !== 'gateway.overloaded') {
    return new GatewayError(
      'store.unreachable',
      `the plant store at ${baseUrl} failed with status ${status}`,
    );
  }
  const code = reason !== undefined && isCode(reason) ? reason : codeOf(status);
  const text = message ?? `the plant store at ${baseUrl} answered with status ${status}`;
  const hint = code === 'login.required' ? ' (gateway plants login)' : '';
  return new GatewayError(code, text + hint, param === undefined ? {} : { param });
}

/** Why a request to the store failed: timed out, interrupted, or no store there at all. */
export function toConnectionFailure(thrown: unknown, baseUrl: string, signal: AbortSignal): unknown {
  if (thrown instanceof GatewayError || signal.aborted) return thrown;
  if (thrown instanceof Error && thrown.name === 'TimeoutError') {
    return new GatewayError('store.unreachable', `the plant store at ${baseUrl} did not answer in time`, {
      cause: thrown,
    });
  }
  if (thrown instanceof SyntaxError) return notAStore(baseUrl, thrown);
  const isNotStarted = isLoopbackHost(new URL(baseUrl).hostname) && isRefused(thrown);
  const why = isNotStarted
    ? 'start one with "gateway serve", or set PLANTS_URL'
    : unreachableBecause(thrown, 'PLANTS_URL');
  return new GatewayError('store.unreachable', `no plant store at ${baseUrl}: ${why}`, { cause: thrown });
}

function notAStore(baseUrl: string, cause?: unknown): GatewayError {
  return new GatewayError('store.unreachable', `what answers at ${baseUrl} is no plant store`, { cause });
}

/** Text from outside, without control sequences for the terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ');
}

function readBody(body: unknown): { reason?: string; message?: string; param?: string } {
  if (typeof body !== 'object' || body === null || !('error' in body)) return {};
  if (typeof body.error !== 'object' || body.error === null) return {};
  const { reason, message, param }: Record<string, unknown> = { ...body.error };
  return {
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof message === 'string' ? { message: printable(message).slice(0, 500) } : {}),
    ...(typeof param === 'string' ? { param: printable(param).slice(0, 100) } : {}),
  };
}

function isCode(reason: string): reason is FailureCode {
  return Object.hasOwn(failures, reason);
}

function codeOf(status: number): FailureCode {
  if (status === 401) return 'login.required';
  if (status === 404) return 'plant.unknown';
  if (status === 429) return 'limit.requests';
  return 'request.unsupported';
}
