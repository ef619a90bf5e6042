import { digitsOf, hasLuhnDigit, isOneDigit } from '../text/checksums.ts';
import { announcing, certain, createExpressionDetector, likely } from '../text/expression-detector.ts';

const named = announcing('imei|imei ?[12]|device id|ger[äa]te(?:nummer|-id)|串号');

/** Numbers of mobile devices (3GPP TS 23.003) with a valid check digit, in their groups or right after their name. */
export const imei = createExpressionDetector({
  prefilter: [
    '[0-9]{2}-[0-9]{6}-[0-9]{6}-[0-9]',
    '(?:imei(?: ?[12])?|device id|ger[äa]te|串号)[^0-9]{0,20}[0-9]{2}[ -]?[0-9]{6}',
  ],
  reach: 19,
  rules: [
    {
      expression: /(?<![\w.+/-])\d{2}([ -]?)\d{6}\1\d{6}\1\d(?![\w/]|[-.]\w)/g,
      validate(value, { isAnnounced }) {
        const digits = digitsOf(value);
        if (!hasLuhnDigit(digits) || isOneDigit(digits)) return undefined;
        if (isAnnounced(named)) return certain('check digit and name');
        return value.includes('-') ? likely('check digit, in groups') : undefined;
      },
    },
  ],
});
