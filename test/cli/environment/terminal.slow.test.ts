import { mkdirSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startTerminal } from '../../kit/terminal.ts';
import { calls } from './invocations.ts';
import { useSandbox } from './workspace.ts';

// Every command on a terminal of 20 columns that has another encoding than UTF-8.

const placeOf = useSandbox();
const columns = 20;
/** Where a person is waited for, what they type once it is shown. */
const typed: Readonly<Record<string, { readonly shown: RegExp; readonly keys: string }>> = {
  chat: { shown: />\s*$/, keys: '/exit\r' },
  'plants watch': { shown: /watching/, keys: '\x03' },
  serve: { shown: /plants/, keys: '\x03' },
  'plants serve': { shown: /docs/, keys: '\x03' },
};
/** What reads standard input refuses a terminal, or takes what is typed for it. */
const exits: Readonly<Record<string, number>> = { 'key hash': 2, 'plants watch': 130 };

describe.each(calls)('gateway %s', (name, call) => {
  test('in 20 columns without UTF-8', async () => {
    const { isTable, exit = 0, stdin, isLoggedOut } = call;
    const place = placeOf(
      name === 'plants watch' ? { words: [] } : { ...call, ...(isLoggedOut && { isLoggedOut }) },
    );
    mkdirSync(place.home);
    const env = { ...place.env, HOME: place.home, LC_ALL: 'en_US.ISO-8859-1' };
    const terminal = startTerminal(call.words, { home: place.work, env, columns });
    const wait = typed[name];
    if (wait !== undefined) {
      await terminal.shows(wait.shown).catch(() => undefined);
      terminal.type(wait.keys);
    } else if (stdin !== undefined) terminal.type(`${stdin.replace('\n', '\r')}\x04`);

    const { exit: ended } = await terminal.ended;

    const raw = terminal.raw();
    const text = stripVTControlCharacters(raw);
    expect([ended, raw]).toEqual([exits[name] ?? exit, raw]);
    expect(text.match(/[^\u0000-\u007f]/g) ?? []).toEqual([]);
    expect(text).not.toMatch(/^\s+at .*:\d+:\d+\)?\r?$/m);
    expect(text).not.toMatch(/Unhandled|node:internal|the gateway failed|\[object /);
    if (!isTable) return;
    // A table gives up columns and whole words; only a single word may be wider than the terminal.
    for (const line of text.split(/\r?\n/)) if (line.length > columns) expect(line).toMatch(/^\S+$/);
  });
});
