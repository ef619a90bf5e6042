import { describe, expect, test } from 'vitest';
import { Turn } from '../../src/http/tick.ts';
import { hear, holdClock, pair, pass, turnsEnd } from './turning.ts';

/** Those who come in a turn: each does what is given when it is told to take what has arrived. */
function comeTogether(turn: Turn, ...each: readonly (() => unknown)[]): void {
  holdClock();
  for (const takeArrived of each) turn.arrived({ takeArrived: () => void takeArrived() }, 1);
}

describe('who comes', () => {
  test('alone is served at once', () => {
    holdClock();
    const turn = new Turn();
    const served: string[] = [];

    for (const name of ['a', 'b']) {
      pass(1);
      turn.arrived({ takeArrived: () => served.push(name) }, 1);
    }

    expect(served).toEqual(['a', 'b']);
  });

  test('with others is served when all are here, in their order', async () => {
    const turn = new Turn();
    const served: string[] = [];
    comeTogether(turn, ...['a', 'b', 'a', 'c'].map((name) => () => served.push(name)));
    const atOnce = [...served];

    await turnsEnd();

    expect([atOnce, served]).toEqual([[], ['a', 'b', 'a', 'c']]);
  });

  test('with much is served at once', () => {
    holdClock();
    const turn = new Turn();
    const served: string[] = [];
    turn.arrived({ takeArrived: () => served.push('little') }, 16 * 1024);
    turn.arrived({ takeArrived: () => served.push('much') }, 16 * 1024 + 1);

    expect(served).toEqual(['much']);
  });

  test('behind work of more than a millisecond is served when the loop has read again', async () => {
    const turn = new Turn();
    const seen: string[] = [];
    comeTogether(
      turn,
      () => {
        pass(2);
        seen.push('long');
      },
      () => seen.push('second'),
      () => seen.push('third'),
    );
    await turnsEnd();
    seen.push('the loop');
    comeTogether(turn, () => seen.push('late'));

    await turnsEnd();

    expect(seen).toEqual(['long', 'the loop', 'second', 'third', 'late']);
  });
});

describe('what is written', () => {
  test('for one who is alone leaves at once', async () => {
    const turn = new Turn();
    const { near, far } = await pair();
    const heard = hear(far);
    comeTogether(turn, () => turn.write(near, 'a'));

    await turnsEnd();

    expect([near.writableLength, near.writableCorked]).toEqual([0, 0]);
    await heard.until('a');
  });

  test('for several of one turn leaves together, in its order', async () => {
    const turn = new Turn();
    const { near, far } = await pair();
    const heard = hear(far);
    const done: string[] = [];
    comeTogether(
      turn,
      () => turn.write(near, 'a', () => done.push('a')),
      () => turn.write(near, Buffer.from('b')),
      () => turn.write(near, '\xe9', () => done.push('c')),
    );

    await heard.until('ab\xe9');

    expect([heard.pieces, done]).toEqual([['ab\xe9'], ['a', 'c']]);
  });

  test('has left before the loop reads again, also for those who were served a turn later', async () => {
    const turn = new Turn();
    const { near } = await pair();
    comeTogether(
      turn,
      () => pass(2),
      () => turn.write(near, 'a'),
      () => turn.write(near, 'b'),
    );
    await turnsEnd();
    const inFirstTurn = near.bytesWritten;

    await turnsEnd();

    expect([inFirstTurn, near.bytesWritten, near.writableLength]).toEqual([0, 2, 0]);
  });

  test('while the loop reads is never held', async () => {
    const turn = new Turn();
    const { near } = await pair();
    comeTogether(turn, ...[1, 2].map(() => () => undefined));
    await turnsEnd();
    comeTogether(turn, ...[1, 2].map(() => () => undefined));

    turn.write(near, 'a');

    expect([near.writableLength, near.writableCorked]).toEqual([0, 0]);
  });

  test('leaves before those who came with it are served where that takes more than a millisecond', async () => {
    const turn = new Turn();
    const { near } = await pair();
    const { near: other } = await pair();
    const held: number[] = [];
    comeTogether(
      turn,
      () => undefined,
      () => {
        turn.write(near, 'a');
        pass(2);
        held.push(near.writableLength);
        turn.write(other, 'b');
        held.push(near.writableLength, other.writableLength);
      },
    );

    await turnsEnd();

    expect(held).toEqual([1, 0, 0]);
  });

  test('asks for a pause where it is much, and tells when it has left', async () => {
    const turn = new Turn();
    const { near, far } = await pair();
    far.resume();
    const half = Buffer.alloc(near.writableHighWaterMark / 2);
    const mayGoOn: boolean[] = [];
    const drained = new Promise<void>((resolve) => near.once('drain', resolve));
    const writeHalf = () => mayGoOn.push(turn.write(near, half));
    comeTogether(turn, writeHalf, writeHalf);

    await drained;

    expect([mayGoOn, near.writableLength]).toEqual([[true, false], 0]);
  });

  test('is not lost where its socket ends in the same turn', async () => {
    const turn = new Turn();
    const { near, far } = await pair();
    const heard = hear(far);
    const ended = new Promise<void>((resolve) => far.once('end', resolve));
    comeTogether(
      turn,
      () => turn.write(near, 'last '),
      () => turn.write(near, 'words'),
      () => near.destroySoon(),
    );

    await ended;

    expect(heard.pieces.join('')).toBe('last words');
  });

  test('for one who has gone is told of, and the others get theirs', async () => {
    const turn = new Turn();
    const { near: gone } = await pair();
    const { near, far } = await pair();
    const heard = hear(far);
    const errors: unknown[] = [];
    const say = (text: string) => turn.write(gone, text, (error) => errors.push(error instanceof Error));
    comeTogether(
      turn,
      () => say('a'),
      () => gone.destroy(),
      () => say('b'),
      () => turn.write(near, 'c'),
    );

    await heard.until('c');

    expect(errors).toEqual([true, true]);
  });
});
