import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chatEvents, json, openStream, speakAll } from '../../kit/answers.ts';
import { startProgram } from '../../kit/child.ts';
import { command, emptyDirectory, printed } from '../../kit/command.ts';
import { twoHosts } from '../../kit/config.ts';
import { useHosts } from '../../kit/lifecycle.ts';
import { startTerminal } from '../../kit/terminal.ts';

const hosts = useHosts(speakAll, (urls) => twoHosts({ ...urls, provider: 'retries: { attempts: 1 }' }));
const answer = 'Grüße 👋 東京';

function talk(argv: readonly string[] = [], home = emptyDirectory(), columns = 80) {
  hosts().openai.script(speakAll);
  const { url, key } = hosts().gateway;
  const env = { GATEWAY_URL: url, GATEWAY_KEY: key, GATEWAY_MODEL: 'gpt-test' };
  const terminal = startTerminal(['chat', ...argv], { home, env, columns });
  const run = (...words: string[]) => command(words, { cwd: home, env });
  return { home, env, terminal, run };
}

function lastBody() {
  return JSON.parse(hosts().openai.requests.at(-1)?.body.toString() ?? '');
}

const lastTexts = () => lastBody().messages.map(({ content }: { content: unknown }) => content);

/** How often the answer is on the screen. */
const answers = (count: number) => new RegExp(`(?:${answer}[\\s\\S]*){${count}}> $`.replace('> $', '>\\s*$'));

describe('chat on a terminal', () => {
  test('continues a stored conversation, and stores it', async () => {
    const { terminal, run } = talk();
    await terminal.shows('/help lists the commands');
    terminal.type('one\r');
    await terminal.shows(answers(1));
    terminal.type('two\r');
    await terminal.shows(answers(2));
    terminal.type('\x04');

    expect((await terminal.ended).exit).toBe(0);
    expect(lastTexts()).toEqual(['one', answer, 'two']);
    await run('send', '--continue', 'three');
    expect(lastTexts()).toEqual(['one', answer, 'two', answer, 'three']);
  });

  test('edits the line, and has the questions of before', async () => {
    const { terminal, home } = talk();
    await terminal.shows('>');
    // Node's line editor appends what comes within one read, wherever the cursor is: a person types slower.
    terminal.type('hallo');
    await terminal.shows('> hallo');
    terminal.type('\x1b[D\x1b[D\x1b[D\x1b[D\x7f');
    await terminal.shows('> allo');
    terminal.type('H');
    await terminal.shows('> Hallo');
    terminal.type('\r');
    await terminal.shows(answers(1));
    terminal.type('/exit\r');
    await terminal.ended;
    expect(lastTexts()).toEqual(['Hallo']);

    const again = talk([], home).terminal;
    await again.shows('/help');
    again.type('\x1b[A');
    await again.shows('> Hallo');
    again.type('!\r');
    await again.shows(answers(1));
    expect(lastTexts()).toEqual(['Hallo!']);
  });

  test('Ctrl-C stops the reply and keeps the conversation, then clears the line, and never ends it', async () => {
    const { terminal } = talk();
    hosts().openai.script(openStream(chatEvents.slice(0, 2)));
    await terminal.shows('>');
    terminal.type('one\r');
    await terminal.shows('Grüße 👋');
    terminal.type('\x03');
    await terminal.shows(/stopped\n>/);
    terminal.type('never sent\x03');
    hosts().openai.script(speakAll);
    terminal.type('two\r');
    await terminal.shows(answer);
    terminal.type('\x04');

    expect((await terminal.ended).exit).toBe(0);
    expect(lastTexts()).toEqual(['one', 'Grüße 👋 ', 'two']);
  });

  test('a question of several lines: between marks, with a backslash, and pasted', async () => {
    const { terminal } = talk();
    await terminal.shows('>');
    terminal.type('"""\rfirst\r\rthird\r"""\r');
    await terminal.shows(answers(1));
    terminal.type('one \\\rtwo\r');
    await terminal.shows(answers(2));
    terminal.type('\x1b[200~red\rgreen\x1b[201~\r');
    await terminal.shows(answers(3));

    expect(lastTexts().filter((_: unknown, i: number) => i % 2 === 0)).toEqual([
      'first\n\nthird',
      'one \ntwo',
      'red\ngreen',
    ]);
  });

  test('/model, /system, /usage and /retry', async () => {
    const { terminal } = talk();
    await terminal.shows('>');
    terminal.type('/model claude-test\r');
    await terminal.shows('model claude-test\n');
    terminal.type('/model gpt-test\r');
    terminal.type('/system be brief\r');
    await terminal.shows('system prompt: be brief');
    terminal.type('one\r');
    await terminal.shows(answers(1));
    terminal.type('/retry\r');
    await terminal.shows(answers(2));
    expect(lastTexts()).toEqual(['be brief', 'one']);
    terminal.type('/usage\r');
    await terminal.shows('2 questions, in 6 out 8 tokens');
  });

  test('/file, /save and /load', async () => {
    const home = emptyDirectory();
    writeFileSync(join(home, 'note.txt'), 'a note');
    const { terminal, run } = talk([], home);
    await terminal.shows('>');
    terminal.type('/file note.txt\r');
    await terminal.shows('note.txt will be sent with the next question');
    terminal.type('what?\r');
    await terminal.shows(answers(1));
    terminal.type('/save notes\r');
    await terminal.shows('this conversation is notes');
    await run('send', '--in', 'other', 'elsewhere');
    terminal.type('/load other\r');
    await terminal.shows('other: 2 turns, model gpt-test');
    terminal.type('more\r');
    await terminal.shows(answers(2));
    expect(lastTexts()).toEqual(['elsewhere', answer, 'more']);
    terminal.type('\x04');
    await terminal.ended;

    const shown = await run('logs', 'show', 'notes');
    expect(shown.stdout).toContain('a note');
    expect(shown.stdout).toContain('what?');
  });

  test('/save with a file writes the conversation there, for its owner alone, and overwrites nothing', async () => {
    const { terminal, home } = talk(['--no-history']);
    await terminal.shows('>');
    terminal.type('/save talk.md\r');
    await terminal.shows('there is nothing to write yet');
    terminal.type('one\r');
    await terminal.shows(answers(1));
    terminal.type('/save talk.md\r');
    await terminal.shows(/written to/);
    terminal.type('/save ./talk.md\r');
    await terminal.shows(/is\s+not\s+overwritten/);

    const file = join(home, 'talk.md');
    expect(readFileSync(file, 'utf8')).toBe(`# gpt-test\n\n## user\n\none\n\n## assistant\n\n${answer}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('a failure is reported, and the conversation continues without it', async () => {
    const { terminal } = talk();
    hosts().openai.script(json('{"error":{"message":"\\u001b[2Jout of order"}}', 400));
    await terminal.shows('>');
    terminal.type('one\r');
    await terminal.shows('the provider answered 400: ␛[2Jout of order');
    terminal.type('/nope\r');
    await terminal.shows('there is no command /nope; /help lists them');
    hosts().openai.script(speakAll);
    terminal.type('//etc is a directory\r');
    await terminal.shows(answers(1));

    expect(lastTexts()).toEqual(['/etc is a directory']);
  });

  test('/retry asks a question again that failed, with what was attached to it', async () => {
    const { terminal, home } = talk();
    writeFileSync(join(home, 'note.txt'), 'a note');
    await terminal.shows('>');
    terminal.type('/retry\r');
    await terminal.shows('there is no question to ask again');
    terminal.type('/file note.txt\r');
    await terminal.shows('note.txt will be sent');
    hosts().openai.script(json('{"error":{"message":"busy"}}', 400));
    terminal.type('one\r');
    await terminal.shows('the provider answered 400: busy');
    hosts().openai.script(speakAll);
    terminal.type('/retry\r');
    await terminal.shows(answers(1));

    expect(lastTexts()).toHaveLength(1);
    expect(JSON.stringify(lastTexts())).toMatch(/<file name=.*a note.*one/);
    terminal.type('/usage\r');
    await terminal.shows('1 question, in ');
  });

  test('a terminal of 20 columns, /help, and nothing kept with --no-history', async () => {
    const { terminal, home, run } = talk(['--no-history'], emptyDirectory(), 20);
    await terminal.shows('>');
    terminal.type('/help\r');
    await terminal.shows('/retry');
    terminal.type('a question that is longer than the line\r');
    await terminal.shows(/Grüße[\s\S]*>/);
    terminal.type('/exit\r');

    expect((await terminal.ended).exit).toBe(0);
    expect(lastTexts()).toEqual(['a question that is longer than the line']);
    expect((await run('logs', '--conversations')).stdout).toBe('');
    expect(home).not.toBe('');
  });

  test('uses less than 80 MB', async () => {
    const { terminal } = talk();
    await terminal.shows('>');
    terminal.type('one\r');
    await terminal.shows(answers(1));

    const status = readFileSync(`/proc/${terminal.pid}/status`, 'utf8');
    const residentMb = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_000;

    expect(residentMb).toBeLessThan(80);
  });
});

describe('chat in a pipe', () => {
  test('every line is a question, and only the answers are written', async () => {
    const { url, key } = hosts().gateway;
    hosts().openai.script(speakAll);
    const env = { GATEWAY_URL: url, GATEWAY_KEY: key, GATEWAY_MODEL: 'gpt-test' };

    const ended = await command(['chat'], { env, stdin: 'one\n\n"""\ntwo\nlines\n"""\nthree' });

    expect(ended).toEqual(printed(`${answer}\n${answer}\n${answer}\n`));
    expect(lastTexts()).toEqual(['one', answer, 'two\nlines', answer, 'three']);
  });

  test('SIGTERM ends it, although the pipe stays open', async () => {
    const { url, key } = hosts().gateway;
    hosts().openai.script(speakAll);
    const env = { GATEWAY_URL: url, GATEWAY_KEY: key, GATEWAY_MODEL: 'gpt-test' };
    const child = startProgram(['chat'], emptyDirectory(), env);
    child.process.stdin?.write('one\n');
    await child.wrote(answer);
    child.process.kill('SIGTERM');

    expect(await child.ended).toMatchObject({ exit: 143, stderr: 'gateway: stopped by SIGTERM\n' });
  });

  test('what fails ends it with its exit code', async () => {
    const { url, key } = hosts().gateway;
    const env = { GATEWAY_URL: url, GATEWAY_KEY: key, GATEWAY_MODEL: 'nobody' };

    expect(await command(['chat'], { env, stdin: 'one\ntwo\n' })).toMatchObject({ exit: 5, stdout: '' });
  });
});
