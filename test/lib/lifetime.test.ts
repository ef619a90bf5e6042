import { expect, test } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { Lifetime } from '../../src/lib/lifetime.ts';

const left = new GatewayError('client.left', 'the client left');
const stopped = new GatewayError('gateway.draining', 'the gateway stopped');

test('tells every listener once, in order, and keeps the first reason', () => {
  const lifetime = new Lifetime();
  const heard: string[] = [];
  lifetime.onEnd(() => heard.push(`a ${lifetime.reason?.code}`));
  lifetime.onEnd(() => heard.push(`b ${lifetime.reason?.code}`));

  lifetime.end(left);
  lifetime.end(stopped);

  expect(heard).toEqual(['a client.left', 'b client.left']);
  expect(lifetime.reason).toBe(left);
});

test('a listener that was taken back hears nothing, its neighbours do', () => {
  const lifetime = new Lifetime();
  const heard: string[] = [];
  lifetime.onEnd(() => heard.push('a'));
  const forget = lifetime.onEnd(() => heard.push('b'));
  lifetime.onEnd(() => heard.push('c'));

  forget();
  forget();
  lifetime.end(left);

  expect(heard).toEqual(['a', 'c']);
});

test('a listener may take itself and others back while it is told', () => {
  const lifetime = new Lifetime();
  const heard: string[] = [];
  const forgets: (() => void)[] = [];
  forgets.push(lifetime.onEnd(() => forgets.forEach((forget) => void forget())));
  forgets.push(lifetime.onEnd(() => heard.push('b')));

  lifetime.end(left);

  expect(heard).toEqual(['b']);
});

test('who asks when it is over is told at once', () => {
  const lifetime = new Lifetime();
  lifetime.end(left);
  let count = 0;

  const forget = lifetime.onEnd(() => {
    count += 1;
  });
  forget();

  expect(count).toBe(1);
});
