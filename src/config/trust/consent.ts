import { GatewayError } from '../../errors.ts';
import type { Want } from './wants.ts';

/** A configuration that was found, and that wants something. */
export interface JudgedFile {
  /** Its real path. */
  readonly path: string;
  /** How messages name it. */
  readonly name: string;
  readonly wants: readonly Want[];
  /** Whether it would be used if it got all of that: nobody should be asked about one that is wrong anyway. */
  readonly isValid: boolean;
}

/** Decides what a file gets from outside itself; resolves to what of it nobody has allowed. */
export type Consent = (file: JudgedFile) => Promise<readonly Want[]>;

/** What a file wants, for a person who decides. */
export function describeWants(name: string, wants: readonly Want[]): string {
  return `${name} was found here, not named by you, and wants what nobody has allowed:\n${linesOf(wants)}`;
}

/** A line each. */
export function linesOf(wants: readonly Want[]): string {
  return wants.map(({ text }) => `  ${text}\n`).join('');
}

/** The error (config.untrusted) for a file that wants what nobody has allowed. */
export function untrusted(name: string, pending: readonly Want[]): GatewayError {
  const remedy =
    '"gateway trust" allows it for this file; a file that -c or GATEWAY_CONFIG names may have it all';
  return new GatewayError('config.untrusted', `${describeWants(name, pending)}${remedy}`);
}
