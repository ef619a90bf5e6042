import type { Finding } from '../detector.ts';
import { joinOverlapping } from '../detector.ts';

/**
 * Soft hyphens, zero-width and direction marks, variation selectors, and the full-width forms of ASCII: a key that
 * contains them looks the same, and a model restores it.
 */
const disguise = /[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\uff01-\uff5e]|[\ufe00-\ufe0f]/;

/**
 * Runs `find` on the text and, if it contains invisible or full-width characters, also on a copy without them. Findings
 * are ranges in the original. Unlike in the folded view, case is kept.
 */
export function findThroughDisguise(
  text: string,
  find: (text: string) => readonly Finding[],
): readonly Finding[] {
  const found = find(text);
  if (!disguise.test(text)) return found;
  const { plain, places } = undisguise(text);
  const more = find(plain).map((finding) => ({
    ...finding,
    start: places[finding.start] ?? 0,
    end: (places[finding.end - 1] ?? 0) + 1,
  }));
  return joinOverlapping([...found, ...more]);
}

function isInvisible(code: number): boolean {
  if (code < 0x2000) return code === 0xad || code === 0x180e;
  if (code <= 0x2064)
    return (code >= 0x200b && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) || code >= 0x2060;
  return code === 0xfeff || (code >= 0xfe00 && code <= 0xfe0f);
}

function undisguise(text: string): { readonly plain: string; readonly places: Uint32Array } {
  const codes = new Uint16Array(text.length);
  const places = new Uint32Array(text.length);
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const isFullWidth = code >= 0xff01 && code <= 0xff5e;
    if (code > 0x7f && !isFullWidth && isInvisible(code)) continue;
    codes[length] = isFullWidth ? code - 0xfee0 : code;
    places[length] = index;
    length += 1;
  }
  return { plain: new TextDecoder('utf-16le').decode(codes.subarray(0, length)), places };
}
