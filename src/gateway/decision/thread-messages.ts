import { GatewayError } from '../../errors.ts';
import type { PolicySource } from '../../policy/compile.ts';
import type { ModelNames } from './route-plan.ts';

// The messages between the main thread and the decision thread. Bodies are not copied: their memory is transferred with
// the question and transferred back with the answer, so only one thread has it at any time.

/** What the thread is started with. */
export interface ThreadData extends ModelNames {
  readonly source: PolicySource;
}

/** A thread's first message: the policies to compile. */
export interface Preparation {
  readonly kind: 'preparation';
  readonly input: { readonly policies: readonly string[] };
}

/** That it has. */
export interface Prepared {
  readonly isReady: true;
}

/** A GatewayError as it can be sent to another thread. */
export interface ErrorParts extends Pick<GatewayError, 'code' | 'message' | 'reason' | 'param'> {
  /** A thrown value may contain anything; only its text can safely be sent. */
  readonly cause: string | undefined;
}

export function toErrorParts({ code, message, reason, param, cause }: GatewayError): ErrorParts {
  return { code, message, reason, param, cause: cause === undefined ? undefined : String(cause) };
}

export function fromErrorParts({ code, message, reason, param, cause }: ErrorParts): GatewayError {
  return new GatewayError(code, message, { reason, ...(param !== undefined && { param }), cause });
}

/** Why a body that the thread was asked about can't be used. */
export function threadFailure(cause: unknown): GatewayError {
  return new GatewayError('policy.error', 'the exchange could not be checked, so it is refused', { cause });
}

/** The memory of the arrays that a message can transfer. Small buffers share a pool, so they are copied instead. */
export function memoryOf(
  ...arrays: readonly (Uint8Array | Int32Array | Uint32Array)[]
): readonly ArrayBuffer[] {
  return arrays.flatMap(({ buffer, byteLength }) =>
    buffer instanceof ArrayBuffer && byteLength >= Buffer.poolSize ? [buffer] : [],
  );
}
