import type { Detector } from './detector.ts';
import { ipAddress } from './devices/ip-address.ts';
import { creditCard } from './finance/credit-card.ts';
import { ibanNumber } from './finance/iban.ts';
import { email } from './people/email.ts';
import { phone } from './people/phone.ts';
import { usSsn } from './people/us-ssn.ts';
import { createGatewayKeyDetector } from './secrets/gateway-key.ts';
import { privateKey } from './secrets/private-key.ts';
import { secrets } from './secrets/secrets.ts';

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
