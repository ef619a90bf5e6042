interface Acknowledged {
  readonly id: number;
  readonly name: string;
}

interface Load {
  readonly acknowledged: readonly Acknowledged[];
  /** Answers by status; "cut" for none. */
  readonly statuses: Readonly<Record<string, number>>;
  /** 503 without a Retry-After. */
  readonly withoutRetryAfter: number;
  /** The longest that one answer took, in milliseconds. */
  readonly slowestMs: number;
  stop(): Promise<void>;
}

const pauseAfterFailureMs = 20;

/** Adds plants with eight writers until stopped, and remembers what was acknowledged. */
export function writePlants(url: string, token: string): Load {
  const acknowledged: Acknowledged[] = [];
  const statuses: Record<string, number> = {};
  const totals = { withoutRetryAfter: 0, slowestMs: 0 };
  let isStopped = false;
  let next = 0;
  const write = async () => {
    while (!isStopped) {
      next += 1;
      const startedMs = performance.now();
      const { status, retryAfter, text } = await addPlant(url, token, `plant ${next}`);
      totals.slowestMs = Math.max(totals.slowestMs, performance.now() - startedMs);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === '200') {
        acknowledged.push(JSON.parse(text));
        continue;
      }
      if (status === '503' && retryAfter === null) totals.withoutRetryAfter += 1;
      await new Promise((resolve) => setTimeout(resolve, pauseAfterFailureMs));
    }
  };
  const running = Promise.all(Array.from({ length: 8 }, write));
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
    },
  };
}

async function addPlant(url: string, token: string, name: string) {
  try {
    const response = await fetch(`${url}/plant`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name, tags: ['durable'] }),
    });
    const retryAfter = response.headers.get('retry-after');
    return { status: String(response.status), retryAfter, text: await response.text() };
  } catch {
    return { status: 'cut', retryAfter: null, text: '' };
  }
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

/** Asks for the gateway's health every few milliseconds until stopped. */
export function sampleHealth(gatewayUrl: string) {
  const latencies = { answers: 0, failures: 0, worstMs: 0 };
  let isStopped = false;
  const running = (async () => {
    while (!isStopped) {
      const startedMs = performance.now();
      const isHealthy = await fetch(`${gatewayUrl}/healthz`).then(
        async (response) => response.ok && (await response.text()) !== '',
        () => false,
      );
      latencies.worstMs = Math.max(latencies.worstMs, performance.now() - startedMs);
      if (isHealthy) latencies.answers += 1;
      else latencies.failures += 1;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  return {
    stop: async () => {
      isStopped = true;
      await running;
      return latencies;
    },
  };
}
