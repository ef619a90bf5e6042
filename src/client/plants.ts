import createClient from 'openapi-fetch';
import type { components, paths } from './plants-api.generated.ts';
import { notAStore, toConnectionFailure, toFailure } from './plants-failure.ts';

export type Plant = components['schemas']['Plant'];
export type NewPlant = components['schemas']['NewPlant'];
export type PlantChange = components['schemas']['PlantChange'];
export type Session = components['schemas']['Session'];
export type User = components['schemas']['User'];

export interface PlantsConnection {
  readonly baseUrl: string;
  readonly token?: string;
  /** For one request. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface PlantSearch {
  readonly tags?: readonly string[];
  readonly match?: 'any' | 'all';
  readonly status?: Plant['status'];
  /** Part of the name. */
  readonly name?: string;
  readonly category?: string;
  /** Maximum number of plants in all; absent: no limit. */
  readonly limit?: number;
}

export interface PlantsClient {
  /** Page by page, so that a long result need not be in memory as a whole. */
  search(search: PlantSearch): AsyncGenerator<readonly Plant[]>;
  get(id: number): Promise<Plant>;
  add(plant: NewPlant): Promise<Plant>;
  update(change: PlantChange): Promise<Plant>;
  /** The plant as it was. */
  remove(id: number): Promise<Plant>;
  login(username: string, password: string): Promise<Session>;
  logout(): Promise<void>;
  whoami(): Promise<User>;
}

const pageSize = 1_000;

/** The commands' client of a plant store; types and addresses come from its OpenAPI document. */
export function createPlantsClient({ baseUrl, token, timeoutMs, signal }: PlantsConnection): PlantsClient {
  const api = createClient<paths>({
    baseUrl,
    // No redirects: a token is sent only where it was meant to go.
    redirect: 'error',
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
  });

  const send = async <Data>(
    call: (options: { signal: AbortSignal }) => Promise<{ data?: Data; error?: unknown; response: Response }>,
  ): Promise<{ data: Data; response: Response }> => {
    try {
      signal.throwIfAborted();
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const { data, error, response } = await call({ signal: limit });
      if (!response.ok) throw toFailure(response.status, error, baseUrl);
      if (typeof data !== 'object' || data === null) throw notAStore(baseUrl);
      return { data, response };
    } catch (thrown) {
      throw toConnectionFailure(thrown, baseUrl, signal);
    }
  };
  const data = async <Data>(call: Parameters<typeof send<Data>>[0]): Promise<Data> => (await send(call)).data;

  async function* search({ tags, limit = Number.POSITIVE_INFINITY, ...filters }: PlantSearch) {
    let left = limit;
    let after = 0;
    while (left > 0) {
      const query = {
        ...filters,
        ...(tags === undefined ? {} : { tags: [...tags] }),
        limit: Math.min(left, pageSize),
        after,
      };
      const { data: page, response } = await send((options) =>
        api.GET('/plant/search/tags', { ...options, params: { query } }),
      );
      if (!Array.isArray(page)) throw notAStore(baseUrl);
      if (page.length > 0) yield page;
      left -= page.length;
      const last = page.at(-1)?.id ?? 0;
      const hasMore = response.headers.get('link')?.includes('rel="next"') === true;
      if (!hasMore || last <= after) return;
      after = last;
    }
  }

  return {
    search,
    get: (plantId) =>
      data((options) => api.GET('/plant/{plantId}', { ...options, params: { path: { plantId } } })),
    add: (body) => data((options) => api.POST('/plant', { ...options, body })),
    update: (body) => data((options) => api.PUT('/plant', { ...options, body })),
    remove: (plantId) =>
      data((options) => api.DELETE('/plant/{plantId}', { ...options, params: { path: { plantId } } })),
    login: async (username, password) => {
      const session = await data((options) =>
        api.POST('/user/auth/login', { ...options, body: { username, password } }),
      );
      if (typeof session.token !== 'string') throw notAStore(baseUrl);
      return session;
    },
    logout: async () => {
      await data((options) => api.GET('/user/auth/logout', options));
    },
    whoami: () =>
      data((options) => api.GET('/user/{username}', { ...options, params: { path: { username: '@me' } } })),
  };
}
