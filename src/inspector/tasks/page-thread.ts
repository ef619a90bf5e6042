import { parentPort } from 'node:worker_threads';
import { toGatewayError } from '../../errors.ts';
import type { SessionOfKey, SessionsQuery } from './agent-sessions.ts';
import type { DecisionTask } from './decision-task.ts';
import type { HistoryQuery } from './read-history.ts';

export type PageTask =
  | { readonly kind: 'explain' | 'try'; readonly task: DecisionTask }
  | { readonly kind: 'history'; readonly query: HistoryQuery }
  | { readonly kind: 'sessions'; readonly query: SessionsQuery }
  | { readonly kind: 'session'; readonly query: SessionOfKey };

/** Loads what the task needs only: a thread is started for each, and rules take ten times as long to load as the ledger. */
async function load(task: PageTask): Promise<() => unknown> {
  switch (task.kind) {
    case 'explain': {
      const [{ rebuildConfig }, { explainDetails }] = await Promise.all([
        import('../../config/config.ts'),
        import('./decision-task.ts'),
      ]);
      return () => explainDetails(rebuildConfig(task.task.source), task.task);
    }
    case 'try': {
      const { tryTask } = await import('./decision-task.ts');
      return () => tryTask(task.task);
    }
    case 'history': {
      const { readHistory } = await import('./read-history.ts');
      return () => readHistory(task.query);
    }
    case 'sessions': {
      const { listSessions } = await import('./agent-sessions.ts');
      return () => listSessions(task.query);
    }
    case 'session': {
      const { showSession } = await import('./agent-sessions.ts');
      return () => showSession(task.query);
    }
  }
}

/** The time that a task may take begins once it is loaded. */
async function run(task: PageTask): Promise<unknown> {
  const work = await load(task);
  parentPort?.postMessage({ isBegun: true });
  return work();
}

// The entry of a thread that runs one task for the live page: rules and request may be hostile, and a task that takes too
// long is terminated with the thread.
parentPort?.once('message', (task: PageTask) => {
  run(task).then(
    (value) => parentPort?.postMessage({ value }),
    (thrown) => {
      const { code, message } = toGatewayError(thrown);
      parentPort?.postMessage({ code, message });
    },
  );
});
