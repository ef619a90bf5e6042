import { randomBytes } from 'node:crypto';
import { servesInspector } from '../config/build/sections.ts';
import type { Config } from '../config/config.ts';
import type { Follow } from '../gateway/exchange.ts';
import type { Subscriber } from '../gateway/subscriber.ts';
import { hostsAt } from '../http/check-origin.ts';
import type { HttpRequest } from '../http/request.ts';
import type { OwnerProof } from '../lib/owner-proof.ts';
import type { ExchangeRecord } from '../record/record.ts';
import { PageSessions } from './access/sessions.ts';
import { type BackendOptions, createBackend } from './backend.ts';
import type { NowResponse } from './contract/events.ts';
import { EventStreams } from './events/event-stream.ts';
import { createPageRouter } from './http/router.ts';
import { routesOf } from './http/routes.ts';
import { servePage } from './http/serve-page.ts';
import { Minutes } from './now/minutes.ts';
import { isProbe, Ring } from './ring/ring.ts';

interface InspectorOptions extends Omit<BackendOptions, 'config' | 'noLedger'> {
  /** That of the start; `follow` gets the later ones. */
  readonly config: Config;
  /** Why no ledger is kept. */
  readonly noLedger: (config: Config) => string;
  /** Where the gateway listens. */
  readonly host: string;
  readonly ownerProof: OwnerProof | undefined;
  readonly log: (level: 'info' | 'error', message: string) => void;
}

/** The live page: shows the gateway's owner the last exchanges, and why they ended as they did. */
export function createInspector(options: InspectorOptions) {
  const { host, log, noLedger, ownerProof, url } = options;
  let current = options.config;
  const config = () => current;
  const backend = createBackend({ ...options, config, noLedger: () => noLedger(current) });
  const isEnabled = () => servesInspector(current.inspector, host);
  const ring = new Ring(undefined, () => current.records.bodies);
  const minutes = new Minutes();
  const boot = randomBytes(4).toString('hex');
  const now = async (): Promise<NowResponse> => ({
    minutes: minutes.list(),
    open: backend.open(),
    budgets: await backend.budgets(),
    breakers: backend.breakers(),
    ...ring.keeping,
  });
  const events = new EventStreams({ ring, boot, scrub: backend.scrub, now });
  const sessions = new PageSessions(() => Number(new URL(url()).port));
  const routes = routesOf({ config, backend, ownerProof, sessions, ring, events, now });
  const counted: Subscriber = {
    ended: ({ record }) => {
      if (!isProbe(record)) minutes.add(record);
    },
  };
  const followers: readonly Follow[] = [(exchange) => ring.follow(exchange), () => counted];
  return {
    passes: backend.passes,
    followers,
    handle: servePage({
      route: createPageRouter(routes),
      sessions,
      hosts: () => hostsAt(host, current.server.allowedHosts),
      isEnabled,
      onFailure: ({ cause, message }) => log('error', `the live page failed: ${String(cause ?? message)}`),
    }),
    /** Whether it answers the request, which is then no exchange. */
    takes: (request: HttpRequest) => request.target.startsWith('/_/') || (isVisit(request) && isEnabled()),
    /** Shows what was recorded before this start: newest first. */
    recall: (records: Iterable<ExchangeRecord>) => {
      const known = new Set(ring.entries().map(({ id }) => id));
      for (const record of records) {
        // The second record about a refusal only says how often it came again.
        if (known.has(record.request_id) || record.repeats !== undefined || isProbe(record)) continue;
        known.add(record.request_id);
        minutes.recall(record);
        ring.recall(record);
      }
    },
    /** To be called when another configuration is in force. */
    follow: (next: Config) => {
      current = next;
      if (!isEnabled()) events.close();
    },
    /** Ends the event streams, so that the gateway can drain. */
    close: () => events.close(),
  };
}

/** A browser at the gateway's own address, which gets a link to the page; programs get JSON there. */
function isVisit(request: HttpRequest): boolean {
  const { method, target } = request;
  return method === 'GET' && target === '/' && /(?:^|,)\s*text\/html/i.test(request.header('accept') ?? '');
}
