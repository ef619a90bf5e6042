import ret, { type Set as CharacterSet, type Root, type Token, types } from 'ret';

// The package is CommonJS and exports the function itself, which its types don't reflect.
const parse = ret as unknown as typeof ret.default;

interface Lengths {
  readonly fewest: number;
  readonly most: number;
  /** Different numbers produce different texts, if the pattern allows more than one. */
  readonly variant: number;
}

const maxLength = 500;
const maxCharacters = 10_000;
// Tried in this order for negated sets.
const samples = [...'a0A-_ .@/:1bZ!#'].map((character) => character.charCodeAt(0));

/**
 * A text that the regular expression matches, built from its parts; undefined if it uses lookaround, back-references or
 * word boundaries, or if no text of the wanted length is found. The expression is never executed: it comes from the
 * client, and a hostile one could keep V8's engine busy for ever.
 */
export function buildMatching(pattern: string, { fewest, most, variant }: Lengths): string | undefined {
  const root = parsePattern(pattern);
  if (root === undefined) return undefined;
  // Repetitions are extended step by step until the text is long enough.
  let found = 0;
  for (let extra = 0; extra <= Math.min(fewest + variant, maxCharacters); extra += 1) {
    const text = write(root, extra);
    if (text === undefined) return undefined;
    if (text.length < fewest || text.length > most) continue;
    if (found === variant) return text;
    found += 1;
  }
  return undefined;
}

function parsePattern(pattern: string): Root | undefined {
  if (pattern.length > maxLength) return undefined;
  try {
    return parse(pattern);
  } catch {
    return undefined; // not a regular expression
  }
}

/** Uses the first of several alternatives; undefined if a part can't be generated. */
function write(token: Root | Token, extra: number): string | undefined {
  switch (token.type) {
    case types.ROOT:
      return writeAll(token.options?.[0] ?? token.stack ?? [], extra);
    case types.GROUP: {
      const looksAround = token.followedBy ?? token.notFollowedBy ?? token.lookBehind ?? false;
      return looksAround ? undefined : writeAll(token.options?.[0] ?? token.stack ?? [], extra);
    }
    case types.CHAR:
      return String.fromCharCode(token.value);
    case types.SET: {
      const code = pick(token);
      return code === undefined ? undefined : String.fromCharCode(code);
    }
    case types.REPETITION: {
      const piece = write(token.value, extra);
      const count = token.min + Math.min(extra, token.max - token.min);
      return piece === undefined || piece.length * count > maxCharacters ? undefined : piece.repeat(count);
    }
    case types.POSITION:
      return token.value === '^' || token.value === '$' ? '' : undefined;
    case types.REFERENCE:
      return undefined;
  }
}

function writeAll(tokens: readonly Token[], extra: number): string | undefined {
  let text = '';
  for (const token of tokens) {
    const piece = write(token, extra);
    if (piece === undefined || text.length + piece.length > maxCharacters) return undefined;
    text += piece;
  }
  return text;
}

function pick(set: CharacterSet): number | undefined {
  const [first] = set.set;
  if (set.not || first === undefined) return samples.find((code) => accepts(set, code));
  if (first.type === types.SET) return pick(first);
  return first.type === types.RANGE ? first.from : first.value;
}

function accepts({ set, not }: CharacterSet, code: number): boolean {
  const isListed = set.some((element) => {
    if (element.type === types.SET) return accepts(element, code);
    return element.type === types.RANGE ? element.from <= code && code <= element.to : element.value === code;
  });
  return isListed !== not;
}
