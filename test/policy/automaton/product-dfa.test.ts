import { expect, test } from 'vitest';
import { LazyDfa } from '../../../src/policy/automaton/lazy-dfa.ts';
import { Nfa } from '../../../src/policy/automaton/nfa.ts';
import { ProductDfa } from '../../../src/policy/automaton/product-dfa.ts';

function automatonOf(phrase: string, limits: { readonly cellLimit?: number } = {}): LazyDfa {
  const nfa = new Nfa();
  nfa.addPhrase(phrase, 0);
  return new LazyDfa({ nfa, ...limits });
}

test('a pair is found again if creating it restarts its table of states', () => {
  // Room for four states: those of "abc" fill it, and so do those of "def" after them.
  const pairs = new ProductDfa(automatonOf('abcdef', { cellLimit: 1 }), automatonOf('z'));
  const read = (from: ReturnType<typeof pairs.at>, text: string) =>
    [...Buffer.from(text)].reduce((pair, byte) => pairs.next(pair, byte), from);
  const before = read(pairs.at(pairs.start()), 'abc');
  read(before, 'dex');

  const again = pairs.live(before);

  expect([...again.exact.threads]).toEqual([...before.exact.threads]);
});
