import type { Io } from '../io.ts';
import { hasOtherEncoding } from './print.ts';

// Each as wide as the original, so that tables stay aligned.
const substitutes: Readonly<Record<string, string>> = {
  '…': '~',
  '·': '-',
  '•': '*',
  '–': '-',
  '→': '>',
  '✓': '+',
  '✗': 'x',
  '│': '|',
  '─': '-',
  '◆': '*',
  '◇': 'o',
  '●': '*',
  '○': 'o',
  '◼': 'x',
  '◻': ' ',
};
const spinnerFrame = /[\u2800-\u28ff]/;

/**
 * Restricts output to ASCII on a terminal with an encoding other than UTF-8: it would show other characters, or take a
 * byte of one for a control character. Changes the stream itself, which the spinner hooks into.
 */
export function fitEncoding(stream: Io['stdout'], env: Io['env']): void {
  if (stream.isTTY !== true || !hasOtherEncoding(env)) return;
  const write: (text: string, ...rest: never[]) => boolean = stream.write.bind(stream);
  stream.write = (chunk: string | Uint8Array, ...rest: never[]) =>
    write(toAscii(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()), ...rest);
}

function toAscii(text: string): string {
  return text.replace(/[^\u0000-\u007f]/gu, (character) =>
    spinnerFrame.test(character) ? '*' : (substitutes[character] ?? '?'),
  );
}
