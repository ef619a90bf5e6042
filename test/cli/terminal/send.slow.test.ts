import { describe, expect, test } from 'vitest';
import { chatAnswer, chatEvents, json, openStream, speakAll, stream } from '../../kit/answers.ts';
import { startProgram } from '../../kit/child.ts';
import { emptyDirectory } from '../../kit/command.ts';
import { twoHosts } from '../../kit/config.ts';
import { useHosts } from '../../kit/lifecycle.ts';
import { startTerminal } from '../../kit/terminal.ts';

const hosts = useHosts(speakAll, (urls) => twoHosts({ ...urls, provider: 'retries: { attempts: 1 }' }));
const hostile = 'before \u001b[2J\u001b]0;owned\u0007\u009b31m \u202eafter';

function onTerminal(argv: readonly string[], columns = 80) {
  const { url, key } = hosts().gateway;
  const env = { GATEWAY_URL: url, GATEWAY_KEY: key, GATEWAY_MODEL: 'gpt-test' };
  return startTerminal(argv, { home: emptyDirectory(), env, columns });
}

function answering(text: string) {
  return json(chatAnswer.replace('"Hello from chat"', JSON.stringify(text)));
}

describe('send on a terminal', () => {
  test('shows a spinner while it waits, and nothing of it afterwards', async () => {
    hosts().openai.script(async (response, request) => {
      await new Promise((resolve) => setTimeout(resolve, 800));
      await speakAll(response, request);
    });

    const terminal = onTerminal(['send', 'hello']);
    await terminal.shows('waiting for gpt-test');
    const { exit } = await terminal.ended;

    expect(exit).toBe(0);
    expect(terminal.screen()).toBe('Grüße 👋 東京');
  });

  test('shows no spinner for an immediate answer', async () => {
    hosts().openai.script(speakAll);

    const terminal = onTerminal(['send', 'hello']);
    await terminal.ended;

    expect(terminal.raw()).toBe('Grüße 👋 東京\r\n');
  });

  test('shows what has come while more is coming; Ctrl-C keeps it and ends with 130', async () => {
    hosts().openai.script(openStream(chatEvents.slice(0, 2)));

    const terminal = onTerminal(['send', 'hello']);
    await terminal.shows('Grüße 👋');
    terminal.type('\x03');
    const { exit } = await terminal.ended;

    expect(exit).toBe(130);
    expect(terminal.screen()).toContain('Grüße 👋');
  });

  test("a model's words move nothing, and reach a pipe untouched", async () => {
    hosts().openai.script(answering(hostile));
    const { url, key } = hosts().gateway;
    const env = { GATEWAY_URL: url, GATEWAY_KEY: key, GATEWAY_MODEL: 'gpt-test' };

    const terminal = onTerminal(['send', 'hello', '--no-stream']);
    await terminal.ended;
    const pipe = startProgram(['send', 'hello', '--no-stream', '--no-stdin'], emptyDirectory(), env);

    expect(terminal.screen()).toBe('before ␛[2J␛]0;owned␇\ufffd31m \ufffdafter');
    expect((await pipe.ended).stdout).toBe(`${hostile}\n`);
  });

  test('an answer that breaks off stays, and what happened is on a line of its own', async () => {
    hosts().openai.script(stream(chatEvents.slice(0, 2)));

    const terminal = onTerminal(['send', 'hello']);
    const { exit } = await terminal.ended;

    expect(exit).toBe(7);
    expect(terminal.screen()).toMatch(/^Grüße 👋\s*\ngateway: /);
  });

  test('a terminal of 20 columns gets the same text', async () => {
    hosts().openai.script(answering('a word and another word and a third'));

    const terminal = onTerminal(['send', 'hello', '--no-stream'], 20);
    await terminal.ended;

    expect(terminal.raw()).toBe('a word and another word and a third\r\n');
  });

  test('an answer of 50 MB arrives whole, in a pipe', { timeout: 120_000 }, async () => {
    const piece = 'x'.repeat(1_000_000);
    const delta = `data: ${JSON.stringify({ id: 'c', model: 'gpt-test', choices: [{ index: 0, delta: { content: piece }, finish_reason: null }] })}\n\n`;
    const { url, key } = hosts().gateway;
    hosts().openai.script(stream([chatEvents[0] ?? '', ...Array(50).fill(delta), ...chatEvents.slice(3)]));
    const env = { GATEWAY_URL: url, GATEWAY_KEY: key, GATEWAY_MODEL: 'gpt-test' };

    const child = startProgram(['send', 'hello', '--no-stdin'], emptyDirectory(), env);
    const { exit, stdout } = await child.ended;

    expect([exit, stdout.length]).toEqual([0, 50_000_001]);
  });

  test('--render shows Markdown while it comes; a pipe gets the raw text', async () => {
    const markdown = '# Title\n\nSome **bold** text.\n\n- one\n- two\n';
    const pieces = [...markdown].map(
      (piece) =>
        `data: ${JSON.stringify({ id: 'c', model: 'gpt-test', choices: [{ index: 0, delta: { content: piece }, finish_reason: null }] })}\n\n`,
    );
    const script = stream([chatEvents[0] ?? '', ...pieces, ...chatEvents.slice(3)]);
    const { url, key } = hosts().gateway;
    const env = { GATEWAY_URL: url, GATEWAY_KEY: key, GATEWAY_MODEL: 'gpt-test' };
    hosts().openai.script(script);

    const terminal = onTerminal(['send', 'hello', '--render']);
    await terminal.ended;
    const pipe = startProgram(['send', 'hello', '--render', '--no-stdin'], emptyDirectory(), env);

    expect(terminal.screen()).toBe('Title\n\nSome bold text.\n\n• one\n• two');
    expect(terminal.cellAt(2, 5)).toEqual({ text: 'b', isBold: true });
    expect((await pipe.ended).stdout).toBe(markdown);
  });
});
