import { parseStrictJson } from '../../json/strict-json.ts';

/**
 * What JSON and YAML read differently, or might: other characters, white space between a key and its colon, keys that
 * mean something else.
 */
const unusual = /[^\n\r -~]|\r(?!\n)|\\[^"\\/bfnrt]|"[ \r\n]+:|"(?:__proto__|<<)"/;

/** YAML finds no longer key on a line (https://yaml.org/spec/1.2.2/#742-flow-mappings). */
const maxKeyLength = 1_000;

/**
 * The value of a text that is JSON, and that YAML reads the same, in a twentieth of the time. Undefined for everything
 * else.
 */
export function parseYamlJson(text: string): { readonly value: unknown } | undefined {
  if (!text.startsWith('{') || unusual.test(text)) return undefined;
  try {
    // It refuses what is there twice.
    const document = parseStrictJson(Buffer.from(text, 'latin1'));
    for (let at = 0; at < document.count; at += 1) {
      if (document.isKey(at) && document.end(at) - document.start(at) > maxKeyLength) return undefined;
    }
    return { value: JSON.parse(text) };
  } catch {
    return undefined; // the parser of YAML says what is wrong
  }
}
