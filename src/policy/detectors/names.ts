/**
 * The names that `detect` in a rule accepts. Separate from the detectors, which the bundle loads only when a rule needs
 * one (scripts/build.mjs).
 */
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
