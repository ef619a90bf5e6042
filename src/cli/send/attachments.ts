import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { PromptPart } from '../../client/conversation.ts';
import { GatewayError } from '../../errors.ts';
import { maxInputBytes, readStandardInput, tooLarge, unreadable } from '../shell/input.ts';
import type { Io } from '../shell/io.ts';

/** Reads the files of -f in their order; `-` is standard input. Throws usage.invalid for what can't be attached. */
export async function readAttachments(
  files: readonly string[],
  io: Pick<Io, 'stdin' | 'cwd' | 'signal'>,
): Promise<readonly PromptPart[]> {
  if (files.filter((file) => file === '-').length > 1) {
    throw new GatewayError('usage.invalid', '-f -: standard input can be attached once only');
  }
  const parts: PromptPart[] = [];
  for (const file of files) {
    const bytes = file === '-' ? await readStandardInput(io) : await readWhole(file, io);
    parts.push(toPart(file === '-' ? 'stdin' : basename(file), bytes));
  }
  return parts;
}

/** A file's type by its bytes; its name is ignored. */
export function toPart(name: string, bytes: Buffer): PromptPart {
  if (bytes.length === 0) throw new GatewayError('usage.invalid', `${name} is empty`);
  const imageType = imageSignatures.find(([, matches]) => matches(bytes))?.[0];
  const data = () => bytes.toString('base64');
  if (imageType !== undefined) return { kind: 'image', mediaType: imageType, data: data() };
  if (startsWith(bytes, '%PDF-')) return { kind: 'pdf', name, data: data() };
  const format = audioFormat(bytes);
  if (format !== undefined) return { kind: 'audio', format, data: data() };
  if (isUtf8(bytes) && !bytes.includes(0)) return { kind: 'text', text: asFile(name, bytes.toString()) };
  const known = 'PNG, JPEG, GIF, WebP, PDF, WAV, MP3';
  throw new GatewayError(
    'usage.invalid',
    `${name} can't be attached: it is neither text in UTF-8 nor ${known}`,
  );
}

const imageSignatures: readonly (readonly [type: string, matches: (bytes: Buffer) => boolean])[] = [
  ['image/png', (bytes) => startsWith(bytes, '\x89PNG\r\n\x1a\n')],
  ['image/jpeg', (bytes) => startsWith(bytes, '\xff\xd8\xff')],
  ['image/gif', (bytes) => startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a')],
  ['image/webp', (bytes) => isRiff(bytes, 'WEBP')],
];

function audioFormat(bytes: Buffer): 'wav' | 'mp3' | undefined {
  if (isRiff(bytes, 'WAVE')) return 'wav';
  // A tag, or the head of a frame: eleven set bits, then a version that exists and layer III.
  const [first = 0, second = 0] = bytes;
  const isFrame = first === 0xff && (second & 0xe6) === 0xe2 && (second & 0x18) !== 0x08;
  return isFrame || startsWith(bytes, 'ID3') ? 'mp3' : undefined;
}

function isRiff(bytes: Buffer, kind: string): boolean {
  return startsWith(bytes, 'RIFF') && bytes.toString('latin1', 8, 12) === kind;
}

function startsWith(bytes: Buffer, signature: string): boolean {
  return bytes.toString('latin1', 0, signature.length) === signature;
}

/** With its name and a visible end, for the model. */
function asFile(name: string, text: string): string {
  const content = text.replace(/^\ufeff/, '');
  const attribute = name.replace(/["<>\p{Cc}]/gu, '_');
  return `<file name="${attribute}">\n${content}${content.endsWith('\n') ? '' : '\n'}</file>`;
}

async function readWhole(file: string, { cwd, signal }: Pick<Io, 'cwd' | 'signal'>): Promise<Buffer> {
  const handle = await open(resolve(cwd, file), 'r').catch((cause) => {
    throw unreadable(file, cause);
  });
  try {
    if ((await handle.stat()).isDirectory()) {
      throw new GatewayError('usage.invalid', `${file} is a directory; attach its files one by one`);
    }
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of handle.createReadStream({ signal, autoClose: false })) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > maxInputBytes) throw tooLarge(file);
    }
    return Buffer.concat(chunks);
  } catch (cause) {
    signal.throwIfAborted();
    throw unreadable(file, cause);
  } finally {
    await handle.close();
  }
}
