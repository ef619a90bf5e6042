import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { chatEvents, dialectCases, requestFor, speakAll } from '../kit/answers.ts';
import { post, projects } from '../kit/gateway.ts';
import { startHosts } from '../kit/lifecycle.ts';
import { postText, RawConnection } from '../kit/raw.ts';
import { scale } from '../kit/scale.ts';

const { openai, gateway } = await startHosts(
  speakAll,
  ({ openai }) => `
providers:
  local: { dialect: openai, base_url: "${openai}/v1", endpoints: [chat] }
models: [{ match: local, provider: local }]
${projects}`,
);

// What the kernel's socket buffers on the way hold; the stream itself has no end.
const kernelBytes = 16 * 1024 * 1024;
const processBytes = 32 * 1024 * 1024;
const standstillMs = 500;
const readers = 3;

const word = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"${'x'.repeat(2_000)}"},"finish_reason":null}]}\n\n`;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** What this process holds on to, buffers included: its pages tell as much of the collector's mood. */
function keptBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Whether the other side took what was written within the time. */
async function isTaken(response: ServerResponse): Promise<boolean> {
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(), standstillMs);
  try {
    await Promise.race([
      once(response, 'drain', { signal: waiting.signal }),
      once(response, 'close', { signal: waiting.signal }),
    ]);
    return true;
  } catch {
    return false; // nobody takes more: that long without a drain is standstill, not slowness
  } finally {
    clearTimeout(timer);
    waiting.abort();
  }
}

test.each(dialectCases.slice(0, scale(1, dialectCases.length)))(
  'clients of $dialect that do not read hold an endless stream back, and its memory',
  async ({ dialect, path }) => {
    let written = 0;
    const stalled: Promise<void>[] = [];
    openai.script((response) => {
      const run = async () => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(chatEvents[0]);
        for (;;) {
          written += word.length;
          if (!response.write(word) && !(await isTaken(response))) return;
        }
      };
      stalled.push(run());
    });
    const before = keptBytes();
    const request = postText(gateway.key, path, requestFor(dialect, 'local', { stream: true }));

    const connections = Array.from({ length: readers }, () => new RawConnection(gateway.port));
    for (const connection of connections) {
      connection.socket.pause();
      const arrived = openai.next();
      await connection.write(...request);
      await arrived;
    }
    await Promise.all(stalled);
    const grown = keptBytes() - before;
    const ends = openai.requests.slice(-readers).map(({ ended }) => ended);
    for (const { socket } of connections) socket.destroy();

    expect(stalled).toHaveLength(readers);
    expect(written).toBeGreaterThan(1_000_000); // they were under way
    expect(written).toBeLessThan(readers * kernelBytes);
    // Host, gateway and clients are one process here.
    expect(grown).toBeLessThan(processBytes);
    expect(await Promise.all(ends)).toEqual(['gone', 'gone', 'gone']);
    openai.script(speakAll);
    expect((await post(gateway, path, requestFor(dialect, 'local'))).status).toBe(200);
  },
);
