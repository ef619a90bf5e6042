import { type CounterService, RemoteCounters } from '../../src/limits/shared-counters.ts';

/** A worker's counters, as over a channel: what is sent arrives later, as a copy. */
export function connect(service: CounterService, worker = 1): RemoteCounters {
  const remote: RemoteCounters = new RemoteCounters((request) => {
    setImmediate(async () => {
      const answer = await service.answer(worker, structuredClone(request));
      if (answer !== undefined) remote.receive(structuredClone(answer));
    });
  });
  return remote;
}
