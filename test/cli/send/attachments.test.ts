import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { toPart } from '../../../src/cli/send/attachments.ts';
import { command, failure } from '../../kit/command.ts';

const png = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1');
const base64 = png.toString('base64');

describe('what a file is, its bytes say', () => {
  test.each([
    ['PNG', png, { kind: 'image', mediaType: 'image/png' }],
    ['JPEG', Buffer.from('ffd8ffe000104a464946', 'hex'), { kind: 'image', mediaType: 'image/jpeg' }],
    ['GIF', Buffer.from('GIF89a...'), { kind: 'image', mediaType: 'image/gif' }],
    ['WebP', Buffer.from('RIFF....WEBPVP8 '), { kind: 'image', mediaType: 'image/webp' }],
    ['PDF', Buffer.from('%PDF-1.7\n'), { kind: 'pdf', name: 'file.txt' }],
    ['WAV', Buffer.from('RIFF....WAVEfmt '), { kind: 'audio', format: 'wav' }],
    ['MP3 with a tag', Buffer.from('ID3\x04'), { kind: 'audio', format: 'mp3' }],
    ['MP3 without one', Buffer.from('fffb9064', 'hex'), { kind: 'audio', format: 'mp3' }],
    ['text', Buffer.from('\ufeffGrüße'), { kind: 'text', text: '<file name="file.txt">\nGrüße\n</file>' }],
  ])('%s, whatever its name', (_name, bytes, expected) => {
    expect(toPart('file.txt', bytes)).toMatchObject(expected);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['UTF-16', Buffer.from('fffe41004200', 'hex')],
    ['text with a NUL', Buffer.from('a\0b')],
    ['Latin-1', Buffer.from('Gr\xfc\xdfe', 'latin1')],
  ])('%s is refused by name', (_name, bytes) => {
    expect(() => toPart('photo.bin', bytes)).toThrow(/photo\.bin/);
  });

  test('a name cannot end its own tag', () => {
    expect(toPart('a">\n<b.txt', Buffer.from('x'))).toMatchObject({
      text: '<file name="a____b.txt">\nx\n</file>',
    });
  });
});

describe('attachments', () => {
  const files = { 'a.png': png, 'b.pdf': '%PDF-1', 'n.txt': 'note\n', 'c.mp3': 'ID3x', 'dir/file': '' };
  const send = (line: string, stdin: string | Buffer = '') =>
    command(`send -m m --dry-run -o json ${line}`, { files, stdin: Readable.from([Buffer.from(stdin)]) });

  const url = `data:image/png;base64,${base64}`;
  const pdf = { filename: 'b.pdf', file_data: 'data:application/pdf;base64,JVBERi0x' };
  const image = { type: 'image_url', image_url: { url } };
  test.each<[string, string, string, string | readonly object[]]>([
    [
      'in the chat dialect, in their order, the prompt last',
      '-f n.txt -f a.png -f b.pdf -f c.mp3 what?',
      'messages',
      [
        { type: 'text', text: '<file name="n.txt">\nnote\n</file>' },
        image,
        { type: 'file', file: pdf },
        { type: 'input_audio', input_audio: { data: 'SUQzeA==', format: 'mp3' } },
        { type: 'text', text: 'what?' },
      ],
    ],
    [
      'in the messages dialect',
      '--dialect messages -f a.png -f b.pdf what?',
      'messages',
      [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } },
        {
          type: 'document',
          title: 'b.pdf',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0x' },
        },
        { type: 'text', text: 'what?' },
      ],
    ],
    [
      'in the responses dialect',
      '--dialect responses -f a.png -f b.pdf what?',
      'input',
      [
        { type: 'input_image', image_url: url },
        { type: 'input_file', ...pdf },
        { type: 'input_text', text: 'what?' },
      ],
    ],
    [
      'text files and the prompt as one text',
      '-f n.txt sum',
      'messages',
      '<file name="n.txt">\nnote\n</file>\n\nsum',
    ],
    ['from standard input, without a prompt', '-f -', 'messages', [image]],
  ])('are sent %s', async (_name, line, field, content) => {
    const { exit, json } = await send(line, line === '-f -' ? png : '');

    expect(exit).toBe(0);
    expect(json.body[field]).toEqual([{ role: 'user', content }]);
  });

  test.each([
    ['a file that is not there', '-f none.txt x', 'none.txt: there is no such file'],
    ['a directory', '-f dir x', 'dir is a directory'],
    ['a device without end', '-f /dev/zero x', '/dev/zero is larger than 64 MiB'],
    ['audio in the messages dialect', '-f c.mp3 x --dialect messages', 'no place for audio'],
    ['- and -f -', '-f - -', 'once only'],
    ['-f - and --no-stdin', '-f - --no-stdin x', 'exclude each other'],
  ])('%s is a usage error', async (_name, line, expected) => {
    expect(await send(line)).toEqual(failure(2, expected));
  });
});
