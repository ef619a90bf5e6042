import { expect, test } from 'vitest';
import { LengthBody } from '../../src/http/length-body.ts';

test('a body ends where it was said to, however it is cut', () => {
  const text = 'body, and what is behind';
  for (let at = 1; at < text.length; at += 1) {
    const taken: Buffer[] = [];
    const body = new LengthBody({ take: (piece) => taken.push(piece) }, 4);

    const counts = [text.slice(0, at), text.slice(at)].map((piece) =>
      body.isComplete ? 0 : body.push(Buffer.from(piece)),
    );

    expect([Buffer.concat(taken).toString(), body.isComplete, counts[0]]).toEqual([
      'body',
      true,
      Math.min(at, 4),
    ]);
  }
});

test('a body that stops before is not complete', () => {
  const body = new LengthBody({ take: () => undefined }, 4);

  expect([body.push(Buffer.from('bod')), body.isComplete]).toEqual([3, false]);
});
