import type { Effort } from '../conversation.ts';
import { wrongField } from '../fields.ts';

const efforts: readonly unknown[] = [
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] satisfies Effort[];

export function parseEffort(value: unknown, path: string): Effort | undefined {
  if (value === undefined || value === null) return undefined;
  if (!efforts.includes(value)) throw wrongField(path, `one of ${efforts.join(', ')}`);
  // `includes` has checked it, which the compiler can't see.
  return value as Effort;
}
