import type { Detector } from './detector.ts';
import { coordinates, imei, macAddress, vin } from './devices/devices.ts';
import { ipAddress, loopbackAddress, publicIpAddress } from './devices/ip-address.ts';
import { bankRouting } from './finance/bank-routing.ts';
import { creditCard } from './finance/credit-card.ts';
import { cryptoWallet } from './finance/crypto-wallet.ts';
import { ibanNumber } from './finance/iban.ts';
import { seedPhrase } from './finance/seed-phrase.ts';
import { dateOfBirth } from './identity/date-of-birth.ts';
import { nationalId, passport } from './identity/national-id.ts';
import type { DetectorName } from './names.ts';
import { email } from './people/email.ts';
import { phone } from './people/phone.ts';
import { usSsn } from './people/us-ssn.ts';
import { createGatewayKeyDetector } from './secrets/gateway-key.ts';
import { privateKey } from './secrets/private-key.ts';
import { secrets } from './secrets/secrets.ts';

/** All detectors. The bundle loads this file when texts are first searched with one (scripts/build.mjs). */
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
  bank_routing: bankRouting,
  coordinates,
  crypto_wallet: cryptoWallet,
  date_of_birth: dateOfBirth,
  imei,
  loopback_address: loopbackAddress,
  mac_address: macAddress,
  national_id: nationalId,
  passport,
  public_ip_address: publicIpAddress,
  seed_phrase: seedPhrase,
  vin,
} as const satisfies Record<DetectorName, Detector>;
