import { digitsOf, isOneDigit, weighted } from '../text/checksums.ts';
import {
  announcing,
  certain,
  createExpressionDetector,
  named,
  number,
  possible,
} from '../text/expression-detector.ts';

const routingNames = announcing('routing|routing transit|aba|aba routing|rtn|transit');

/** Whether nine digits are an American routing number (ABA): a valid district and check digit. */
function isRoutingNumber(value: string): boolean {
  const digits = digitsOf(value);
  const district = Number(value.slice(0, 2));
  const isDistrict =
    district <= 12 ||
    (district >= 21 && district <= 32) ||
    (district >= 61 && district <= 72) ||
    district === 80;
  return isDistrict && !isOneDigit(digits) && weighted(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0;
}

/** Routing numbers of American banks, British sort codes and BICs, each right after its name. */
export const bankRouting = createExpressionDetector({
  prefilter: [
    '(?:routing|aba|rtn|transit)[^0-9]{0,24}[0-9]{9}',
    'sort ?code[^0-9]{0,16}[0-9]{2}',
    '(?:\\bbic|swift)[^a-z0-9]{0,8}(?:code|is|:|=)?[^a-z0-9]{0,6}[a-z]{6}',
  ],
  reach: 11,
  rules: [
    {
      expression: number('\\d{9}'),
      validate: (value, { isAnnounced }) =>
        isRoutingNumber(value) && isAnnounced(routingNames)
          ? certain('routing number, check digit and name')
          : undefined,
    },
    named(number('\\d{2}([ -]?)\\d{2}\\1\\d{2}'), 'sort ?code', possible('sort code, name')),
    // In capitals only: in lower case many words have eight letters.
    named(
      number('[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?', 'g'),
      'bic|swift(?:[ -]?bic)?',
      possible('BIC, name'),
    ),
  ],
});
