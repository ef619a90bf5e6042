import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { toPart } from '../../../src/cli/send/attachments.ts';
import { speakAll } from '../../kit/answers.ts';
import { command, failure } from '../../kit/command.ts';
import { twoHosts } from '../../kit/config.ts';
import { lastBody } from '../../kit/host.ts';
import { useHosts } from '../../kit/lifecycle.ts';
import type { Files } from '../../kit/own-configuration.ts';

const hosts = useHosts(speakAll, (urls) => twoHosts(urls));
type Host = 'anthropic' | 'openai';
const png = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1');
const base64 = png.toString('base64');

function send(argv: readonly string[], files: Files, stdin: string | Buffer = '') {
  const { gateway } = hosts();
  return command(['send', ...argv], { gateway, files, stdin: Readable.from([Buffer.from(stdin)]) });
}

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
    ['a program', Buffer.from('7f454c46020100', 'hex')],
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

describe('attachments reach the provider', () => {
  const files = { 'a.png': png, 'b.pdf': '%PDF-1', 'n.txt': 'note\n', 'c.mp3': 'ID3x' };

  const url = `data:image/png;base64,${base64}`;
  const pdf = { filename: 'b.pdf', file_data: 'data:application/pdf;base64,JVBERi0x' };
  test.each<[string, string, Host, string, readonly object[]]>([
    [
      'in the chat dialect, in their order, the prompt last',
      '-m gpt-test -f n.txt -f a.png -f b.pdf -f c.mp3 what?',
      'openai',
      'messages',
      [
        { type: 'text', text: '<file name="n.txt">\nnote\n</file>' },
        { type: 'image_url', image_url: { url } },
        { type: 'file', file: pdf },
        { type: 'input_audio', input_audio: { data: 'SUQzeA==', format: 'mp3' } },
        { type: 'text', text: 'what?' },
      ],
    ],
    [
      'in the messages dialect',
      '-m claude-test -f a.png -f b.pdf what?',
      'anthropic',
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
      '-m gpt-test --dialect responses -f a.png -f b.pdf what?',
      'openai',
      'input',
      [
        { type: 'input_image', image_url: url },
        { type: 'input_file', ...pdf },
        { type: 'input_text', text: 'what?' },
      ],
    ],
  ])('%s', async (_name, line, host, field, content) => {
    expect((await send(line.split(' '), files)).exit).toBe(0);
    expect(lastBody(hosts()[host])[field]).toEqual([{ role: 'user', content }]);
  });

  test('text files and the prompt are one text', async () => {
    await send(['-m', 'gpt-test', '-f', 'n.txt', 'sum up'], files);

    expect(lastBody(hosts().openai).messages).toEqual([
      { role: 'user', content: '<file name="n.txt">\nnote\n</file>\n\nsum up' },
    ]);
  });

  test('-f - attaches standard input', async () => {
    expect((await send(['-m', 'gpt-test', '-f', '-', 'what?'], {}, png)).exit).toBe(0);
    expect(JSON.stringify(lastBody(hosts().openai).messages)).toContain(base64);
  });

  test('an attachment needs no prompt', async () => {
    expect((await send(['-m', 'gpt-test', '-f', 'n.txt'], files)).exit).toBe(0);
  });

  test.each([
    ['a file that is not there', '-f none.txt x', 'none.txt: there is no such file'],
    ['a directory', '-f dir x', 'dir is a directory'],
    ['a device without end', '-f /dev/zero x', '/dev/zero is larger than 64 MiB'],
    ['audio in the messages dialect', '-f c.mp3 x --dialect messages', 'no place for audio'],
    ['audio in the responses dialect', '-f c.mp3 x --dialect responses', 'no place for audio'],
    ['- and -f -', '-f - -', 'once only'],
    ['-f - twice', '-f - -f - x', 'once only'],
    ['-f - and --no-stdin', '-f - --no-stdin x', 'exclude each other'],
  ])('%s is a usage error, and nothing is sent', async (_name, line, expected) => {
    const { requests } = hosts().openai;
    const before = requests.length;

    const ended = await send(['-m', 'gpt-test', ...line.split(' ')], { 'c.mp3': 'ID3x', 'dir/file': '' });

    expect(ended).toEqual(failure(2, expected));
    expect(requests.length).toBe(before);
  });
});
