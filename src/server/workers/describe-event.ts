/** A worker's events for the log. */
export type WorkerEvent =
  | { readonly kind: 'ended'; readonly pid: number; readonly how: string; readonly restartMs: number }
  | { readonly kind: 'started'; readonly pid: number }
  | {
      readonly kind: 'drained';
      readonly pid: number;
      readonly how: string;
      readonly unwritten: number | undefined;
      /** Whether it ended by itself, with its ledger written. */
      readonly isComplete: boolean;
    }
  | { readonly kind: 'failed'; readonly message: string; readonly restartMs: number };

interface Notice {
  readonly level: 'info' | 'error';
  readonly message: string;
}

/** A log line for a worker's event. */
export function describeEvent(event: WorkerEvent): Notice {
  switch (event.kind) {
    case 'ended': {
      const { pid, how, restartMs } = event;
      const message = `worker ${pid} ended (${how}) and its open exchanges with it; it is restarted in ${restartMs} ms`;
      return { level: 'error', message };
    }
    case 'drained': {
      const { pid, how, isComplete } = event;
      return {
        level: isComplete ? 'info' : 'error',
        message: `worker ${pid} ended (${how})${ledgerState(event)}`,
      };
    }
    case 'started':
      return { level: 'info', message: `worker ${event.pid} serves in its place` };
    case 'failed':
      return {
        level: 'error',
        message: `a worker could not start: ${event.message}; retrying in ${event.restartMs} ms`,
      };
  }
}

function ledgerState({ unwritten }: Extract<WorkerEvent, { kind: 'drained' }>): string {
  if (unwritten === undefined) return '';
  return unwritten === 0
    ? '; its ledger is flushed'
    : `; ${unwritten} changes of the ledger are not on the disk`;
}
