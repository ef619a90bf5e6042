import type { HeaderLine, ShownMatch, TextRange } from '../contract/exchange-detail.ts';
import type { Scrub } from './answer-parts.ts';
import { hideHeader, outlineText } from './hide.ts';

const maxExcerptLength = 160;
/** Before a match that is not at the beginning. */
const lead = 40;

/** What is shown of a text that matched: its beginning, or what is around the first match; as its shape. */
export function toExcerpt(
  text: string,
  ranges: readonly TextRange[] = [],
): Pick<ShownMatch, 'excerpt' | 'excerpt_ranges'> {
  const inside = ranges.filter(({ start, end }) => start < end && end <= text.length);
  const { start: first, end: firstEnd } = inside[0] ?? { start: 0, end: 0 };
  const from = firstEnd > maxExcerptLength ? wholeCharacter(text, Math.max(0, first - lead)) : 0;
  const to = wholeCharacter(text, Math.min(text.length, from + maxExcerptLength));
  const [before, after] = [from > 0 ? '…' : '', to < text.length ? '…' : ''];
  // From further left, so that a truncated word shows none of its inner letters.
  const window = wholeCharacter(text, Math.max(0, from - maxExcerptLength));
  const excerpt = before + outlineText(text.slice(window, to)).slice(from - window) + after;
  const moved = before.length - from;
  const shown = inside
    .filter(({ start }) => start < to)
    .map(({ start, end }) => ({ start: start + moved, end: Math.min(end, to) + moved }));
  return shown.length === 0 ? { excerpt } : { excerpt, excerpt_ranges: shown };
}

/** The offset, or the previous one if it would split a surrogate pair. */
function wholeCharacter(text: string, offset: number): number {
  const code = text.charCodeAt(offset);
  return code >= 0xdc00 && code < 0xe000 && offset > 0 ? offset - 1 : offset;
}

/** Received and sent headers, one line per name, in the order received; added ones come last. */
export function headerLines(
  received: readonly string[],
  sent: readonly string[] | undefined,
  scrub: Scrub,
): readonly HeaderLine[] {
  const came = byName(received);
  const left = byName(sent ?? []);
  return [...new Set([...came.keys(), ...left.keys()])].map((name) => {
    const one = hide(name, came.get(name), scrub);
    const other = hide(name, left.get(name), scrub);
    return {
      name,
      received: one?.value,
      sent: other?.value,
      hidden: one?.hidden === true || other?.hidden === true,
    };
  });
}

function hide(name: string, value: string | undefined, scrub: Scrub) {
  return value === undefined ? undefined : hideHeader(name, value, scrub);
}

/** Names in lower case; the values of one name as a list. */
export function byName(list: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (let i = 0; i < list.length; i += 2) {
    const name = (list[i] as string).toLowerCase();
    const before = values.get(name);
    const value = list[i + 1] as string;
    values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return values;
}
