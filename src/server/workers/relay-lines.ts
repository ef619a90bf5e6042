import type { Readable } from 'node:stream';

/** Passes a stream's text on in whole lines, so that lines of several streams are not interleaved. */
export function relayLines(from: Readable, write: (text: string) => void): void {
  let rest = '';
  from.setEncoding('utf8');
  from.on('data', (chunk: string) => {
    const end = chunk.lastIndexOf('\n') + 1;
    if (end > 0) write(rest + chunk.slice(0, end));
    rest = end > 0 ? chunk.slice(end) : rest + chunk;
  });
  from.on('end', () => {
    if (rest !== '') write(`${rest}\n`);
  });
}
