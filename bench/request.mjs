// Single requests of the benchmark's own: to see that a program answers, and that it answers rightly.
import http from 'node:http';
import { hasEnded } from './processes.mjs';

export const path = '/v1/chat/completions';

/** One request on a connection of its own. Resolves with status, headers and the whole body as text. */
export function ask({ port, headers, body }) {
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        port,
        host: '127.0.0.1',
        path,
        method: 'POST',
        agent: false,
        timeout: 10_000,
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
        response.on('error', reject);
      },
    );
    request.on('error', reject).on('timeout', () => request.destroy(new Error('no answer within 10 s')));
    request.end(body);
  });
}

const startLimitMs = 60_000;
const pollMs = 2;

/** Asks until the first 200. Throws with the program's own words where none comes. */
export async function untilAnswered(target, child) {
  const startedAt = performance.now();
  let last = 'nothing';
  while (performance.now() - startedAt < startLimitMs && !hasEnded(child)) {
    try {
      const { status, text } = await ask(target);
      if (status === 200) return;
      last = `${status} ${text.slice(0, 300)}`;
    } catch (error) {
      last = error.message;
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  throw new Error(`${child.spawnargs.join(' ')} did not answer with 200 but ${last} ${child.words}`);
}
