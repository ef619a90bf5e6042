// A harmless conversation, and bodies made to be slow, all of about the same size.
import { conversation } from './policy-bodies.mjs';

export const saying = (content, more = {}) =>
  JSON.stringify({ model: 'sandbox-mini', max_tokens: 1, messages: [{ role: 'user', content }], ...more });
const allCharacters = Array.from({ length: 60_000 }, (_, at) => String.fromCodePoint(0xa0 + at))
  .filter((each) => !/\p{Cs}/u.test(each))
  .join('')
  .repeat(9);
const list = (count, make) => Array.from({ length: count }, (_, at) => make(at));
const nest = (depth, inner) => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;

/**
 * Each makes a body around a mark that no earlier one had, so that nothing of it is known. `blocked` are for rules that only
 * read; of `redactable` parts are replaced, and the result is judged again.
 */
export function hostileBodies(size) {
  /** As many of a unit as make a text of the size, behind a mark that no earlier round had. */
  const fill = (unit, mark) =>
    `${mark} ${unit.repeat(Math.ceil(size / Buffer.byteLength(JSON.stringify(unit).slice(1, -1))))}`;
  const blocked = {
    harmless: (mark) => JSON.stringify(marked(conversation(size), mark)),
    'combining marks, one of each': (mark) => saying(fill('a\u0301\u0323', mark)),
    'combining marks, alternating': (mark) => saying(`${mark} a${'\u0301\u0323'.repeat(size / 4)}`),
    'combining marks of one letter': (mark) => saying(`${mark} a${'\u0335'.repeat(size / 2)}`),
    'U+FDFA, which folds to eighteen': (mark) => saying(fill('\ufdfa', mark)),
    'Hangul jamo': (mark) => saying(fill('\u1112\u1161\u11ab', mark)),
    'format characters': (mark) => saying(fill('p\u200br\u200do\u2060', mark)),
    'tags of another plane': (mark) => saying(fill('\u{e0061}\u{e0062}', mark)),
    'white space': (mark) => saying(fill(' \t', mark)),
    'deep nesting, 99 levels': (mark) =>
      `{"model":"sandbox-mini","messages":[],"x":[${list(size / 200, () => nest(97, '')).join()}],"y":"${mark}"}`,
    'deep nesting, refused': () => `{"model":"sandbox-mini","messages":${'['.repeat(size)}`,
    'a run of digits': (mark) => saying(fill('7', mark)),
    'digits in groups': (mark) => saying(fill('4111 1111 1111 1112 ', mark)),
    'digits with hyphens': (mark) => saying(fill('4111-1111-', mark)),
    'numbers of 400 digits': (mark) =>
      saying('x', { x: `${mark}`, y: 0 }).replace(
        '"y":0',
        `"y":[${list(size / 300, () => '9'.repeat(299)).join()}]`,
      ),
    'many keys': (mark) =>
      saying('x', { x: Object.fromEntries(list(size / 10, (at) => [`k${mark}${at}`, 1])) }),
    'many keys, one duplicated': () =>
      `${saying('x').slice(0, -1)},"x":{${list(size / 10, (at) => `"k${at}":1`).join()},"k0":2}}`,
    'many escaped keys': () =>
      `${saying('x').slice(0, -1)},"x":{${list(size / 10, (at) => `"\\u006b${at}":1`).join()}}}`,
    'for (a+)+$': (mark) => saying(`${fill('a', mark)}!`),
    'for (a|aa)+b': (mark) => saying(fill('a', mark)),
    'for (x+x+)+y': (mark) => saying(fill('x', mark)),
    'for (.*)*needle': (mark) => saying(fill('needl', mark)),
    'beginnings of phrases': (mark) => saying(fill('project nightfal project night ', mark)),
    'at signs': (mark) => saying(fill('a@b.', mark)),
    'beginnings of keys': (mark) => saying(fill('sk-ant-api03-', mark)),
    'almost-keys of words': (mark) => saying(fill('acme_live_thisIsTheNameOfAThing2 ', mark)),
    'parts joined by colons': (mark) => saying(fill('0a1b2c3d4e5f60718293a4b5:', mark)),
    'names of secrets': (mark) => saying(fill('api_key:', mark)),
    'parts of one long name': (mark) => saying(fill('pass-', mark)),
    'secrets that are calls': (mark) => saying(fill('password = getThePassword ', mark)),
    'beginnings of private keys': (mark) => saying(fill('-----BEGIN PRIVATE KEY-----', mark)),
    'escapes only': (mark) => saying(`${mark}@`).replace('@', '\\u0061'.repeat(size / 6)),
    'a letter per block': (mark) =>
      saying(list(size / 26, (at) => ({ type: 'text', text: 'abcdefghij'[(at + mark) % 10] }))),
    'a number per block': (mark) =>
      saying(list(size / 34, (at) => ({ type: 'text', text: `${mark}${at + 10_000}q` }))),
    'all characters': (mark) => saying(`${mark} ${allCharacters.slice(0, size / 3)}`),
    'a digit per block': (mark) =>
      saying(list(size / 26, (at) => ({ type: 'text', text: String((at + mark) % 10) }))),
    'a letter per turn': (mark) =>
      saying('x', {
        messages: list(size / 30, (at) => ({ role: 'user', content: 'abcdefghij'[(at + mark) % 10] })),
      }),
    'JSON in JSON': (mark) => saying(jsonInJson(`${mark}`, size)),
    'unclosed lists in a text': (mark) => saying(`${'['.repeat(size / 2)}${mark}"\\"`),
    'many texts of JSON': (mark) =>
      saying(list(size / 40, (at) => ({ type: 'text', text: `{"a":"${mark}${at}\\n"}` }))),
    'data URLs in data URLs': (mark) => saying(`${'data:,'.repeat(size / 6)}${mark}`),
    'percent signs in a data URL': (mark) => saying(`data:text/plain,${mark}${'%41'.repeat(size / 3)}`),
    'base64 of text': (mark) =>
      saying(
        `data:text/plain;base64,${Buffer.from(fill('the gateway should stream ', mark)).toString('base64').slice(0, size)}`,
      ),
    'base64 of binary data': (mark) =>
      saying(`data:text/plain;base64,${Buffer.alloc(size * 0.7, 0x80 + mark).toString('base64')}`),
    'tools with large schemas': (mark) =>
      saying('x', {
        tools: [
          {
            name: `t${mark}`,
            input_schema: {
              properties: Object.fromEntries(
                list(size / 60, (at) => [`p${at}`, { type: 'string', description: 'a value' }]),
              ),
            },
          },
        ],
      }),
  };

  const redactable = {
    'harmless, nothing to redact': blocked.harmless,
    'a card in a block of its own': (mark) =>
      saying([
        { type: 'text', text: fill('the gateway should stream ', mark) },
        { type: 'text', text: '4111 1111 1111 1111' },
      ]),
    'addresses in one text, up to the limit': (mark) =>
      saying(`${fill('the gateway should stream ', mark)}${' c@d.example,'.repeat(size / 110)}`),
    'addresses that are excepted': (mark) =>
      saying(`${fill('the gateway should stream ', mark)}${' a@b.example,'.repeat(size / 110)}`),
    'an address per block': (mark) =>
      saying(list(size / 60, (at) => ({ type: 'text', text: `write to u${mark}x${at}@d.example` }))),
    'as many blocks, nothing to redact': (mark) =>
      saying(list(size / 60, (at) => ({ type: 'text', text: `write to u${mark}x${at} d.example` }))),
  };
  return { blocked, redactable };
}

/** The same with a mark in every text, so that nothing of it is known from the round before. */
function marked(body, mark) {
  const inText = (block) => {
    if (typeof block.text === 'string') return { ...block, text: `${mark} ${block.text}` };
    return Array.isArray(block.content) ? { ...block, content: block.content.map(inText) } : block;
  };
  const messages = body.messages.map((message) => ({
    ...message,
    content: typeof message.content === 'string' ? `${mark} ${message.content}` : message.content.map(inText),
  }));
  return { ...body, model: 'sandbox-mini', messages };
}

function jsonInJson(text, length) {
  let json = JSON.stringify({ a: text.padEnd(length / 30, ' "quoted" ') });
  while (Buffer.byteLength(json) < length / 2) json = JSON.stringify({ a: json });
  return json;
}
