import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Confidence,
  confidences,
  type Detector,
  defaultConfidence,
} from '../src/policy/detectors/detector.ts';
import { detectors } from '../src/policy/detectors/registry.ts';
import { createFold } from '../src/policy/fold/fold.ts';
import { type MatchRange, ViewedText } from '../src/policy/search/viewed-text.ts';

/** A text and what is in it: a line of a `.jsonl` file. A file of a folder is a text with nothing in it. */
export interface LabelledText {
  readonly text: string;
  /** What must be found, each whole. */
  readonly values?: readonly { readonly kind: string; readonly value: string }[];
  /** Where the text is from, for the list of false alarms. */
  readonly from?: string;
}

/** Of one kind, for each confidence that a rule may ask for. */
export interface Result {
  readonly kind: string;
  readonly asked: Confidence;
  readonly values: number;
  readonly found: number;
  /** Texts in which something was found that is not among the values of its kind. */
  readonly falseTexts: readonly string[];
}

const fold = createFold();

/** Runs every detector on some texts. Findings of a lower confidence include those of the higher ones. */
export function evaluate(texts: Iterable<LabelledText>): {
  readonly texts: number;
  readonly results: readonly Result[];
} {
  const counts = new Map<string, { values: number; found: number; falseTexts: string[] }>();
  const countOf = (kind: string, asked: Confidence) => {
    const key = `${kind} ${asked}`;
    const count = counts.get(key) ?? { values: 0, found: 0, falseTexts: [] };
    counts.set(key, count);
    return count;
  };
  let number = 0;
  for (const { text, values = [], from = `text ${number + 1}` } of texts) {
    number += 1;
    const viewed = new ViewedText(text, fold);
    for (const [kind, detector] of Object.entries<Detector>(detectors)) {
      const pattern = {
        kind: 'detector',
        name: kind,
        confidence: 'possible',
        detector: detector.possible ?? detector,
      } as const;
      const ranges = viewed.ranges(pattern);
      const own = values.filter((value) => value.kind === kind);
      if (ranges.length === 0 && own.length === 0) continue;
      for (const asked of confidences) {
        const sure = ranges.filter((range) => isAtLeast(range, asked));
        const count = countOf(kind, asked);
        const places = own.map(({ value }) => placesOf(text, value));
        count.values += own.length;
        count.found += places.filter(
          (all) => all.length > 0 && all.every((place) => isCovered(place, sure)),
        ).length;
        const stray = sure.find((range) => !places.flat().some((place) => overlaps(place, range)));
        if (stray !== undefined)
          count.falseTexts.push(
            `${from}: ${stray.why ?? kind} (${stray.confidence ?? defaultConfidence}) at ${stray.start}: ${JSON.stringify(text.slice(Math.max(0, stray.start - 30), stray.end + 5)).slice(0, 140)}`,
          );
      }
    }
  }
  const results = Array.from(counts, ([key, count]) => {
    const [kind = '', asked] = key.split(' ');
    return { kind, asked: asked as Confidence, ...count };
  });
  return { texts: number, results };
}

function isAtLeast({ confidence = defaultConfidence }: MatchRange, asked: Confidence): boolean {
  return confidences.indexOf(confidence) >= confidences.indexOf(asked);
}

interface Place {
  readonly start: number;
  readonly end: number;
}

function placesOf(text: string, value: string): readonly Place[] {
  const places: Place[] = [];
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + value.length)) {
    places.push({ start: at, end: at + value.length });
  }
  return places;
}

function isCovered(place: Place, ranges: readonly MatchRange[]): boolean {
  return ranges.some(({ start, end }) => start <= place.start && end >= place.end);
}

function overlaps(one: Place, other: Place): boolean {
  return one.start < other.end && other.start < one.end;
}

const longestFile = 1_000_000;

/** The texts of a `.jsonl` file, or the files of a folder, of which none is expected to hold anything. */
export function* readTexts(path: string): Generator<LabelledText> {
  if (!statSync(path).isDirectory()) {
    const lines = readFileSync(path, 'utf8').split('\n');
    for (const [index, line] of lines.entries()) {
      if (line.trim() !== '') yield parseLine(line, `${path}:${index + 1}`);
    }
    return;
  }
  for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' }).toSorted()) {
    const file = join(path, name);
    const { size } = statSync(file);
    if (!statSync(file).isFile() || size > longestFile) continue;
    const text = readFileSync(file, 'utf8');
    // Binary files have no text to search.
    if (!text.includes('\0')) yield { text, from: file };
  }
}

function parseLine(line: string, from: string): LabelledText {
  const problem = (what: string) =>
    new Error(`${from}: ${what}; expected {"text": …, "values": [{"kind": …, "value": …}]}`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    throw problem('not JSON');
  }
  const { text, values = [] } = Object(parsed) as Partial<LabelledText>;
  if (typeof text !== 'string' || !Array.isArray(values)) throw problem('no text');
  for (const { kind, value } of values) {
    if (!Object.hasOwn(detectors, String(kind))) throw problem(`no detector is named ${String(kind)}`);
    if (typeof value !== 'string' || !text.includes(value)) throw problem('a value that is not in the text');
  }
  return { text, values, from };
}

/** The report as a table, and under it the false alarms, some of each kind. */
export function renderReport({ texts, results }: ReturnType<typeof evaluate>, examples: number): string {
  const order = Object.keys(detectors);
  const rows = results.toSorted(
    (one, other) =>
      order.indexOf(one.kind) - order.indexOf(other.kind) ||
      confidences.indexOf(other.asked) - confidences.indexOf(one.asked),
  );
  const lines = rows.map(
    ({ kind, asked, values, found, falseTexts }) =>
      `| \`${kind}\` | ${asked} | ${found} | ${values - found} | ${falseTexts.length} |`,
  );
  const alarms = rows
    .filter(({ asked }) => asked === 'possible')
    .flatMap(({ falseTexts }) => falseTexts.slice(0, examples).map((place) => `  ${place}`));
  return [
    `${texts} texts`,
    '',
    '| kind | asked for | found | missed | texts with a false alarm |',
    '|---|---|---|---|---|',
    ...lines,
    ...(alarms.length === 0 ? [] : ['', 'false alarms:', ...alarms]),
    '',
  ].join('\n');
}
