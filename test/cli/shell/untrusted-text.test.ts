import { beforeAll, describe, expect, test } from 'vitest';
import { command, failure } from '../../kit/command.ts';
import { startHost } from '../../kit/host.ts';

// A host that puts control sequences wherever it may put words: C0, C1 and direction controls.

const evil = 'A\u001b[31mB\u001b]0;title\u0007\u009b31mC\u202eD\u0008';
const control = /\u001b\[31m|\u001b\]|\u0007|\u0008|\u009b|\u202e/;

const plant = { id: 1, name: evil, status: evil, tags: [evil], category: evil };
const choice = { index: 0, message: { role: 'assistant', content: evil }, finish_reason: evil };
const completion = {
  id: evil,
  model: evil,
  choices: [choice],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
};
const model = { id: evil, provider: evil, status: evil, endpoints: [evil] };

function answerTo(url: string, isRefused: boolean): object {
  if (isRefused) return { error: { type: evil, reason: evil, message: evil } };
  if (url.startsWith('/v3')) return url.includes('/search') ? [plant] : plant;
  return url.includes('models') ? { object: 'list', data: [model] } : completion;
}

let env: Readonly<Record<string, string>> = {};
beforeAll(async () => {
  const { url } = await startHost((response, { target, body }) => {
    const isRefused = body.includes('"refuse"');
    const headers = { 'content-type': 'application/json', 'x-request-id': 'req_1' };
    response.writeHead(isRefused ? 403 : 200, headers).end(JSON.stringify(answerTo(target, isRefused)));
  });
  env = {
    GATEWAY_URL: url,
    GATEWAY_KEY: 'k',
    PLANTS_URL: `${url}/v3`,
    PLANTS_TOKEN: 't',
    GATEWAY_MODEL: 'm',
    NO_COLOR: '1',
  };
});

describe('on a terminal control characters are made visible', () => {
  test.each([
    ['an answer', ['send', 'x', '--no-stream', '--usage']],
    ['an answer in JSON', ['send', 'x', '-o', 'json']],
    ['an answer in YAML', ['send', 'x', '-o', 'yaml']],
    ['what jq prints', ['send', 'x', '--jq', '.text']],
    ['what a template prints', ['models', '--output-template', '{{ id }}']],
    ['a refusal', ['send', 'refuse', '-m', 'refuse', '-v']],
    ['a refusal in JSON', ['send', 'refuse', '-m', 'refuse', '-o', 'json']],
    ['models', ['models']],
    ['models in JSON', ['models', '-o', 'json']],
    ['plants', ['plants', 'search']],
    ['plants in JSON', ['plants', 'search', '-o', 'json']],
    ['an unknown command', [evil]],
    ['a wrong value', ['send', 'x', '--max-tokens', evil]],
  ])('%s', async (_name, argv) => {
    const { stdout, stderr } = await command(argv, { env, isTerminal: true, columns: 200 });

    expect(stdout + stderr).toContain('A');
    expect(stdout + stderr).not.toMatch(control);
  });

  test.each([
    ['config check', ['config', 'check'], 2],
    ['config path', ['config', 'path'], 0],
    ['doctor', ['doctor'], 1],
  ])('the name of a file, in %s', async (_name, argv, exit) => {
    const file = 'a\u001b[31mb/gateway.yaml';
    const files = { [file]: 'nonsense: 1\n' };
    const environment = { files, env: { NO_COLOR: '1' }, isTerminal: true, columns: 200 };

    const ended = await command(['-c', file, ...argv, '-q'], environment);

    expect(ended.exit).toBe(exit);
    expect(ended.stdout + ended.stderr).toContain('a␛[31mb');
    expect(ended.stdout + ended.stderr).not.toMatch(control);
  });

  test('a pipe gets them as they are', async () => {
    expect(await command('send x --no-stream --no-stdin', { env, stdin: '' })).toMatchObject({
      stdout: `${evil}\n`,
    });
  });
});

test.each([
  ['GATEWAY_KEY', 'send hi'],
  ['PLANTS_TOKEN', 'plants search'],
])('a line end in %s is named, not taken for a dead host', async (name, line) => {
  const ended = await command(line, { env: { ...env, [name]: 'secret\r\n' } });

  expect(ended).toEqual(failure(2, `${name} contains a space, a line end`));
  expect(ended.stderr).not.toContain('secret');
});
