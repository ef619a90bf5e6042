/** The events of a streamed answer, as objects: those of a block of messages, and a chunk of a chat. */

export const blockStart = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
});

export const blockDelta = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });

export const textDelta = (index: number, text: string) => blockDelta(index, { type: 'text_delta', text });

export const blockStop = (index: number) => ({ type: 'content_block_stop', index });

/** A whole block whose text comes in pieces. */
export const textBlock = (index: number, ...pieces: readonly string[]): object[] => [
  blockStart(index, { type: 'text', text: '' }),
  ...pieces.map((piece) => textDelta(index, piece)),
  blockStop(index),
];

export const chatChunk = (delta: object, finish_reason: string | null = null, index = 0) => ({
  choices: [{ index, delta, finish_reason }],
});
