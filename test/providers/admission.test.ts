import { expect, test } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { Lifetime } from '../../src/lib/lifetime.ts';
import { Admission } from '../../src/providers/admission.ts';

const left = new GatewayError('client.left', 'the client left');

test('has so many places', () => {
  const admission = new Admission(2, 1_000);

  expect([admission.tryEnter(), admission.tryEnter(), admission.tryEnter()]).toEqual([true, true, false]);
  admission.leave();
  expect([admission.tryEnter(), admission.tryEnter()]).toEqual([true, false]);
});

test('the longest waiting request comes first, and none overtakes it', async () => {
  const admission = new Admission(1, 10_000);
  admission.tryEnter();
  const order: number[] = [];
  const waiting = [1, 2, 3].map(async (number) => {
    await admission.enter(new Lifetime());
    order.push(number);
  });

  for (const turn of waiting) {
    admission.leave();
    expect(admission.tryEnter()).toBe(false);
    await turn;
  }

  expect(order).toEqual([1, 2, 3]);
  admission.leave();
  expect([admission.tryEnter(), admission.tryEnter()]).toEqual([true, false]);
});

test('several who wait have turns, however much one of them wants', async () => {
  const admission = new Admission(1, 10_000);
  admission.tryEnter();
  const order: string[] = [];
  const waiting = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map(async (name) => {
    await admission.enter(new Lifetime(), { whose: name.charAt(0) });
    order.push(name);
  });
  const left = new Lifetime();
  const gone = admission.enter(left, { whose: 'd' });
  left.end(new GatewayError('client.left', 'the client left'));
  await expect(gone).rejects.toThrow();

  expect(admission.queued).toBe(6);
  for (let i = 0; i < 6; i += 1) {
    admission.leave();
    await Promise.resolve();
  }
  await Promise.all(waiting);

  expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  expect(admission.queued).toBe(0);
  admission.leave();
  expect([admission.tryEnter(), admission.tryEnter()]).toEqual([true, false]);
});

test('waiting ends after its time, and who gave up gets no place', async () => {
  const admission = new Admission(1, 20);
  admission.tryEnter();

  await expect(admission.enter(new Lifetime())).rejects.toMatchObject({
    code: 'gateway.overloaded',
    retryAfterS: 1,
  });

  admission.leave();
  expect([admission.tryEnter(), admission.tryEnter()]).toEqual([true, false]);
});

test('waiting ends with the lifetime, and the place goes to the next in line', async () => {
  const admission = new Admission(1, 10_000);
  admission.tryEnter();
  const lifetime = new Lifetime();
  const first = admission.enter(lifetime);
  const second = admission.enter(new Lifetime());

  lifetime.end(left);
  await expect(first).rejects.toBe(left);
  admission.leave();
  await second;

  expect(admission.tryEnter()).toBe(false);
});

test('who comes with an ended lifetime does not wait', async () => {
  const admission = new Admission(1, 10_000);
  admission.tryEnter();
  const lifetime = new Lifetime();
  lifetime.end(left);

  await expect(admission.enter(lifetime)).rejects.toBe(left);

  admission.leave();
  expect([admission.tryEnter(), admission.tryEnter()]).toEqual([true, false]);
});
