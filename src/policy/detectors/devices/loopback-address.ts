import { createExpressionDetector, likely } from '../text/expression-detector.ts';

/** 127.0.0.0/8, ::1 and "any" (0.0.0.0), which `ip_address` leaves out because every machine has them. */
export const loopbackAddress = {
  ...createExpressionDetector({
    prefilter: ['\\b127\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]', '\\b0\\.0\\.0\\.0', '::1'],
    reach: 16,
    rules: [
      {
        expression:
          /(?<![\w.:-])(?:127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|0\.0\.0\.0|::1)(?![\w]|[.:]\w{1,4}[.:])/g,
        validate: () => likely('loopback'),
      },
    ],
  }),
  neverCertain: true,
} as const;
