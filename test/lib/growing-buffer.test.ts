import { describe, expect, test } from 'vitest';
import { GrowingBuffer } from '../../src/lib/growing-buffer.ts';

describe('a growing buffer', () => {
  test('holds what came, in its order', () => {
    const buffer = new GrowingBuffer();
    expect(buffer.bytes()).toHaveLength(buffer.length);
    for (const piece of ['a', '', 'bc', 'd'.repeat(10_000), 'e']) buffer.append(Buffer.from(piece));

    expect(buffer.bytes().toString()).toBe(`abc${'d'.repeat(10_000)}e`);
    expect(buffer.length).toBe(10_004);
  });

  test('is the first piece where there is no other, uncopied', () => {
    const buffer = new GrowingBuffer();
    const piece = Buffer.from('whole');
    buffer.append(piece);

    expect(buffer.bytes().buffer).toBe(piece.buffer);
  });

  test('never writes into a piece that it was given', () => {
    const slab = Buffer.from('ab..');
    const buffer = new GrowingBuffer();
    buffer.append(slab.subarray(0, 2));
    buffer.append(Buffer.from('XY'));

    expect([slab.toString(), buffer.bytes().toString()]).toEqual(['ab..', 'abXY']);
  });

  test.each([0, 8 * 1024 * 1024])(
    'costs at most twice the bytes of 8 MB in single ones (%i expected)',
    (expected) => {
      const before = process.memoryUsage().arrayBuffers;
      const buffer = new GrowingBuffer();
      const piece = Buffer.from('x');
      for (let i = 0; i < 8 * 1024 * 1024; i += 1) buffer.append(piece, expected);

      expect(buffer.bytes().buffer.byteLength).toBeLessThanOrEqual(16 * 1024 * 1024);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(33 * 1024 * 1024);
    },
  );

  test('costs a megabyte at most for a length that is announced and does not come', () => {
    const before = process.memoryUsage().arrayBuffers;
    const buffer = new GrowingBuffer();
    buffer.append(Buffer.from('{"'), 512 * 1024 * 1024);

    expect(buffer.length).toBe(2);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 * 1024 * 1024);
  });
});
