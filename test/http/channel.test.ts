import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Channel } from '../../src/http/channel.ts';
import { Turn } from '../../src/http/tick.ts';
import { hear, holdClock, pair, pass, turnsEnd } from './turning.ts';

/** One that notes what it is given. `onBytes` is told before. */
function open(socket: Socket, turn = new Turn(), onBytes: (bytes: string) => void = () => undefined) {
  const given: string[] = [];
  const channel: Channel = new Channel(socket, turn, {
    arrived: (bytes) => {
      onBytes(bytes.toString('latin1'));
      given.push(bytes.toString('latin1'));
    },
    peerEnded: () => given.push('end'),
    closed: () => given.push('closed'),
  });
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await turnsEnd();
  };
  return { channel, given, until };
}

/** Lets the far side write each text when the one before is here, and nobody read before all are. */
async function arriveTogether(near: Socket, far: Socket, texts: readonly string[]): Promise<void> {
  near.pause();
  for (const text of texts) {
    const before = near.bytesRead;
    far.write(text, 'latin1');
    while (near.bytesRead < before + text.length) await turnsEnd();
  }
}

describe('bytes', () => {
  test('of one who is alone are given as they are read', async () => {
    const { near, far } = await pair();
    const { channel, given } = open(near);
    const seen = new Promise((resolve) => near.once('data', () => resolve([channel.hasArrived, [...given]])));

    far.write('a');

    expect(await seen).toEqual([false, ['a']]);
  });

  test('of one who comes with others are given at the end of the turn', async () => {
    holdClock();
    const { near, far } = await pair();
    const { channel, given, until } = open(near);
    const seen = new Promise((resolve) => near.once('data', () => resolve([channel.hasArrived, [...given]])));

    far.write('a');

    expect(await seen).toEqual([true, []]);
    await until(() => given.length > 0);
    expect([channel.hasArrived, given]).toEqual([false, ['a']]);
  });

  test('that come in several pieces in one turn stay in their order, once each, the long ones too', async () => {
    holdClock();
    const long = 'l'.repeat(20_000);
    const { near, far } = await pair();
    const { given, until } = open(near);
    await arriveTogether(near, far, ['a', 'b', long]);
    near.resume();
    await until(() => given.includes(long));

    far.write('c');

    await until(() => given.includes('c'));
    expect(given).toEqual(['a', 'b', long, 'c']);
  });

  test('are given before the end of the other side', async () => {
    holdClock();
    const { near, far } = await pair();
    const { given, until } = open(near);
    await arriveTogether(near, far, ['a', 'b']);
    far.end();
    near.resume();

    await until(() => given.includes('closed'));

    expect(given).toEqual(['a', 'b', 'end', 'closed']);
  });

  test('are given before the socket is called closed, however that came', async () => {
    holdClock();
    const { near, far } = await pair();
    const { given, until } = open(near);
    near.once('data', () => near.destroy());
    far.write('a');

    await until(() => given.includes('closed'));

    expect(given).toEqual(['a', 'closed']);
  });

  test('are left to the next reader where the channel is given up, those behind them too', async () => {
    holdClock();
    const { near, far } = await pair();
    const { channel, given } = open(near, new Turn(), () => channel.giveUp());
    await arriveTogether(near, far, ['a', 'b', 'c']);
    near.resume();
    while (given.length === 0) await turnsEnd();
    far.write('d');
    while (near.bytesRead < 4) await turnsEnd();

    const heard = hear(near);
    await heard.until('bcd');

    expect([given, heard.pieces.join('')]).toEqual([['a'], 'bcd']);
  });
});

describe('what is written', () => {
  test.each([1, 16 * 1024])('as a head and a body of %i bytes leaves in one write', async (bytes) => {
    const { near, far } = await pair();
    const heard = hear(far);
    const body = Buffer.alloc(bytes, '\xff', 'latin1');

    await new Promise<void>((resolve) => {
      open(near).channel.writeBoth('head ', body, () => resolve());
    });

    const whole = `head ${body.toString('latin1')}`;
    await heard.until(whole);
    expect(heard.pieces).toEqual([whole]);
  });

  test('in pieces, short and long, stays in its order while some of it is held', async () => {
    holdClock();
    const turn = new Turn();
    const { near, far } = await pair();
    const { near: other, far: another } = await pair();
    const heard = hear(far);
    const long = Buffer.alloc(100_000, 'l');
    const done: string[] = [];
    const { channel } = open(near, turn, () => {
      channel.write('a');
      channel.writeBoth('b', long, () => done.push('both'));
      channel.write(long, () => done.push('long'));
      channel.write('c', () => done.push('c'));
    });
    open(other, turn);
    await arriveTogether(near, far, ['x']);
    await arriveTogether(other, another, ['y']);
    near.resume();
    other.resume();

    const all = `ab${long}${long}c`;
    await heard.until(all);

    expect(heard.pieces.join('') === all).toBe(true);
    expect(done).toEqual(['both', 'long', 'c']);
  });

  test('as a long body takes along what others have had to hold for more than a millisecond', async () => {
    holdClock();
    const turn = new Turn();
    const { near, far } = await pair();
    const { near: other, far: another } = await pair();
    const held: number[] = [];
    const { channel } = open(near, turn, () => {
      turn.write(other, 'a');
      pass(2);
      held.push(other.writableLength);
      channel.writeBoth('head ', Buffer.alloc(100_000));
      held.push(other.writableLength);
    });
    const { given, until } = open(other, turn);
    await arriveTogether(near, far, ['x']);
    await arriveTogether(other, another, ['y']);
    near.resume();
    other.resume();

    await until(() => given.length > 0);

    expect(held).toEqual([1, 0]);
  });
});
