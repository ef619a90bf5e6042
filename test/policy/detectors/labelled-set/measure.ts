import type { Detector, Finding } from '../../../../src/policy/detectors/detector.ts';
import { labelledSets } from './registry.ts';
import type { LabelledClass, Sample } from './sample.ts';

export interface Score {
  readonly positives: number;
  readonly negatives: number;
  readonly found: number;
  /** Findings that cover no planted value, in positives and negatives alike. */
  readonly wrong: number;
  readonly precision: number;
  readonly recall: number;
  readonly missed: readonly Sample[];
  readonly mistaken: readonly Sample[];
}

/** A planted value counts as found only when findings cover it whole: redaction must leave nothing of it. */
export function scoreDetector(detector: Detector, { positives, negatives }: LabelledClass): Score {
  const missed: Sample[] = [];
  const mistaken: Sample[] = [];
  for (const sample of [...positives, ...negatives]) {
    const findings = detector.find(sample.text);
    const right = findings.filter((finding) => touches(sample, finding));
    if (sample.planted !== undefined && !covers(sample, right)) missed.push(sample);
    if (right.length < findings.length) mistaken.push(sample);
  }
  const found = positives.length - missed.length;
  const wrong = mistaken.length;
  return {
    positives: positives.length,
    negatives: negatives.length,
    found,
    wrong,
    precision: found / (found + wrong),
    recall: found / positives.length,
    missed,
    mistaken,
  };
}

function places({ text, planted }: Sample): readonly Finding[] {
  if (planted === undefined) return [];
  const found: Finding[] = [];
  for (let at = text.indexOf(planted); at !== -1; at = text.indexOf(planted, at + planted.length)) {
    found.push({ start: at, end: at + planted.length });
  }
  return found;
}

function touches(sample: Sample, finding: Finding): boolean {
  return places(sample).some((place) => finding.start < place.end && place.start < finding.end);
}

function covers(sample: Sample, findings: readonly Finding[]): boolean {
  const planted = places(sample);
  return (
    planted.length > 0 &&
    planted.every((place) => findings.some(({ start, end }) => start <= place.start && end >= place.end))
  );
}

/** The table of `docs/detectors.md`. */
export function scoreTable(): string {
  const rows = Object.entries(labelledSets).map(([name, { detector, label }]) => {
    const score = scoreDetector(detector, label());
    return `| \`${name}\` | ${score.positives} | ${score.negatives} | ${score.found} | ${score.wrong} | ${ratio(score.precision)} | ${ratio(score.recall)} |`;
  });
  return [
    '| detector | positives | negatives | found | wrong | precision | recall |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** Rounded down, so that no figure looks better than it is. */
function ratio(value: number): string {
  return (Math.floor(value * 10_000) / 10_000).toFixed(4);
}
