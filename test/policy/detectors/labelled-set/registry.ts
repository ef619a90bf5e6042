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
import { labelNumbers } from './numbers.ts';
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

/** What draws the set of each; the type demands one of each detector. */
const draws = {
  credit_card: labelCreditCards,
  iban: labelIbans,
  us_ssn: labelSocialSecurityNumbers,
  private_key: labelPrivateKeys,
  secrets: labelSecrets,
  'secrets: possible': labelNamedSecrets,
  gateway_key: labelGatewayKeys,
  email: labelEmails,
  phone: labelPhones,
  ip_address: labelIpAddresses,
  ...labelNumbers,
} satisfies Record<DetectorName | 'secrets: possible', () => LabelledClass>;

const all: Readonly<Record<keyof typeof draws, Detector>> = {
  ...detectors,
  'secrets: possible': atLeast(detectors.secrets, 'possible'),
  gateway_key: createGatewayKeyDetector(configuredSecrets),
};

/** Every detector with the set that tests it. */
export const labelledSets = Object.fromEntries(
  (Object.keys(draws) as (keyof typeof draws)[]).map((name) => [
    name,
    { detector: all[name], label: once(draws[name]) },
  ]),
) as Readonly<Record<keyof typeof draws, Labelled>>;
