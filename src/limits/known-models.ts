import type { Price } from './price.ts';

/** What is known of a model without any configuration. */
export interface KnownModel {
  readonly price: Price;
  readonly maxOutputTokens: number;
}

export function knownModel(_name: string): KnownModel | undefined {
  return undefined;
}
