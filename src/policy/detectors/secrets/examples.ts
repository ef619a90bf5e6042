import { shapes } from '../shapes/find-shapes.ts';
import { isMarkedExample, isMarkedPlaceholder, isStockPassword } from './placeholder.ts';

/** Where keys with a prefix of their own begin. */
const anchors = [...new Set(shapes.filter(({ isUnique }) => isUnique).map(({ anchor }) => anchor))].filter(
  ({ length }) => length >= 3,
);
const token = /[\w+/.=-]{12,256}/g;
const named =
  /(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key)["']?\s{0,2}[:=]\s{0,2}["']?([^\s"',;]{4,64})/gi;

/**
 * Whether a text has a key or a password of documentation, which the detector passes over: people who try it with one
 * are to learn why.
 */
export function hasDocumentationExample(text: string): boolean {
  for (const [found] of text.matchAll(token)) {
    const isKey = anchors.some((anchor) => found.startsWith(anchor));
    if (isMarkedExample(found) || (isKey && isMarkedPlaceholder(found.slice(4)))) return true;
  }
  for (const [, value = ''] of text.matchAll(named)) {
    if (value.toLowerCase() === 'hunter2' || isStockPassword(value)) return true;
  }
  return false;
}
