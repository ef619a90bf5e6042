import { createRandom as createGenerator } from '../../../kit/random.ts';

/** A seeded source of choices, so that the labelled set is the same on every machine. */
export interface Random {
  /** A whole number from `least` to `most`, both included. */
  number(least: number, most: number): number;
  pick<T>(choices: readonly T[]): T;
  /** As many characters of the alphabet. */
  text(length: number, alphabet: string): string;
  digits(length: number): string;
  hex(length: number): string;
  chance(ofHundred: number): boolean;
}

export const lower = 'abcdefghijklmnopqrstuvwxyz';
export const upper = lower.toUpperCase();
export const decimal = '0123456789';
export const base62 = decimal + upper + lower;
export const base64 = `${base62}+/`;
export const base64url = `${base62}-_`;

export function createRandom(seed: number): Random {
  const { next } = createGenerator(seed);
  const number = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  const text = (length: number, alphabet: string) => {
    let result = '';
    for (let count = 0; count < length; count += 1) result += alphabet.charAt(number(0, alphabet.length - 1));
    return result;
  };
  return {
    number,
    text,
    pick: (choices) => {
      const choice = choices[number(0, choices.length - 1)];
      if (choice === undefined) throw new Error('nothing to pick from');
      return choice;
    },
    digits: (length) => text(length, decimal),
    hex: (length) => text(length, '0123456789abcdef'),
    chance: (ofHundred) => number(1, 100) <= ofHundred,
  };
}
