import { Agent, request as openRequest } from 'node:http';

export interface Acknowledged {
  readonly id: number;
  readonly name: string;
}

export interface Load {
  readonly acknowledged: readonly Acknowledged[];
  /** Answers by status; "cut" for none. */
  readonly statuses: Readonly<Record<string, number>>;
  /** 503 without a Retry-After. */
  readonly withoutRetryAfter: number;
  /** The longest that one answer took, in milliseconds. */
  readonly slowestMs: number;
  stop(): Promise<void>;
}

interface Answer {
  readonly status: string;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

const pauseAfterFailureMs = 20;

/** Adds plants with several writers until stopped, and remembers what was acknowledged. */
export function writePlants(url: string, token: string, writers = 8): Load {
  const agent = new Agent({ keepAlive: true });
  const acknowledged: Acknowledged[] = [];
  const statuses: Record<string, number> = {};
  const totals = { withoutRetryAfter: 0, slowestMs: 0 };
  let isStopped = false;
  let next = 0;
  const write = async () => {
    while (!isStopped) {
      next += 1;
      const startedMs = performance.now();
      const { status, retryAfter, text } = await post(
        `${url}/plant`,
        { name: `plant ${next}` },
        token,
        agent,
      );
      totals.slowestMs = Math.max(totals.slowestMs, performance.now() - startedMs);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === '200') {
        acknowledged.push(JSON.parse(text));
        continue;
      }
      if (status === '503' && retryAfter === undefined) totals.withoutRetryAfter += 1;
      await new Promise((resolve) => setTimeout(resolve, pauseAfterFailureMs));
    }
  };
  const running = Promise.all(Array.from({ length: writers }, write));
  return {
    acknowledged,
    statuses,
    get withoutRetryAfter() {
      return totals.withoutRetryAfter;
    },
    get slowestMs() {
      return Math.round(totals.slowestMs);
    },
    stop: async () => {
      isStopped = true;
      await running;
      agent.destroy();
    },
  };
}

function post(url: string, body: object, token: string, agent: Agent): Promise<Answer> {
  const text = JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  };
  const cut: Answer = { status: 'cut', retryAfter: undefined, text: '' };
  return new Promise((resolve) => {
    const request = openRequest(url, { method: 'POST', headers, agent }, (response) => {
      let answer = '';
      response.on('data', (chunk) => {
        answer += chunk;
      });
      response.on('error', () => resolve(cut));
      response.on('end', () =>
        resolve({
          status: String(response.statusCode),
          retryAfter: response.headers['retry-after'],
          text: answer,
        }),
      );
    });
    request.on('error', () => resolve(cut));
    request.end(text);
  });
}

/** Every plant of a store, by id. */
export async function readPlants(url: string): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>();
  for (let after = 0; ; ) {
    const response = await fetch(`${url}/plant/search/tags?limit=1000&after=${after}`);
    const page = (await response.json()) as Acknowledged[];
    for (const { id, name } of page) names.set(id, name);
    const last = page.at(-1);
    if (last === undefined) return names;
    after = last.id;
  }
}

export interface Latencies {
  readonly answers: number;
  readonly failures: number;
  readonly medianMs: number;
  readonly worstMs: number;
}

/** Asks for the gateway's health every few milliseconds until stopped. */
export function sampleHealth(gatewayUrl: string, everyMs = 10): { stop(): Promise<Latencies> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  let failures = 0;
  let isStopped = false;
  const running = (async () => {
    while (!isStopped) {
      const startedMs = performance.now();
      if ((await healthOf(gatewayUrl, agent)) === 200) times.push(performance.now() - startedMs);
      else failures += 1;
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  })();
  return {
    stop: async () => {
      isStopped = true;
      await running;
      agent.destroy();
      const sorted = times.sort((a, b) => a - b);
      const round = (ms = Number.NaN) => Math.round(ms * 10) / 10;
      return {
        answers: sorted.length,
        failures,
        medianMs: round(sorted[Math.floor(sorted.length / 2)]),
        worstMs: round(sorted.at(-1)),
      };
    },
  };
}

function healthOf(gatewayUrl: string, agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    const request = openRequest(`${gatewayUrl}/healthz`, { agent }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', () => resolve(0));
    });
    request.on('error', () => resolve(0));
    request.end();
  });
}
