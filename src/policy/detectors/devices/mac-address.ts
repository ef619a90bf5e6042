import { createExpressionDetector, likely } from '../text/expression-detector.ts';

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
