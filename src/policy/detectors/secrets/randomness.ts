import { isDigit, isLatinLetter } from '../text/characters.ts';

const commonPairs =
  'th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ne ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ld ry mp fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ov rm ep tt oc fa ef cu rn sc da cr cl du qu ue ba um pp lu go ht';

/** Whether each pair of letters is among the most common in English. */
const isCommon = new Uint8Array(32 * 32);
for (const pair of commonPairs.split(' ')) isCommon[pairAt(pair, 0)] = 1;

function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at) & 31) << 5) | (text.charCodeAt(at + 1) & 31);
}

/**
 * Whether a text looks random. Names and words, in any case and with any separators, consist of common pairs of
 * letters, while only one in five random pairs is common; and names and words don't mix letters and digits.
 */
export function looksRandom(text: string): boolean {
  return isRandom(statisticsOf(text), text);
}

/** Whether a text looks random, with too few common pairs of letters to contain words. */
export function looksRandomThroughout(text: string): boolean {
  const statistics = statisticsOf(text);
  const holdsWords = statistics.pairs >= 6 && statistics.common >= statistics.pairs * 0.6;
  return !holdsWords && isRandom(statistics, text);
}

function isRandom(
  { pairs, common, digits, changes }: ReturnType<typeof statisticsOf>,
  text: string,
): boolean {
  if (changes >= Math.max(4, text.length / 6)) return true;
  return pairs < 4 ? digits >= 3 : common < pairs * 0.55;
}

/** Whether a text has only letters of one case (the first may be a capital), in pairs that are common in words. */
export function looksLikeWord(text: string): boolean {
  if (!/^(?:[A-Z]?[a-z]{3,}|[A-Z]{4,})$/.test(text)) return false;
  const { pairs, common } = statisticsOf(text);
  return common >= pairs * 0.5;
}

/** Counts letter pairs, common pairs, digits, and changes between letters and digits. */
function statisticsOf(text: string) {
  let [pairs, common, digits, changes] = [0, 0, 0, 0];
  let previousCode = 0;
  let previousKind = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = code < 128 ? (kinds[code] as number) : 0;
    if (kind === digit) digits += 1;
    if (kind !== 0 && previousKind !== 0) {
      if (kind !== previousKind) changes += 1;
      else if (kind === letter) {
        pairs += 1;
        common += isCommon[((previousCode & 31) << 5) | (code & 31)] as number;
      }
    }
    previousCode = code;
    previousKind = kind;
  }
  return { pairs, common, digits, changes };
}

const digit = 1;
const letter = 2;
const kinds = Uint8Array.from({ length: 128 }, (_, code) =>
  isDigit(code) ? digit : isLatinLetter(code) ? letter : 0,
);
