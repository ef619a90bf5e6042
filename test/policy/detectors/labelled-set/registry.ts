import { atLeast, type Detector } from '../../../../src/policy/detectors/detector.ts';
import type { DetectorName } from '../../../../src/policy/detectors/names.ts';
import { detectors } from '../../../../src/policy/detectors/registry.ts';
import { createGatewayKeyDetector } from '../../../../src/policy/detectors/secrets/gateway-key.ts';
import { labelCreditCards } from './credit-card.ts';
import { labelEmails } from './email.ts';
import { configuredSecrets, labelGatewayKeys } from './gateway-key.ts';
import { labelIbans } from './iban.ts';
import { labelIpAddresses } from './ip-address.ts';
import { labelNamedSecrets } from './named-secrets.ts';
import {
  labelBankRouting,
  labelCoordinates,
  labelDatesOfBirth,
  labelImeis,
  labelLoopbacks,
  labelMacAddresses,
  labelNationalIds,
  labelPassports,
  labelPublicAddresses,
  labelSeedPhrases,
  labelVins,
  labelWallets,
} from './numbers.ts';
import { labelPhones } from './phone.ts';
import { labelPrivateKeys } from './private-key.ts';
import type { LabelledClass } from './sample.ts';
import { labelSecrets } from './secrets.ts';
import { labelSocialSecurityNumbers } from './us-ssn.ts';

interface Labelled {
  readonly detector: Detector;
  readonly label: () => LabelledClass;
}

/** Every detector with the set that tests it; the type demands one of each. */
export const labelledSets = {
  credit_card: { detector: detectors.credit_card, label: labelCreditCards },
  iban: { detector: detectors.iban, label: labelIbans },
  us_ssn: { detector: detectors.us_ssn, label: labelSocialSecurityNumbers },
  private_key: { detector: detectors.private_key, label: labelPrivateKeys },
  secrets: { detector: detectors.secrets, label: labelSecrets },
  'secrets: possible': {
    detector: atLeast(detectors.secrets, 'possible'),
    label: labelNamedSecrets,
  },
  gateway_key: { detector: createGatewayKeyDetector(configuredSecrets), label: labelGatewayKeys },
  email: { detector: detectors.email, label: labelEmails },
  phone: { detector: detectors.phone, label: labelPhones },
  ip_address: { detector: detectors.ip_address, label: labelIpAddresses },
  bank_routing: { detector: detectors.bank_routing, label: labelBankRouting },
  coordinates: { detector: detectors.coordinates, label: labelCoordinates },
  crypto_wallet: { detector: detectors.crypto_wallet, label: labelWallets },
  date_of_birth: { detector: detectors.date_of_birth, label: labelDatesOfBirth },
  imei: { detector: detectors.imei, label: labelImeis },
  loopback_address: { detector: detectors.loopback_address, label: labelLoopbacks },
  mac_address: { detector: detectors.mac_address, label: labelMacAddresses },
  national_id: { detector: detectors.national_id, label: labelNationalIds },
  passport: { detector: detectors.passport, label: labelPassports },
  public_ip_address: { detector: detectors.public_ip_address, label: labelPublicAddresses },
  seed_phrase: { detector: detectors.seed_phrase, label: labelSeedPhrases },
  vin: { detector: detectors.vin, label: labelVins },
} as const satisfies Record<DetectorName | 'secrets: possible', Labelled>;
