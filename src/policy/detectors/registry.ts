import { creditCard } from './credit-card.ts';
import type { Detector } from './detector.ts';
import { email } from './email.ts';
import { createGatewayKeyDetector } from './gateway-key.ts';
import { ibanNumber } from './iban.ts';
import { ipAddress } from './ip-address.ts';
import { phone } from './phone.ts';
import { privateKey } from './private-key.ts';
import { secrets } from './secrets.ts';
import { usSsn } from './us-ssn.ts';

/** What `detect` in a rule may name. */
export const detectors = {
  credit_card: creditCard,
  email,
  phone,
  iban: ibanNumber,
  us_ssn: usSsn,
  ip_address: ipAddress,
  secrets,
  private_key: privateKey,
  gateway_key: createGatewayKeyDetector([]),
} as const satisfies Record<string, Detector>;

export type DetectorName = keyof typeof detectors;
