import { digitsOf, hasLuhnDigit, isOneDigit, weighted } from '../text/checksums.ts';
import {
  announcing,
  certain,
  createExpressionDetector,
  likely,
  number,
  possible,
} from '../text/expression-detector.ts';

const imeiNames = announcing('imei|imei ?[12]|device id|ger[äa]te(?:nummer|-id)|串号');

/** Numbers of mobile devices (3GPP TS 23.003) with a valid check digit, in their groups or right after their name. */
export const imei = createExpressionDetector({
  prefilter: [
    '[0-9]{2}-[0-9]{6}-[0-9]{6}-[0-9]',
    '(?:imei(?: ?[12])?|device id|ger[äa]te|串号)[^0-9]{0,20}[0-9]{2}[ -]?[0-9]{6}',
  ],
  reach: 19,
  rules: [
    {
      expression: number('\\d{2}([ -]?)\\d{6}\\1\\d{6}\\1\\d'),
      validate(value, { isAnnounced }) {
        const digits = digitsOf(value);
        if (!hasLuhnDigit(digits) || isOneDigit(digits)) return undefined;
        if (isAnnounced(imeiNames)) return certain('check digit and name');
        return value.includes('-') ? likely('check digit, in groups') : undefined;
      },
    },
  ],
});

/** Hardware addresses of six pairs or three groups of four; not shared ones (broadcast, zeros, IP multicast). */
export const macAddress = createExpressionDetector({
  prefilter: [
    '[0-9a-f]{2}:(?:[0-9a-f]{2}:){4}[0-9a-f]{2}',
    '[0-9a-f]{2}-(?:[0-9a-f]{2}-){4}[0-9a-f]{2}',
    '[0-9a-f]{4}\\.[0-9a-f]{4}\\.[0-9a-f]{4}',
  ],
  reach: 17,
  rules: [
    {
      expression:
        /(?<![\w:.-])(?:[\dA-F]{2}([:-])(?:[\dA-F]{2}\1){4}[\dA-F]{2}|[\dA-F]{4}\.[\dA-F]{4}\.[\dA-F]{4})(?![\w]|[:.-]\w)/gi,
      validate(value) {
        const plain = value.replace(/[^\dA-F]/g, '');
        const isShared = /^(?:01005E|3333|(.)\1*$)/.test(plain) || new Set(plain).size < 4;
        const isSequence = '0123456789ABCDEF0123'.includes(plain) || /^(?:00)?1122334455/.test(plain);
        // Three groups of four with only digits are a number with dots.
        const isNumber = value.includes('.') && !/[A-F]/.test(plain);
        return isShared || isSequence || isNumber ? undefined : likely('shape');
      },
    },
  ],
  neverCertain: true,
});

const letterValues = '0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ';
const weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
const vinNames = announcing(
  'vin|vehicle identification|chassis|fahrgestell\\p{L}*|fin|num[ée]ro de série|bastidor|telaio|车架号',
);

/** Whether the ninth character is a valid check digit, as in North America and China (49 CFR 565). */
function hasCheckDigit(vin: string): boolean {
  const values = Array.from(vin, (each) => letterValues.indexOf(each) % 10);
  const rest = weighted(values, weights) % 11;
  return vin.charAt(8) === (rest === 10 ? 'X' : String(rest));
}

/**
 * Vehicle identification numbers (ISO 3779). Many European ones have no check digit and are only found after their
 * name.
 */
export const vin = createExpressionDetector({
  prefilter: ['\\b[a-hj-npr-z0-9]{13}[0-9]{4}\\b'],
  reach: 17,
  rules: [
    {
      expression: number('(?=[A-HJ-NPR-Z0-9]{0,16}[A-Z][A-HJ-NPR-Z0-9]{0,15}[A-Z])[A-HJ-NPR-Z0-9]{13}\\d{4}'),
      validate(value, { isAnnounced }) {
        const isNamed = isAnnounced(vinNames);
        if (hasCheckDigit(value)) {
          if (isNamed) return certain('check digit and name');
          // Hex hashes pass the check by chance.
          return /[G-Z]/.test(value) && /^[1-9A-Z][A-Z]/.test(value) ? likely('check digit') : undefined;
        }
        return isNamed ? possible('name') : undefined;
      },
    },
  ],
});

const degrees = String.raw`\d{1,3}\s?°\s?(?:\d{1,2}(?:[.,]\d{1,6})?\s?[′']\s?(?:\d{1,2}(?:[.,]\d{1,6})?\s?(?:″|"|''))?)?\s?`;
const decimal = String.raw`[-+]?\d{1,3}\.\d{3,12}`;

/**
 * Geographic coordinates: degrees with directions; decimal degrees after their names, or in pairs after a word such as
 * "GPS".
 */
export const coordinates = createExpressionDetector({
  prefilter: [
    '[0-9] ?°[^a-z]{0,24}[ns]\\b',
    '(?:lat|latitude|breite|latitud)["\'\\\\]{0,3} ?[:=] ?["\'\\\\]{0,3}-?[0-9]{1,2}\\.[0-9]{3}',
    '(?:gps|coordinates?|koordinaten|coordonn[eé]es|coordenadas|location|geo|position)[^0-9]{0,16}[0-9]{1,2}\\.[0-9]{3}',
  ],
  reach: 96,
  rules: [
    {
      expression: new RegExp(`(?<!\\w)${degrees}[NS](?!\\w)[,;/]?\\s{0,3}${degrees}[EWO](?!\\w)`, 'gi'),
      validate: () => likely('degrees and directions'),
    },
    {
      expression: new RegExp(
        `(?<![a-z])(?:lat|latitude|breite|latitud)\\\\{0,3}["']?\\s?[:=]\\s?\\\\{0,3}["']?(?<value>${decimal}\\\\{0,3}["']?[,;&]?\\s{0,12}\\\\{0,3}["']?(?:lng|lon|long|longitude|länge|longitud)\\\\{0,3}["']?\\s?[:=]\\s?\\\\{0,3}["']?${decimal})`,
        'gi',
      ),
      validate: (value) => (isOnEarth(value) ? likely('latitude and longitude') : undefined),
    },
    {
      expression: new RegExp(
        `(?:gps|coordinates?|koordinaten|coordonn[eé]es|coordenadas|location|geo|position)[^\\d\\n]{0,16}?(?<value>${decimal}\\s?[,;/ ]\\s?${decimal})(?![\\w.])`,
        'gi',
      ),
      validate: (value) =>
        isOnEarth(value) ? possible('a pair of degrees after a word for places') : undefined,
    },
  ],
  neverCertain: true,
});

function isOnEarth(value: string): boolean {
  const [latitude = 99, longitude = 999] = (value.match(/[-+]?\d{1,3}\.\d+/g) ?? []).map(Number);
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 && latitude !== 0;
}
