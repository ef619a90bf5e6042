import { describe, expect, test } from 'vitest';
import { emptyDirectory } from '../../kit/command.ts';
import { useGateway } from '../../kit/lifecycle.ts';
import { startTerminal } from '../../kit/terminal.ts';

const sandbox = useGateway();
const reply = 'The sandbox read: "hello". It works offline and always replies the same way.';

function onTerminal(argv: readonly string[], columns = 80) {
  const { url, key } = sandbox();
  const env = { GATEWAY_URL: url, GATEWAY_KEY: key, GATEWAY_MODEL: 'sandbox-mini' };
  return startTerminal(argv, { home: emptyDirectory(), env, columns });
}

describe('send on a terminal', () => {
  test('shows the answer', async () => {
    const terminal = onTerminal(['send', 'hello']);

    expect(await terminal.ended).toEqual({ exit: 0, signal: 0 });
    expect(terminal.screen()).toBe(reply);
  });

  test('Ctrl-C ends it with 130', async () => {
    const terminal = onTerminal(['send', 'hello', '-m', 'sandbox-slow']);
    await terminal.shows('01 02');

    terminal.type('\x03');

    expect(await terminal.ended).toMatchObject({ exit: 130 });
  });
});
