import * as z from 'zod';
import { durationPattern, parseDuration } from '../../lib/duration.ts';
import { reaching } from './reach.ts';
import { parseMemorySize, parseSize, sizePattern } from './units.ts';

// The texts and numbers a configuration is made of, each with the words for what was expected.

const passwordHint = 'in a password # / ? @ % are %23 %2F %3F %40 %25';

export const nameSchema = reaching(
  'nothing',
  z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
      'expected a name of at most 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit',
    ),
);

export const modelName = reaching(
  'nothing',
  z
    .string()
    .regex(
      /^(?! )[A-Za-z0-9._:/@+#()[\] -]{1,200}(?<! )$/,
      'expected a model name: letters, digits, . _ : / @ + - # ( ) [ ] and blanks inside',
    ),
);

export const modelGlob = reaching(
  'nothing',
  z
    .string()
    .regex(
      /^(?! )[A-Za-z0-9._:/@+#()[\] *-]{1,200}(?<! )$/,
      'expected a model name or pattern: letters, digits, . _ : / @ + - # ( ) [ ], blanks inside, and * for any run of characters',
    ),
);

export const httpUrl = z
  .string()
  .regex(/^https?:\/\/[^/\s]/, { error: 'expected an http:// or https:// URL', abort: true })
  .refine((text) => URL.canParse(text), { error: 'expected a URL', abort: true })
  .refine((text) => !/^[^/]*\/\/[^/]*@/.test(text), 'a URL here must not hold credentials; use api_key')
  .refine((text) => !/[?#]/.test(text), 'a URL here must have neither a query nor a fragment');

export const proxyUrl = reaching(
  'proxy',
  z
    .string()
    .refine(
      (text) => text === 'none' || isProxyUrl(text),
      'expected none or the http:// or https:// URL of a proxy; in a password # / ? @ are %23 %2F %3F %40',
    ),
);

/** Whether it is the URL of a proxy, and no part of a password stands after the host. */
export function isProxyUrl(text: string): boolean {
  return /^https?:\/\/[^/\s]/i.test(text) && hasWholePassword(text);
}

/** Whether it is a URL, and no part of a password stands after the host. */
function hasWholePassword(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { pathname, search, hash } = new URL(text);
  return !`${pathname}${search}${hash}`.includes('@');
}

/** The same, where a library fails on a percent sign that encodes nothing. */
function isDecodable(text: string): boolean {
  if (!hasWholePassword(text)) return false;
  const { username, password } = new URL(text);
  try {
    return decodeURIComponent(`${username}${password}`) !== undefined;
  } catch {
    return false; // URIError
  }
}

const redisNumber = /^\/?\d{0,5}$/;

/** `memory`, or the URL of a Redis. */
export const stateUrl = z
  .string()
  .regex(/^memory$|^rediss?:\/\/\S+$/, {
    error: 'expected memory or redis://USER:PASSWORD@HOST:PORT/NUMBER',
    abort: true,
  })
  .refine((text) => text === 'memory' || isDecodable(text), {
    error: `expected a URL: ${passwordHint}`,
    abort: true,
  })
  .refine(
    (text) => text === 'memory' || (redisNumber.test(new URL(text).pathname) && new URL(text).hash === ''),
    `expected the number of a database, or nothing, after the port; ${passwordHint}`,
  );

export const postgresUrl = z
  .string()
  .regex(/^postgres(?:ql)?:\/\/\S+$/, { error: 'expected postgres://USER:PASSWORD@HOST/NAME', abort: true })
  .refine(isDecodable, `expected a URL: ${passwordHint}`);

export const hostName = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,253}$|^\[[0-9A-Fa-f:.]+\]$/, 'expected a host name or an address');

const unitMissing = (given: unknown, units: string) =>
  /^\d+(?:\.\d+)?$/.test(String(given))
    ? `a unit is missing: ${units.replaceAll('N', String(given))}`
    : undefined;

export const duration = (min = 1) =>
  reaching(
    'nothing',
    z
      .string({ error: ({ input }) => unitMissing(input, 'Ns, Nms or Nm') })
      .regex(durationPattern, {
        error: ({ input }) =>
          unitMissing(input, 'Ns, Nms or Nm') ?? 'expected a duration such as 500ms, 10s, 5m or 1h',
        abort: true,
      })
      .refine((text) => parseDuration(text) !== undefined, 'expected at most 596h')
      .refine(
        (text) => (parseDuration(text) ?? min) >= min,
        'expected more than 0: the time-out cannot be turned off',
      ),
  );

const sizeText = reaching(
  'nothing',
  z.string({ error: ({ input }) => unitMissing(input, 'NB, NKiB or NMiB') }).regex(sizePattern, {
    error: ({ input }) =>
      unitMissing(input, 'NB, NKiB or NMiB') ?? 'expected a size such as 16KiB, 32MiB or 10MB',
    abort: true,
  }),
);

/** A size of something that is one Buffer. */
export const size = sizeText
  .refine((text) => parseSize(text) !== undefined, 'expected at most 256MiB')
  .refine((text) => parseSize(text) !== 0, 'expected more than 0');

/** A size of memory for many things. */
export const memorySize = sizeText.refine((text) => parseMemorySize(text) !== 0, 'expected more than 0');

export const ownHomeOnly =
  'of ~ only ~/ is known, your own home directory: write the whole path, or ./~ before a name that begins with ~';

/** A file, relative to the configuration, or with `~` for the home directory. */
export const filePath = z
  .string()
  .min(1)
  .refine((path) => !isOthersHome(path), ownHomeOnly);

/** `~name`, which only a shell knows. */
export function isOthersHome(path: string): boolean {
  return /^~[^/]/.test(path);
}

export const port = reaching('nothing', z.int().min(0).max(65_535));
export const amount = reaching('nothing', z.int().min(1).max(1_000_000_000));
export const price = reaching('nothing', z.number().min(0).max(1_000_000));

// Credentials, framing and routing of the connection: passing them on would leak keys or break the request.
const keptHeaders =
  /^(?:authorization|proxy-.*|x-api-key|x-gateway-.*|cookie|host|connection|keep-alive|content-length|content-encoding|transfer-encoding|te|trailer|upgrade|expect|accept-encoding)$/i;

export const headerName = reaching(
  'nothing',
  z
    .string()
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: 'expected the name of a header', abort: true })
    .refine((name) => !keptHeaders.test(name), 'this header is never passed on'),
);
