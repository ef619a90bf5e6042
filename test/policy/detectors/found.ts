import type { Detector } from '../../../src/policy/detectors/detector.ts';

/** The parts of a text that a detector finds. */
export function found(detector: Detector, text: string): readonly string[] {
  return detector.find(text).map(({ start, end }) => text.slice(start, end));
}
