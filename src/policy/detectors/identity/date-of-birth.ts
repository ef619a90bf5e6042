import { announcing, createExpressionDetector, likely, possible } from '../text/expression-detector.ts';

const plain =
  'date[ _-]of[ _-]birth|birth ?date|d\\.?o\\.?b\\.?|born(?: on)?|geburtsdatum|geb\\.?|geboren(?: am)?|date de naissance|n[ée]e?(?: le)?|fecha de nacimiento|nacid[oa](?: el)?|data di nascita|nat[oa](?: il)?|geboortedatum|data de nascimento|nascid[oa](?: em)?|дата рождения|родил\\p{L}{2,4}|出生日期|生年月日|생년월일|birthday|birth_date|dateofbirth';
const named = announcing(plain);
const months =
  'jan(?:uar[yi]?|vier)?|feb(?:ruar[yi]?)?|f[ée]vrier|mar(?:ch|s|zo|ço)?|m[äa]rz|apr(?:il|ile)?|avril|abril|ma[iy]o?|ju[nl][yi]?|juin|juillet|jun[ei]o?|jul[iy]o?|aug(?:ust)?|août|agosto|sep(?:t(?:ember)?)?|septembre|o[ck]t(?:ober|obre)?|octubre|nov(?:ember|embre)?|noviembre|de[cz](?:ember)?|d[ée]cembre|diciembre';

/** Whether the numbers may be a birthday: a calendar date of the last 130 years. */
function isBirthday(value: string): boolean {
  const numbers = (value.match(/\d+/g) ?? []).map(Number);
  const year = numbers.find((each) => each >= 1900 && each <= 2030);
  const rest = numbers.filter((each) => each !== year);
  const isShort = year === undefined && numbers.length === 3;
  const parts = isShort ? numbers : rest;
  return (
    (year !== undefined || isShort) &&
    parts.every((each) => each >= 0 && (each <= 31 || isShort)) &&
    parts.some((each) => each >= 1 && each <= 31)
  );
}

/** Dates right after a word that says they are a birthday. */
export const dateOfBirth = createExpressionDetector({
  prefilter: [
    '(?:birth|d\\.?o\\.?b|born|geb|geboren|naissance|\\bnee? |nacimiento|nacid[oa]|nascita|\\bnat[oa] |geboortedatum|nascimento|nascid[oa]|poжд|poдил|出生日期|生年月日|\u1109\u1162\u11bc\u1102\u1167\u11ab)[^0-9]{0,24}[0-9]',
  ],
  reach: 40,
  rules: [
    {
      expression: new RegExp(
        `(?<![\\w.+/-])(?:\\d{4}[-./年]\\s?\\d{1,2}[-./月]\\s?\\d{1,2}日?|\\d{1,2}[-./]\\s?\\d{1,2}[-./]\\s?(?:\\d{4}|\\d{2})|\\d{1,2}(?:st|nd|rd|th)?\\.? (?:de |of )?(?:${months})\\.?,? (?:de )?\\d{4}|(?:${months})\\.? \\d{1,2}(?:st|nd|rd|th)?,? \\d{4})(?![\\w/])`,
        'gi',
      ),
      validate: (value, { isAnnounced }) => {
        if (!isBirthday(value) || !isAnnounced(named)) return undefined;
        return /\d{4}/.test(value) ? likely('date, named a birthday') : possible('date, named a birthday');
      },
    },
  ],
  neverCertain: true,
});
