import { readdirSync, readFileSync } from 'node:fs';

const directory = new URL('../fixtures/streams/', import.meta.url);
const files = new Map(readdirSync(directory).map((file) => [file.replace(/\.(?:events|sse)$/, ''), file]));

/** The names of all recordings: a dialect, and what is special about it. */
export const recordings = [...files.keys()];

/**
 * A stream as a host sent it. Each line of an `.events` file is the data of an event, or a comment; where the dialect names
 * events, the name is the data's type. An `.sse` file has the bytes themselves, where they are no whole events.
 */
export function recordedStream(name: string): Buffer {
  const file = files.get(name) ?? '';
  const bytes = readFileSync(new URL(file, directory));
  if (file.endsWith('.sse')) return bytes;
  const isNamed = /^(?:messages|responses)/.test(name);
  const events = bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => {
      if (line.startsWith(':')) return `${line}\n\n`;
      const type = isNamed ? `event: ${(JSON.parse(line) as { type: string }).type}\n` : '';
      return `${type}data: ${line}\n\n`;
    });
  const text = events.join('');
  return Buffer.from(/^gemini|usage-on-finish/.test(name) ? text.replaceAll('\n', '\r\n') : text);
}
