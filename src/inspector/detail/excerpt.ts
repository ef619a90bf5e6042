import type { RuleMatch } from '../contract/exchange-detail.ts';
import type { TextRange } from './locate.ts';
import { maskText } from './mask.ts';

const longestExcerpt = 160;
/** Before a match that is not at the beginning. */
const lead = 40;

/** What is shown of a text that matched: its beginning, or what is around the first match; masked. */
export function toExcerpt(
  text: string,
  range: TextRange | undefined,
): Pick<RuleMatch, 'excerpt' | 'excerpt_range'> {
  const isInside = range !== undefined && range.start < range.end && range.end <= text.length;
  const from =
    isInside && range.end > longestExcerpt ? wholeCharacter(text, Math.max(0, range.start - lead)) : 0;
  const to = wholeCharacter(text, Math.min(text.length, from + longestExcerpt));
  const [before, after] = [from > 0 ? '…' : '', to < text.length ? '…' : ''];
  // Masked from further left, so that a truncated word shows none of its inner letters.
  const window = wholeCharacter(text, Math.max(0, from - longestExcerpt));
  const excerpt = before + maskText(text.slice(window, to)).slice(from - window) + after;
  if (!isInside) return { excerpt };
  const start = range.start - from + before.length;
  const end = Math.min(range.end, to) - from + before.length;
  return { excerpt, excerpt_range: { start, end } };
}

/** The offset, or the previous one if it would split a surrogate pair. */
function wholeCharacter(text: string, offset: number): number {
  const code = text.charCodeAt(offset);
  return code >= 0xdc00 && code < 0xe000 && offset > 0 ? offset - 1 : offset;
}
