import type { Finding } from '../detector.ts';

const fragments = ['ccess', 'CCESS'];
const shape =
  /secret[_-]?access[_-]?key["']?\s{0,4}(?:=>|[:=]|>)\s{0,4}["']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/iy;
const longestLead = 'secret-a'.length;

/**
 * AWS secret access keys: forty characters without a prefix, so only after their name. Secretlint's rule is not used:
 * it misses keys that end in "+" or "/" and reports the wrong range, so redaction would leave the end of the key.
 */
export function findAwsSecretKeys(text: string): readonly Finding[] {
  const findings: Finding[] = [];
  for (const fragment of fragments) addAfter(text, fragment, findings);
  return findings;
}

function addAfter(text: string, fragment: string, findings: Finding[]): void {
  for (let at = text.indexOf(fragment); at !== -1; at = text.indexOf(fragment, at + 1)) {
    const end = keyEnd(text, at);
    if (end === undefined) continue;
    const start = end - 40;
    if (!/example/i.test(text.slice(start, end)) && new Set(text.slice(start, end)).size > 12) {
      findings.push({ start, end });
    }
  }
}

/** The name begins seven or eight characters before the match, depending on whether it has a separator. */
function keyEnd(text: string, at: number): number | undefined {
  for (let lead = longestLead; lead >= longestLead - 1; lead -= 1) {
    shape.lastIndex = Math.max(0, at - lead);
    if (shape.test(text)) return shape.lastIndex;
  }
  return undefined;
}
