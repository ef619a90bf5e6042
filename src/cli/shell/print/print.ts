import type { CommonOptions, OutputFormat } from '../command.ts';
import { type Io, write } from '../io.ts';
import { wrapped } from './wrapped.ts';

const maxDataLength = 200;

/** A request for people: attachments are reduced to their size. */
export function shownBody(body: unknown): string {
  return JSON.stringify(body, (_, value) => withoutData(value), 2);
}

function withoutData(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= maxDataLength) return value;
  const [, head = '', data] = /^(data:[^,]{1,100},)?([A-Za-z0-9+/]+=*)$/.exec(value) ?? [];
  return data === undefined ? value : `${head}… ${data.length} characters of base64`;
}

// C0 except tab and line feed, DEL, C1, and direction controls: all that could move the cursor, rename the window,
// write to the clipboard, or make a line look like another.
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Makes untrusted text safe for a terminal: control characters become visible symbols. A carriage return is removed:
 * alone, it would let a line overwrite itself.
 */
export function printable(text: string, env: Io['env']): string {
  const shown = text.replaceAll('\r', '').replace(unsafe, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : '\ufffd';
  });
  // One byte of a UTF-8 character could be a control character in another encoding.
  return hasOtherEncoding(env) ? shown.replace(/[^\u0000-\u007f]/gu, '?') : shown;
}

/** Whether the locale names an encoding other than UTF-8. Without a locale it is UTF-8, as in containers. */
export function hasOtherEncoding({ LC_ALL, LC_CTYPE, LANG }: Io['env']): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG || '';
  return /\.(?!utf-?8)/i.test(locale);
}

/**
 * Writes text without any styling of ours to stdout: data, which may come from a provider, a store or a file. On a
 * terminal its control characters are made visible; a pipe gets it as it is.
 */
export function print(text: string, { stdout }: Pick<Io, 'stdout'>): Promise<void> {
  return write(stdout, shownOn(stdout, text));
}

/** The same on stderr, wrapped between words: for the person who watches. */
export async function note(text: string, { stderr }: Pick<Io, 'stderr'>): Promise<void> {
  return write(stderr, await wrapped(shownOn(stderr, text), stderr));
}

/** Without the locale: terminals with another encoding are fitted where their stream is opened. */
function shownOn({ isTTY }: Io['stdout'], text: string): string {
  return isTTY === true ? printable(text, {}) : text;
}

const two = (value: number) => String(value).padStart(2, '0');

/** Of this machine's time zone, as 2026-11-22. */
export function localDay(ms: number): string {
  const date = new Date(ms);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Of this machine's time zone, as 2026-12-01 00:00. */
export function localMinute(ms: number): string {
  const date = new Date(ms);
  return `${localDay(ms)} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

type ProgramFormat = Exclude<OutputFormat, 'text' | 'table'>;

/** Whether a format is for programs; without one, a command prints for people. */
export function isForPrograms(format: OutputFormat | undefined): format is ProgramFormat {
  return format !== undefined && format !== 'text' && format !== 'table';
}

/** Prints a value in the format for programs that is asked for, else the text. */
export async function printValue(
  value: unknown,
  text: string | (() => string),
  { output }: Pick<CommonOptions, 'output'>,
  io: Io,
): Promise<void> {
  if (isForPrograms(output)) return print(await formatted(value, output), io);
  await print(typeof text === 'string' ? text : text(), io);
}

/** A value in one of the formats for programs. A list is one line per entry in ndjson, otherwise one document. */
export async function formatted(value: unknown, format: ProgramFormat): Promise<string> {
  if (format === 'yaml') return (await import('yaml')).stringify(value); // takes 40 ms, which only this format pays
  const lines = format === 'ndjson' && Array.isArray(value) ? value : [value];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

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
