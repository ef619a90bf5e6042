import { gzipSync } from 'node:zlib';
import { dialectNames } from '../../kit/dialects.ts';
import { type Bypass, blocked, codename, escaped, saying } from './case.ts';

const card = { status: 403, reason: 'content.credit_card' };

/** The same request in other bytes; what of them no request is, the tests of http, json and dialects have. */
export const otherBytes: readonly Bypass[] = dialectNames.flatMap((endpoint) => {
  const text = JSON.stringify(saying(endpoint, codename));
  const chunk = (part: string) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`;
  const make = (name: string, raw: string | Buffer, more: Partial<Bypass> = {}): Bypass => ({
    ...{ name: `${endpoint}: ${name}`, endpoint, raw, expect: blocked },
    ...more,
  });
  const said = (name: string, words: string, expect = blocked) =>
    make(name, JSON.stringify(saying(endpoint, words)), { expect });
  const gzip = { headers: ['Content-Encoding: gzip'] };
  const chunked = 'Transfer-Encoding: chunked';
  const halves = [text.slice(0, 9), text.slice(9)].map((half) => gzipSync(half));
  // biome-ignore format: a case a line
  return [
    make('gzip', gzipSync(text), gzip),
    make('gzip of two members', Buffer.concat(halves), gzip),
    make('every letter as an escape', text.replace(codename, escaped(codename))),
    make('an unpaired surrogate in escapes', text.replace('project', 'pro\\ud800ject')),
    make('white space around all', ` \r\n\t${text.replaceAll('":', '" : ')}\n\n`),
    make('chunks of a byte each', `${[...text].map(chunk).join('')}0\r\n\r\n`, { framing: [chunked] }),
    make('chunks with extensions', `${text.length.toString(16)};x\r\n${text}\r\n0\r\n\r\n`, { framing: [chunked] }),
    make('trailers', `${chunk(text)}0\r\nx-api-key: other\r\n\r\n`, { framing: [chunked, 'Trailer: x-api-key'] }),
    make('waiting for a 100', text, { headers: ['Expect: 100-continue'] }),
    make('an upgrade to h2c', text, { headers: ['Connection: Upgrade', 'Upgrade: h2c'] }),
    said('full width', 'ｐｒｏｊｅｃｔ ｎｉｇｈｔｆａｌｌ'),
    said('look-alikes and what is not seen', 'рrо\u200bjесt nіght\u00adfаll'),
    said('digits of Arabic', 'card ٤١١١ ١١١١ ١١١١ ١١١١', card),
  ];
});
