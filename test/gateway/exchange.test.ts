import { expect, test, vi } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { Exchange } from '../../src/gateway/exchange.ts';
import { Scrubber } from '../../src/gateway/scrub.ts';
import { get, serve } from '../http/serving.ts';

/** An exchange whose answer the test writes, and what is called of its spending. */
async function begin() {
  const { open, next } = await serve();
  open().send(get('/'));
  const { request, response } = await next();
  const exchange = new Exchange(request, response, { scrubber: new Scrubber([]) });
  const calls: string[] = [];
  vi.spyOn(exchange.spending, 'settle').mockImplementation(() => void calls.push('settle'));
  vi.spyOn(exchange.spending, 'commit').mockImplementation(() => void calls.push('write'));
  return { exchange, calls };
}

test('what was used is settled once; whoever sends the answer has it written', async () => {
  const { exchange, calls } = await begin();
  exchange.settle();
  exchange.end('');

  expect(calls).toEqual(['settle']);
});

test('what was used without an answer is settled and written at its end', async () => {
  const { exchange, calls } = await begin();
  exchange.end('');

  expect(calls).toEqual(['settle', 'write']);
});

test('at the end of the process what was settled is written, though its answer has not left yet', async () => {
  const { exchange, calls } = await begin();
  exchange.settle();
  exchange.abandon(new GatewayError('gateway.draining', 'the gateway stopped'));

  expect(calls).toEqual(['settle', 'write']);
});
