import { weighted } from '../text/checksums.ts';
import {
  announcing,
  certain,
  createExpressionDetector,
  likely,
  possible,
} from '../text/expression-detector.ts';

const letterValues = '0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ';
const weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
const named = announcing(
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
      expression:
        /(?<![\w.+/-])(?=[A-HJ-NPR-Z0-9]{0,16}[A-Z][A-HJ-NPR-Z0-9]{0,15}[A-Z])[A-HJ-NPR-Z0-9]{13}\d{4}(?![\w/]|[-.]\w)/gi,
      validate(value, { isAnnounced }) {
        const isNamed = isAnnounced(named);
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
