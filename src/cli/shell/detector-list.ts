import { GatewayError } from '../../errors.ts';
import { type DetectorName, detectorNames } from '../../policy/detectors/names.ts';

/** The value of `--mask`, which may be repeated. */
export function detectorList(text: string, before: readonly DetectorName[] = []): readonly DetectorName[] {
  const names = text.split(',').map((name) => detectorNames.find((known) => known === name.trim()));
  if (!names.includes(undefined)) return [...new Set([...before, ...names.flatMap((name) => name ?? [])])];
  throw new GatewayError(
    'usage.invalid',
    `--mask: expected detectors such as secrets,email; there are ${detectorNames.join(', ')}`,
    { param: 'mask' },
  );
}
