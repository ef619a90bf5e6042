const shownCharacters = 4;
const leastLength = 12;

/** Of a secret only its beginning, by which its owner can recognize it. */
export function shorten(secret: string): string {
  return `${secret.length < leastLength ? '' : secret.slice(0, shownCharacters)}…`;
}

/** Words that begin as vendors' keys and logins do, wherever somebody has put them. */
const token = /(?<![A-Za-z])(?:sk-|gw_|eyJ)[\w.-]{16,}/g;

export function maskTokens(value: string): string {
  return value.replace(token, shorten);
}
