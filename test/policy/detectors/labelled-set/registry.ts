import { atLeast, type Detector } from '../../../../src/policy/detectors/detector.ts';
import { type DetectorName, detectors } from '../../../../src/policy/detectors/registry.ts';
import { createGatewayKeyDetector } from '../../../../src/policy/detectors/secrets/gateway-key.ts';
import { labelCreditCards } from './credit-card.ts';
import { labelEmails } from './email.ts';
import { configuredSecrets, labelGatewayKeys } from './gateway-key.ts';
import { labelIbans } from './iban.ts';
import { labelIpAddresses } from './ip-address.ts';
import { labelNamedSecrets } from './named-secrets.ts';
import { labelPhones } from './phone.ts';
import { labelPrivateKeys } from './private-key.ts';
import type { LabelledClass } from './sample.ts';
import { labelSecrets } from './secrets.ts';
import { labelSocialSecurityNumbers } from './us-ssn.ts';

interface Labelled {
  readonly detector: Detector;
  readonly label: () => LabelledClass;
}

/** Every detector with the set that judges it; the type demands one of each. */
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
} as const satisfies Record<DetectorName | 'secrets: possible', Labelled>;
