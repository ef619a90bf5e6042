/**
 * Tracks whether a JSON object that arrives in pieces is complete, reading every character once. Assumes well-formed
 * JSON; for anything else the result is arbitrary.
 */
export function createJsonProgress() {
  let depth = 0;
  let hasBegun = false;
  let isInString = false;
  let isEscaped = false;

  function addCharacter(code: number): void {
    if (isInString) {
      if (isEscaped) isEscaped = false;
      else if (code === backslash) isEscaped = true;
      else if (code === quote) isInString = false;
      return;
    }
    if (code === quote) isInString = true;
    else if (code === openBrace || code === openBracket) {
      depth += 1;
      hasBegun = true;
    } else if (code === closeBrace || code === closeBracket) depth -= 1;
  }

  return {
    restart(): void {
      depth = 0;
      hasBegun = false;
      isInString = false;
      isEscaped = false;
    },
    add(piece: string): void {
      for (let index = 0; index < piece.length; index += 1) addCharacter(piece.charCodeAt(index));
    },
    isComplete: () => hasBegun && depth <= 0 && !isInString,
  };
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
