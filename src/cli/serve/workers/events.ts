import type { WorkerNews } from './worker.ts';

/** The sentence about it, and how bad it is. */
export function describeNews(news: WorkerNews): {
  readonly level: 'info' | 'error';
  readonly message: string;
} {
  switch (news.kind) {
    case 'ended': {
      const { pid, how, restartMs } = news;
      const message = `worker ${pid} ended (${how}) and its open exchanges with it; the next one starts in ${restartMs} ms`;
      return { level: 'error', message };
    }
    case 'started':
      return { level: 'info', message: `worker ${news.pid} serves in its place` };
    case 'failed':
      return {
        level: 'error',
        message: `a worker could not start: ${news.message}; the next one starts in ${news.restartMs} ms`,
      };
  }
}
