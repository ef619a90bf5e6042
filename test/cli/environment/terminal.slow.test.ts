import { mkdirSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { command } from '../../kit/command.ts';
import { startTerminal } from '../../kit/terminal.ts';
import { calls, type Invocation } from './invocations.ts';
import { useSandbox } from './workspace.ts';

const placeOf = useSandbox();
const columns = 20;

interface Dialogue {
  /** What is typed once this is shown. */
  readonly shown?: RegExp;
  readonly keys?: string;
  readonly exit?: number;
}

/** Commands that wait for a person or draw on a terminal themselves, and two that only print. */
const dialogues: Readonly<Record<string, Dialogue>> = {
  chat: { shown: />\s*$/, keys: '/exit\r' },
  'plants watch': { shown: /watching/, keys: '\x03', exit: 130 },
  serve: { shown: /plants/, keys: '\x03', exit: 0 },
  'plants serve': { shown: /docs/, keys: '\x03', exit: 0 },
  'key hash': { exit: 2 }, // it refuses a terminal
  doctor: {},
  models: {},
};

function homeOf(call: Invocation) {
  const place = placeOf(call);
  mkdirSync(place.home);
  return { work: place.work, env: { ...place.env, HOME: place.home } };
}

test.each(calls.filter(([name]) => name in dialogues))(
  'gateway %s on a terminal without UTF-8',
  async (name, call) => {
    const { shown, keys = '', exit = call.exit ?? 0 } = dialogues[name] ?? {};
    const { work, env } = homeOf(name === 'plants watch' ? { words: [] } : call);
    const terminal = startTerminal(call.words, {
      home: work,
      env: { ...env, LC_ALL: 'en_US.ISO-8859-1' },
      columns,
    });
    if (shown !== undefined) {
      await terminal.shows(shown).catch(() => undefined);
      terminal.type(keys);
    }

    const { exit: ended } = await terminal.ended;

    const raw = terminal.raw();
    const text = stripVTControlCharacters(raw);
    expect([ended, raw]).toEqual([exit, raw]);
    expect(text.match(/[^\u0000-\u007f]/g) ?? []).toEqual([]);
    expect(text).not.toMatch(/^\s+at .*:\d+:\d+\)?\r?$/m);
    expect(text).not.toMatch(/Unhandled|node:internal|the gateway failed|\[object /);
  },
);

test.each(calls.filter(([, { isTable }]) => isTable))(
  'the table of gateway %s gives up columns and whole words on a narrow terminal',
  async (_name, call) => {
    const { work, env } = homeOf(call);
    const argv = [...call.words, '-q']; // without a spinner

    const { exit, stdout } = await command(argv, { cwd: work, env, isTerminal: true, columns });

    expect(exit).toBe(call.exit ?? 0);
    const lines = stripVTControlCharacters(stdout).split('\n');
    // Only a single word may be wider than the terminal.
    for (const line of lines.filter(({ length }) => length > columns)) expect(line).toMatch(/^\S+$/);
  },
);
