import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { chatEvents, json, openStream, speakAll } from '../../kit/answers.ts';
import { startProgram } from '../../kit/child.ts';
import { command, emptyDirectory, printed } from '../../kit/command.ts';
import { twoHosts } from '../../kit/config.ts';
import { lastBody } from '../../kit/host.ts';
import { useHosts } from '../../kit/lifecycle.ts';
import { startTerminal } from '../../kit/terminal.ts';

const hosts = useHosts(speakAll, (urls) => twoHosts({ ...urls, provider: 'retries: { attempts: 1 }' }));
const answer = 'Grüße 👋 東京';

function environment() {
  hosts().openai.script(speakAll);
  const { url, key } = hosts().gateway;
  return { GATEWAY_URL: url, GATEWAY_KEY: key, GATEWAY_MODEL: 'gpt-test' };
}

/** A chat that is ready for what is typed. */
async function talk(argv: readonly string[] = [], home = emptyDirectory(), columns = 80) {
  const env = environment();
  const terminal = startTerminal(['chat', ...argv], { home, env, columns });
  const run = (...words: string[]) => command(words, { cwd: home, env });
  /** Types something, and waits for what it makes the screen show. */
  const say = (typed: string, shown: string | RegExp) => {
    terminal.type(typed);
    return terminal.shows(shown);
  };
  let asked = 0;
  /** Asks a question, and waits for its answer. */
  const ask = (question: string) => {
    asked += 1;
    return say(`${question}\r`, new RegExp(`(?:${answer}[\\s\\S]*){${asked}}>\\s*$`));
  };
  await terminal.shows('>');
  return { home, terminal, run, say, ask };
}

const lastTexts = () => lastBody(hosts().openai).messages.map(({ content }: { content: unknown }) => content);

describe('chat on a terminal', () => {
  test('continues a stored conversation, and stores it', async () => {
    const { terminal, run, ask } = await talk();
    await ask('one');
    await ask('two');
    terminal.type('\x04');

    expect((await terminal.ended).exit).toBe(0);
    expect(lastTexts()).toEqual(['one', answer, 'two']);
    await run('send', '--continue', 'three');
    expect(lastTexts()).toEqual(['one', answer, 'two', answer, 'three']);
  });

  test('a terminal that can only show text gets no commands', async () => {
    const env = { ...environment(), TERM: 'dumb' };
    const terminal = startTerminal(['chat'], { home: emptyDirectory(), env, columns: 80 });
    await terminal.shows('>');
    terminal.type('one\r');
    await terminal.shows(answer);
    terminal.type('\x04');

    expect((await terminal.ended).exit).toBe(0);
    expect(terminal.raw()).not.toContain('\x1b');
  });

  test('edits the line, and has the questions of before', async () => {
    const { terminal, home, say, ask } = await talk();
    // Node's line editor appends what comes within one read, wherever the cursor is: a person types slower.
    await say('hallo', '> hallo');
    await say('\x1b[D\x1b[D\x1b[D\x1b[D\x7f', '> allo');
    await say('H', '> Hallo');
    await ask('');
    terminal.type('/exit\r');
    await terminal.ended;
    expect(lastTexts()).toEqual(['Hallo']);

    const again = await talk([], home);
    await again.say('\x1b[A', '> Hallo');
    await again.ask('!');
    expect(lastTexts()).toEqual(['Hallo!']);
  });

  test('Ctrl-C stops the reply and keeps the conversation, then clears the line, and never ends it', async () => {
    const { terminal, say, ask } = await talk();
    hosts().openai.script(openStream(chatEvents.slice(0, 2)));
    await say('one\r', 'Grüße 👋');
    await say('\x03', /stopped\n>/);
    terminal.type('never sent\x03');
    hosts().openai.script(speakAll);
    await ask('two');
    terminal.type('\x04');

    expect((await terminal.ended).exit).toBe(0);
    expect(lastTexts()).toEqual(['one', 'Grüße 👋 ', 'two']);
  });

  test('a question of several lines: between marks, with a backslash, and pasted', async () => {
    const { ask } = await talk();
    await ask('"""\rfirst\r\rthird\r"""');
    await ask('one \\\rtwo');
    await ask('\x1b[200~red\rgreen\x1b[201~');

    expect(lastTexts().filter((_: unknown, i: number) => i % 2 === 0)).toEqual([
      'first\n\nthird',
      'one \ntwo',
      'red\ngreen',
    ]);
  });

  test('/model, /system, /usage and /retry', async () => {
    const { terminal, say, ask } = await talk();
    await say('/model claude-test\r', 'model claude-test\n');
    terminal.type('/model gpt-test\r');
    await say('/system be brief\r', 'system prompt: be brief');
    await ask('one');
    await ask('/retry');
    expect(lastTexts()).toEqual(['be brief', 'one']);
    await say('/usage\r', '2 questions, in 6 out 8 tokens');
  });

  test('/file, /save and /load', async () => {
    const home = emptyDirectory();
    writeFileSync(join(home, 'note.txt'), 'a note');
    const { terminal, run, say, ask } = await talk([], home);
    await say('/file note.txt\r', 'note.txt will be sent with the next question');
    await ask('what?');
    await say('/save notes\r', 'this conversation is notes');
    await run('send', '--in', 'other', 'elsewhere');
    await say('/load other\r', 'other: 2 turns, model gpt-test');
    await ask('more');
    expect(lastTexts()).toEqual(['elsewhere', answer, 'more']);
    terminal.type('\x04');
    await terminal.ended;

    const shown = await run('logs', 'show', 'notes');
    expect(shown.stdout).toContain('a note');
    expect(shown.stdout).toContain('what?');
  });

  test('/save with a file writes the conversation there, for its owner alone, and overwrites nothing', async () => {
    const { home, say, ask } = await talk(['--no-history']);
    await say('/save talk.md\r', 'there is nothing to write yet');
    await ask('one');
    await say('/save talk.md\r', 'written to');
    await say('/save ./talk.md\r', /is\s+not\s+overwritten/);

    const file = join(home, 'talk.md');
    expect(readFileSync(file, 'utf8')).toBe(`# gpt-test\n\n## user\n\none\n\n## assistant\n\n${answer}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('a failure is reported, and the conversation continues without it', async () => {
    const { say, ask } = await talk();
    hosts().openai.script(json('{"error":{"message":"\\u001b[2Jout of order"}}', 400));
    await say('one\r', 'the provider answered 400: ␛[2Jout of order');
    await say('/nope\r', 'there is no command /nope; /help lists them');
    hosts().openai.script(speakAll);
    await ask('//etc is a directory');

    expect(lastTexts()).toEqual(['/etc is a directory']);
  });

  test('/retry asks a question again that failed, with what was attached to it', async () => {
    const { home, say, ask } = await talk();
    writeFileSync(join(home, 'note.txt'), 'a note');
    await say('/retry\r', 'there is no question to ask again');
    await say('/file note.txt\r', 'note.txt will be sent');
    hosts().openai.script(json('{"error":{"message":"busy"}}', 400));
    await say('one\r', 'the provider answered 400: busy');
    hosts().openai.script(speakAll);
    await ask('/retry');

    expect(lastTexts()).toHaveLength(1);
    expect(JSON.stringify(lastTexts())).toMatch(/<file name=.*a note.*one/);
    await say('/usage\r', '1 question, in ');
  });

  test('a terminal of 20 columns, /help, and nothing kept with --no-history', async () => {
    const { terminal, run, say } = await talk(['--no-history'], emptyDirectory(), 20);
    await say('/help\r', '/retry');
    await say('a question that is longer than the line\r', /Grüße[\s\S]*>/);
    terminal.type('/exit\r');

    expect((await terminal.ended).exit).toBe(0);
    expect(lastTexts()).toEqual(['a question that is longer than the line']);
    expect((await run('logs', '--conversations')).stdout).toBe('');
  });
});

describe('chat in a pipe', () => {
  test('every line is a question, and only the answers are written', async () => {
    const stdin = 'one\n\n"""\ntwo\nlines\n"""\nthree';

    const ended = await command(['chat'], { env: environment(), stdin });

    expect(ended).toEqual(printed(`${answer}\n${answer}\n${answer}\n`));
    expect(lastTexts()).toEqual(['one', answer, 'two\nlines', answer, 'three']);
  });

  test('SIGTERM ends it, although the pipe stays open', async () => {
    const child = startProgram(['chat'], emptyDirectory(), environment());
    child.process.stdin?.write('one\n');
    await child.wrote(answer);
    child.process.kill('SIGTERM');

    expect(await child.ended).toMatchObject({ exit: 143, stderr: 'gateway: stopped by SIGTERM\n' });
  });

  test('what fails ends it with its exit code', async () => {
    const env = { ...environment(), GATEWAY_MODEL: 'nobody' };

    expect(await command(['chat'], { env, stdin: 'one\ntwo\n' })).toMatchObject({ exit: 5, stdout: '' });
  });
});
