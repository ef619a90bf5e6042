import { createExpressionDetector, likely, possible } from '../text/expression-detector.ts';

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
