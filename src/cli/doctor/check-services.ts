import { performance } from 'node:perf_hooks';
import type { Config } from '../../config/config.ts';
import { askService } from '../../gateway/checks/ask-service.ts';
import { Lifetime } from '../../lib/lifetime.ts';
import type { CheckService } from '../../policy/checks/check-book.ts';
import { about, type Diagnosis } from './finding.ts';

/** Asks each service that rules or routes ask about texts, about a harmless one and as the gateway would. */
export async function checkServices(
  { askedServices: services }: Config,
  timeoutMs: number,
): Promise<readonly Diagnosis[]> {
  // Of services that differ only in what is remembered, or how long they may take, the one with the shortest time.
  const longestFirst = services.toSorted((one, other) => other.timeoutMs - one.timeoutMs);
  const distinct = new Map(longestFirst.map((each) => [`${each.url} ${each.api} ${each.language}`, each]));
  return Promise.all([...distinct.values()].map((service) => checkService(service, timeoutMs)));
}

async function checkService(service: CheckService, timeoutMs: number): Promise<Diagnosis> {
  const { origin, pathname } = new URL(service.url);
  const { ok, error } = about(`check ${origin}${pathname === '/' ? '' : pathname}`);
  const startedMs = performance.now();
  const asked = { ...service, timeoutMs: Math.min(service.timeoutMs, timeoutMs) };
  const texts = [{ id: '', text: 'hello', at: '/messages/0/content' }];
  const [[, result] = ['', []]] = await askService({ service: asked, texts }, new Lifetime());
  if ('failure' in result)
    return error(
      result.failure,
      'start it, or check url, api and timeout of the check: docs/checks.md has what it is asked and answers',
    );
  return ok(`answers in ${Math.round(performance.now() - startedMs)} ms`);
}
