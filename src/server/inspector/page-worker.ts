import { parentPort } from 'node:worker_threads';
import { toGatewayError } from '../../errors.ts';
import { type DecisionTask, explainTask, tryTask } from './decision-task.ts';
import { type HistoryQuery, readHistory } from './history.ts';

export type PageTask =
  | { readonly kind: 'explain' | 'try'; readonly task: DecisionTask }
  | { readonly kind: 'history'; readonly query: HistoryQuery };

async function run(task: PageTask): Promise<unknown> {
  switch (task.kind) {
    case 'explain':
      return explainTask(task.task);
    case 'try':
      return tryTask(task.task);
    case 'history':
      return readHistory(task.query);
  }
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
