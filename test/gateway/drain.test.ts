import { expect, test } from 'vitest';
import { chatEvents, openStream, requestFor } from '../kit/answers.ts';
import { twoHosts } from '../kit/config.ts';
import { startGateway, type TestGateway } from '../kit/gateway.ts';
import { type Script, type ScriptedHost, startHost } from '../kit/host.ts';
import { head, postText, RawConnection } from '../kit/raw.ts';

async function start(script: Script, drain: string): Promise<{ host: ScriptedHost; gateway: TestGateway }> {
  const host = await startHost(script);
  const server = `  port: 0\n  limits: { drain: ${drain} }`;
  const gateway = await startGateway(twoHosts({ anthropic: host.url, openai: host.url, server }));
  return { host, gateway };
}

async function ask(gateway: TestGateway, path: string, request: object): Promise<RawConnection> {
  const connection = new RawConnection(gateway.port);
  await connection.write(...postText(gateway.key, path, request));
  return connection;
}

test('while draining, an open connection gets "not ready" and no new work; no new connection is accepted', async () => {
  let finish: () => void = () => undefined;
  const { gateway } = await start((response, request) => {
    openStream(chatEvents.slice(0, 2))(response, request);
    finish = () => response.end(chatEvents.slice(2).join(''));
  }, '20s');
  const connection = await ask(
    gateway,
    '/v1/chat/completions',
    requestFor('chat', 'gpt-test', { stream: true }),
  );
  await new Promise((resolve) => connection.socket.once('data', resolve));

  const stopped = gateway.stop();
  await connection.write(
    head('GET /readyz HTTP/1.1', 'Host: localhost'),
    ...postText(gateway.key, '/v1/chat/completions', requestFor('chat', 'gpt-test')),
  );
  const refused = await fetch(gateway.url).then(
    () => 'answered',
    () => 'refused',
  );
  finish();
  const [stream, ready, ...others] = await connection.answersUntilClose();
  await stopped;

  expect(refused).toBe('refused');
  expect(stream?.isWhole).toBe(true);
  expect(stream?.body.toString()).toBe(chatEvents.join(''));
  expect(ready?.status).toBe(503);
  expect(JSON.parse(String(ready?.body)).error.reason).toBe('gateway.draining');
  expect(ready?.headers.get('connection')).toEqual(['close']);
  expect(Number(ready?.headers.get('retry-after')?.[0])).toBeGreaterThan(0);
  expect(others).toEqual([]);
});

test('a request whose answer has not begun gets 503 when the time is over, and is recorded before the stop', async () => {
  const { host, gateway } = await start(() => undefined, '200ms');
  const arrived = host.next();
  const waiting = await ask(gateway, '/v1/chat/completions', requestFor('chat', 'gpt-test'));
  const received = await arrived;

  const stopped = gateway.stop();
  const answer = await waiting.answer();
  await stopped;

  expect(answer.status).toBe(503);
  expect(answer.isWhole).toBe(true);
  expect(await received.ended).toBe('gone');
  expect(gateway.records).toHaveLength(1);
});
