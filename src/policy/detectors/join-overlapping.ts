import { type Finding, isSurer } from './detector.ts';

/** Findings, or ranges, in order; overlapping ones become one, as sure as the surer of them. */
export function joinOverlapping(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length < 2) return findings;
  const joined: Finding[] = [];
  for (const finding of findings.toSorted((one, other) => one.start - other.start)) {
    const last = joined.at(-1);
    if (last === undefined || finding.start >= last.end) joined.push(finding);
    else if (finding.end > last.end || isSurer(finding, last)) {
      const end = Math.max(last.end, finding.end);
      joined[joined.length - 1] = { ...(isSurer(finding, last) ? finding : last), start: last.start, end };
    }
  }
  return joined;
}
