import { describe, expect, test } from 'vitest';
import { BlockQueue } from '../../../src/dialects/messages/block-queue.ts';

/** What came of each call, and of the texts between them. */
type Step =
  | readonly ['start', call: number]
  | readonly ['end', call: number]
  | readonly ['input', call: number, json: string]
  | readonly ['thinking', text: string]
  | readonly ['text', text: string]
  | readonly ['finish'];

/** What a queue writes, which is given those steps. */
function written(...steps: readonly Step[]): string[] {
  const log: string[] = [];
  const queue = new BlockQueue({
    openText: () => log.push('<text>'),
    openThinking: () => log.push('<thinking>'),
    openCall: (call) => log.push(`<${call.name}>`),
    sealed: (data) => log.push(`<sealed ${data}>`),
    piece: (text) => log.push(text),
    close: () => log.push('</>'),
  });
  for (const step of steps) {
    if (step[0] === 'finish') queue.finish();
    else if (step[0] === 'thinking' || step[0] === 'text') queue.add(step[0], step[1]);
    else if (step[0] === 'input') queue.addInput(step[1], step[2]);
    else if (step[0] === 'end') queue.endCall(step[1]);
    else {
      const [, index] = step;
      queue.startCall({ index, id: `id${index}`, name: `call${index}`, kind: 'function' });
    }
  }
  return log;
}

// biome-ignore format: a case a line
const cases: readonly (readonly [what: string, steps: readonly Step[], log: readonly string[]])[] = [
  [
    'calls that come one after the other are streamed without waiting',
    [['start', 0], ['input', 0, '{"a":'], ['input', 0, '"}"}'], ['start', 1], ['input', 1, '{']],
    ['<call0>', '{"a":', '"}"}', '</>', '<call1>', '{'],
  ],
  [
    'parts of a second call wait until the first is complete',
    [['start', 0], ['start', 1], ['input', 1, '{"b"'], ['input', 0, '{}'], ['input', 1, ':1}'], ['finish']],
    ['<call0>', '{}', '</>', '<call1>', '{"b"', ':1}', '</>'],
  ],
  [
    'text that arrives in the middle of a call waits, and keeps the order',
    [['thinking', 'hm'], ['start', 0], ['input', 0, '{"a"'], ['text', 'b'], ['text', 'c'], ['input', 0, ':1}'], ['text', 'd'], ['finish']],
    ['<thinking>', 'hm', '</>', '<call0>', '{"a"', ':1}', '</>', '<text>', 'bc', 'd', '</>'],
  ],
  [
    'an explicit end is believed',
    [['start', 0], ['end', 0], ['start', 1]],
    ['<call0>', '</>', '<call1>'],
  ],
  [
    'white space behind a complete call is dropped',
    [['start', 0], ['input', 0, '{}'], ['start', 1], ['input', 0, ' \n']],
    ['<call0>', '{}', '</>', '<call1>'],
  ],
];

describe('BlockQueue', () => {
  test.each(cases)('%s', (_what, steps, log) => {
    expect(written(...steps)).toEqual(log);
  });

  test('anything but white space behind a complete call is broken', () => {
    expect(() => written(['start', 0], ['input', 0, '{}'], ['start', 1], ['input', 0, '{}'])).toThrow(
      expect.objectContaining({ code: 'provider.broken_response' }),
    );
  });
});
