import { createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openRedisChannel } from '../../src/limits/redis/redis-channel.ts';
import { listening } from '../kit/listening.ts';

test('a channel that is closed while it subscribes again leaves no failure that nobody handles', async () => {
  const unhandled: unknown[] = [];
  const note = (cause: unknown) => unhandled.push(cause);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  let subscriptions = 0;
  let subscribed: Socket | undefined;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      for (const [, command] of data.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        if (command === 'info') socket.write('$7\r\nredis:1\r\n');
        else if (command === 'scan') socket.write('*2\r\n$1\r\n0\r\n*0\r\n');
        else if (command !== 'subscribe') socket.write('+OK\r\n');
        else {
          subscriptions += 1;
          subscribed = socket;
          if (subscriptions === 1) socket.write('*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n');
        }
      }
    });
  });
  const { port } = await listening(server);
  const channel = await openRedisChannel(`redis://127.0.0.1:${port}`, 'news', () => undefined);
  subscribed?.destroy();
  await expect.poll(() => subscriptions).toBe(2);

  channel.close();
  await new Promise((resolve) => setTimeout(resolve, 50)); // the failure would come when the connection is gone

  expect(unhandled).toEqual([]);
});
