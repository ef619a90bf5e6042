import { type CounterService, RemoteCounters } from '../../src/limits/shared-counters.ts';

/** A worker's counters, as over a channel: what is sent arrives later, as a copy. */
export function connect(service: CounterService, worker = 1): RemoteCounters {
  const remote: RemoteCounters = new RemoteCounters((request) => {
    setImmediate(async () => {
      const reply = await service.replyTo(worker, structuredClone(request));
      if (reply !== undefined) remote.receive(structuredClone(reply));
    });
  });
  return remote;
}
