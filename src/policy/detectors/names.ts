/** What `detect` in a rule may name. Apart from the detectors, which most of a policy's code does without (see scripts/build.mjs). */
export const detectorNames = [
  'credit_card',
  'email',
  'phone',
  'iban',
  'us_ssn',
  'ip_address',
  'secrets',
  'private_key',
  'gateway_key',
  'bank_routing',
  'coordinates',
  'crypto_wallet',
  'date_of_birth',
  'imei',
  'loopback_address',
  'mac_address',
  'national_id',
  'passport',
  'public_ip_address',
  'seed_phrase',
  'vin',
] as const;

export type DetectorName = (typeof detectorNames)[number];
