import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { textTurn } from '../../src/client/conversation.ts';
import { getJson, sendPrompt } from '../../src/client/gateway.ts';
import { type Script, startHost } from '../kit/host.ts';

const addressOf = async (script: Script) => ({ url: (await startHost(script)).url, key: 'gw_key' });

const answering =
  (status: number, requestId = 'req_1'): Script =>
  (response) =>
    response.writeHead(status, { 'x-request-id': requestId }).end('{"ok":true}');

test.each([
  ['was answered', answering(200), '{"ok":true}'],
  ['was refused', answering(500), 'provider.broken_response'],
  ['was answered by no gateway', answering(200, 'other'), 'gateway.unreachable'],
  ['broke off', ((response) => response.destroy()) satisfies Script, 'gateway.unreachable'],
])('a call that %s leaves nothing at the signal of its command', async (_how, listener, expected) => {
  const { signal } = new AbortController();

  const outcome = await getJson(await addressOf(listener), '/', signal).then(
    JSON.stringify,
    ({ code }) => code,
  );

  expect(outcome).toBe(expected);
  await expect.poll(() => getEventListeners(signal, 'abort').length).toBe(0);
});

test('a call that is given up in the middle of its answer ends with the reason', async () => {
  const interrupt = new AbortController();
  const address = await addressOf((response) => {
    response.writeHead(200, { 'x-request-id': 'req_1' }).write('{');
    setImmediate(() => interrupt.abort(new Error('enough')));
  });

  await expect(getJson(address, '/', interrupt.signal)).rejects.toThrow('enough');
});

test('a bare error in a stream, over several lines as Google writes it, is the failure', async () => {
  const failure = { error: { code: 503, message: 'take a break', status: 'UNAVAILABLE' } };
  const error = JSON.stringify(failure, null, 2);
  const piece = JSON.stringify({ candidates: [{ content: { parts: [{ text: 'Hel' }] } }] });
  const address = await addressOf((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' });
    response.write(`data: ${piece}\r\n\r\n${error.slice(0, 20)}`);
    response.write(error.slice(20), () => response.destroy());
  });
  const prompt = { model: 'm', turns: [textTurn('user', 'hello')], stream: true, dialect: 'gemini' as const };
  let heard = '';

  const asked = sendPrompt(address, { ...prompt, signal: new AbortController().signal }, (text) => {
    heard += text;
  });

  await expect(asked).rejects.toMatchObject({ code: 'provider.broken_response', message: 'take a break' });
  expect(heard).toBe('Hel');
});
