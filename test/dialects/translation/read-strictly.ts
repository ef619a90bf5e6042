import { expect } from 'vitest';
import type { TextDialectName } from '../../../src/dialects/registry.ts';
import { readChat } from './strictly/chat.ts';
import { readGemini } from './strictly/gemini.ts';
import { readMessages } from './strictly/messages.ts';
import type { Outcome, WireEvent } from './strictly/outcome.ts';
import { readResponses } from './strictly/responses.ts';

/**
 * Splits text of the strictest form: optional event line, one data line, blank line. Comments are dropped, but not for
 * Google's SDKs, which take one for a part of the next event; blank lines are nothing to them. An object that stands where an
 * event should is one with an empty name, as Google's SDKs find errors.
 */
function parseStrictly(client: TextDialectName, text: string): { events: WireEvent[]; isDone: boolean } {
  if (text === '') return { events: [], isDone: false };
  expect(text.endsWith('\n\n')).toBe(true);
  let isDone = false;
  const events = text
    .slice(0, -2)
    .split('\n\n')
    .filter((block) => (client === 'gemini' ? block !== '' : !block.startsWith(':')))
    .flatMap((block) => {
      if (block.startsWith('{')) return [{ name: '', data: JSON.parse(block) }];
      const match = /^(?:event: (?<name>[\w.]+)\n)?data: (?<data>[^\n]+)$/.exec(block);
      expect(match, block).not.toBeNull();
      expect(isDone, 'nothing may follow [DONE]').toBe(false);
      if (match?.groups?.data === '[DONE]') {
        isDone = true;
        return [];
      }
      return [{ name: match?.groups?.name, data: JSON.parse(match?.groups?.data ?? '') }];
    });
  return { events, isDone };
}

/** Reads a client's stream by every rule of its dialect and fails where one is broken. */
export function readStrictly(client: TextDialectName, text: string): Outcome {
  const { events, isDone } = parseStrictly(client, text);
  if (client === 'chat') return readChat(events, isDone);
  expect(isDone).toBe(false);
  return readers[client](events);
}

const readers = { messages: readMessages, responses: readResponses, gemini: readGemini };
