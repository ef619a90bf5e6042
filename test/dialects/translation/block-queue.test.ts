import { describe, expect, test } from 'vitest';
import { BlockQueue } from '../../../src/dialects/messages/block-queue.ts';

function record() {
  const log: string[] = [];
  const queue = new BlockQueue({
    openText: () => log.push('<text>'),
    openThinking: () => log.push('<thinking>'),
    openCall: (call) => log.push(`<${call.name}>`),
    piece: (text) => log.push(text),
    close: () => log.push('</>'),
  });
  const start = (index: number) =>
    queue.startCall({ index, id: `id${index}`, name: `call${index}`, kind: 'function' });
  return { log, queue, start };
}

describe('BlockQueue', () => {
  test('streams calls that come one after the other without waiting', () => {
    const { log, queue, start } = record();

    start(0);
    queue.addInput(0, '{"a":');
    queue.addInput(0, '"}"}');
    start(1);
    queue.addInput(1, '{');

    expect(log).toEqual(['<call0>', '{"a":', '"}"}', '</>', '<call1>', '{']);
  });

  test('holds back parts of a second call until the first is complete', () => {
    const { log, queue, start } = record();

    start(0);
    start(1);
    queue.addInput(1, '{"b"');
    queue.addInput(0, '{}');
    queue.addInput(1, ':1}');
    queue.finish();

    expect(log).toEqual(['<call0>', '{}', '</>', '<call1>', '{"b"', ':1}', '</>']);
  });

  test('holds back text that arrives in the middle of a call, and keeps the order', () => {
    const { log, queue, start } = record();

    queue.add('thinking', 'hm');
    start(0);
    queue.addInput(0, '{"a"');
    queue.add('text', 'b');
    queue.add('text', 'c');
    queue.addInput(0, ':1}');
    queue.add('text', 'd');
    queue.finish();

    expect(log).toEqual([
      '<thinking>',
      'hm',
      '</>',
      '<call0>',
      '{"a"',
      ':1}',
      '</>',
      '<text>',
      'bc',
      'd',
      '</>',
    ]);
  });

  test('releases every call at the end, complete or not', () => {
    const { log, queue, start } = record();

    start(0);
    start(1);
    queue.addInput(1, '{"b":1}');
    start(2);
    queue.finish();

    expect(log).toEqual(['<call0>', '</>', '<call1>', '{"b":1}', '</>', '<call2>', '</>']);
  });

  test('believes an explicit end', () => {
    const { log, queue, start } = record();

    start(0);
    queue.endCall(0);
    start(1);

    expect(log).toEqual(['<call0>', '</>', '<call1>']);
  });

  test('accepts white space after a complete call, and nothing else', () => {
    const { queue, start } = record();
    start(0);
    queue.addInput(0, '{}');
    start(1);

    queue.addInput(0, ' \n');

    expect(() => queue.addInput(0, '{}')).toThrow(
      expect.objectContaining({ code: 'provider.broken_response' }),
    );
  });
});
