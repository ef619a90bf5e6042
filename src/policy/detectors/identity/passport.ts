import { travelDigit } from '../text/checksums.ts';
import { announcing, certain, createExpressionDetector, likely } from '../text/expression-detector.ts';

const named = announcing(
  'passport|reisepass|passnummer|ausweisnummer|personalausweis|passeport|pasaporte|passaporto|passaporte|paspoort|паспорт|护照|護照|パスポート',
);

/**
 * Whether all check digits of a machine-readable line (ICAO 9303, TD3) are valid: number, birth, expiry and the whole
 * line.
 */
function isMachineReadable(line: string): boolean {
  const isChecked = (from: number, to: number) =>
    travelDigit(line.slice(from, to)) === Number(line.charAt(to));
  const all = line.slice(0, 10) + line.slice(13, 20) + line.slice(21, 43);
  return (
    isChecked(0, 9) && isChecked(13, 19) && isChecked(21, 27) && travelDigit(all) === Number(line.charAt(43))
  );
}

/** Passports: the machine-readable lines anywhere, numbers right after a word that announces one. */
export const passport = createExpressionDetector({
  prefilter: [
    '[a-z0-9<]{9}[0-9][a-z<]{3}[0-9]{7}[mfx<][0-9]{7}',
    '(?:passport|reisepass|passnummer|ausweis|passeport|pasaporte|passapor|paspoort|пacпopт|护照|護照|ハスホート)[^0-9]{0,24}[0-9]',
  ],
  reach: 90,
  rules: [
    {
      expression:
        /(?:P[A-Z<][A-Z<]{42}\s{0,2}(?:\\n)?)?[A-Z0-9<]{9}\d[A-Z<]{3}\d{6}\d[MFX<]\d{6}\d[A-Z0-9<]{14}[\d<]\d/gi,
      validate: (value) =>
        isMachineReadable(value.slice(-44)) ? certain('passport, check digits') : undefined,
    },
    {
      expression: /(?<![\w.+/-])(?=[A-Z0-9]{0,4}\d{4})[A-Z0-9]{6,10}(?![\w/]|[-.]\w)/gi,
      validate: (_, { isAnnounced }) => (isAnnounced(named) ? likely('passport, name') : undefined),
    },
  ],
});
