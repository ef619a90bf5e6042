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

/** Every detector's set is drawn once for all tests of a process. */
function once(draw: () => LabelledClass): () => LabelledClass {
  let drawn: LabelledClass | undefined;
  return () => {
    drawn ??= draw();
    return drawn;
  };
}

/** Every detector with the set that tests it; the type demands one of each. */
export const labelledSets = {
  credit_card: { detector: detectors.credit_card, label: once(labelCreditCards) },
  iban: { detector: detectors.iban, label: once(labelIbans) },
  us_ssn: { detector: detectors.us_ssn, label: once(labelSocialSecurityNumbers) },
  private_key: { detector: detectors.private_key, label: once(labelPrivateKeys) },
  secrets: { detector: detectors.secrets, label: once(labelSecrets) },
  'secrets: possible': {
    detector: atLeast(detectors.secrets, 'possible'),
    label: once(labelNamedSecrets),
  },
  gateway_key: { detector: createGatewayKeyDetector(configuredSecrets), label: once(labelGatewayKeys) },
  email: { detector: detectors.email, label: once(labelEmails) },
  phone: { detector: detectors.phone, label: once(labelPhones) },
  ip_address: { detector: detectors.ip_address, label: once(labelIpAddresses) },
  bank_routing: { detector: detectors.bank_routing, label: once(labelBankRouting) },
  coordinates: { detector: detectors.coordinates, label: once(labelCoordinates) },
  crypto_wallet: { detector: detectors.crypto_wallet, label: once(labelWallets) },
  date_of_birth: { detector: detectors.date_of_birth, label: once(labelDatesOfBirth) },
  imei: { detector: detectors.imei, label: once(labelImeis) },
  loopback_address: { detector: detectors.loopback_address, label: once(labelLoopbacks) },
  mac_address: { detector: detectors.mac_address, label: once(labelMacAddresses) },
  national_id: { detector: detectors.national_id, label: once(labelNationalIds) },
  passport: { detector: detectors.passport, label: once(labelPassports) },
  public_ip_address: { detector: detectors.public_ip_address, label: once(labelPublicAddresses) },
  seed_phrase: { detector: detectors.seed_phrase, label: once(labelSeedPhrases) },
  vin: { detector: detectors.vin, label: once(labelVins) },
} as const satisfies Record<DetectorName | 'secrets: possible', Labelled>;
