import type { HeaderLine } from '../contract/exchange-detail.ts';
import { maskHeader } from './mask.ts';

type Scrub = (text: string) => string;

/** Received and sent headers, one line per name, in the order received; added ones come last. */
export function headerLines(
  received: readonly string[],
  sent: readonly string[] | undefined,
  scrub: Scrub,
): readonly HeaderLine[] {
  const came = byName(received);
  const left = byName(sent ?? []);
  return [...new Set([...came.keys(), ...left.keys()])].map((name) => {
    const one = mask(name, came.get(name), scrub);
    const other = mask(name, left.get(name), scrub);
    return {
      name,
      ...(one === undefined ? {} : { received: one.value }),
      ...(other === undefined ? {} : { sent: other.value }),
      masked: one?.masked === true || other?.masked === true,
    };
  });
}

function mask(name: string, value: string | undefined, scrub: Scrub) {
  return value === undefined ? undefined : maskHeader(name, value, scrub);
}

function byName(list: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (let i = 0; i < list.length; i += 2) {
    const name = (list[i] as string).toLowerCase();
    const before = values.get(name);
    const value = list[i + 1] as string;
    values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return values;
}
