import { tallyAnswer } from '../../dialects/dialect.ts';
import { errorInside } from '../../dialects/failure.ts';
import { stringifyAnswer } from '../../dialects/fields.ts';
import type { Tally } from '../../dialects/usage.ts';
import { GatewayError, toGatewayError } from '../../errors.ts';
import { type Checkpoint, GivenUp } from '../../policy/checkpoint.ts';
import type { MaskedValues } from '../../policy/mask/masked-values.ts';
import { Restorer } from '../../policy/mask/restorer.ts';
import type { PolicySet } from '../../policy/policy-set.ts';
import type { Verdict } from '../../policy/rule.ts';
import type { ModelEndpoint } from '../endpoints.ts';
import type { Scrubber } from '../scrub.ts';
import type { RequestTranslation } from './translate-request.ts';

/** What decides what becomes of a provider's answer. */
export interface AnswerReader {
  /** Id of the key whose request it answers. */
  readonly key: string;
  readonly endpoint: ModelEndpoint;
  /** The form of an answer that the request asked for: see `Dialect.askedForm`. */
  readonly form: string | undefined;
  /** Undefined if the provider speaks the client's dialect. */
  readonly translation: RequestTranslation | undefined;
  readonly policies: PolicySet;
  /** Indexes of the rules that apply to the answer. */
  readonly answerRules: readonly number[];
  /** The values to restore; undefined if none was masked. */
  readonly masked: MaskedValues | undefined;
  readonly scrubber: Scrubber;
}

/** What the client gets, and what is to be recorded. */
export interface CheckedAnswer {
  readonly verdicts: readonly Verdict[];
  readonly masking: Partial<Restorer['counts']>;
  /** As it may leave; or why nothing may. */
  readonly result: Buffer | GatewayError;
}

export interface CheckedBody extends CheckedAnswer {
  readonly tally: Tally;
  /** The status of an error that came with one of success. */
  readonly errorStatus?: number | undefined;
}

/**
 * A provider's whole answer in the client's dialect, checked; runs in any thread. What it used is known even if it can't
 * be sent. Throws provider.broken_response for what is not JSON.
 */
export function readAnswer(
  bytes: Buffer,
  reader: Omit<AnswerReader, 'key'>,
  checkpoint?: Checkpoint,
): CheckedBody {
  const { endpoint, translation, form } = reader;
  const text = bytes.toString();
  const value = parseAnswer(text);
  const tally = translation?.tally(value, bytes) ?? tallyAnswer(endpoint.dialect, value, bytes);
  const inside = translation && errorInside(value);
  try {
    const made =
      translation === undefined
        ? endpoint.dialect.adaptAnswer?.(value, form)
        : inside === undefined
          ? translation.answer(value).body
          : translation.error(inside.status, inside.error);
    const own = made === undefined ? { bytes, text } : { bytes: toBytes(made) };
    const { verdicts, masking, result } = checkAnswer(own, reader, checkpoint);
    return { tally, errorStatus: inside?.status, verdicts, masking, result };
  } catch (thrown) {
    if (thrown instanceof GivenUp) throw thrown;
    return { tally, verdicts: [], masking: {}, result: toGatewayError(thrown) };
  }
}

interface AnswerBody {
  readonly bytes: Buffer;
  /** Their text, where somebody has made it. */
  readonly text?: string;
}

/** Applies the rules on answers, which read what the provider said; restores what was masked; scrubs secrets. */
export function checkAnswer(
  { bytes: body, text }: AnswerBody,
  {
    policies,
    answerRules,
    masked,
    scrubber,
  }: Omit<AnswerReader, 'key' | 'endpoint' | 'form' | 'translation'>,
  checkpoint?: Checkpoint,
): CheckedAnswer {
  const check = answerRules.length === 0 ? undefined : policies.checkAnswers(answerRules);
  // Of most answers nothing is checked, and nothing was masked.
  if (check === undefined && masked === undefined)
    return { verdicts: none, masking: unmasked, result: scrubber.answer(body, text) };
  const { verdicts = [], refusal, redactedBody } = check?.whole(body, checkpoint) ?? {};
  if (refusal !== undefined) {
    const { message, reason } = refusal;
    return { verdicts, masking: {}, result: new GatewayError('policy.blocked', message, { reason }) };
  }
  const checked = redactedBody ?? body;
  if (masked === undefined) return { verdicts, masking: {}, result: scrubber.answer(checked) };
  const restorer = new Restorer(masked);
  const restored = scrubber.answer(restorer.body(checked));
  return { verdicts, masking: restorer.counts, result: restored };
}

const none: readonly Verdict[] = [];
const unmasked: CheckedAnswer['masking'] = {};

export function toBytes(value: unknown): Buffer {
  return Buffer.from(stringifyAnswer(value));
}

/** Truncated or broken JSON must not become a clean-looking 200. */
function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new GatewayError('provider.broken_response', "the provider's answer is not complete JSON", {
      cause,
    });
  }
}
