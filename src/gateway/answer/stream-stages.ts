import type { ResponseCheck } from '../../policy/answers/check-answer.ts';
import type { MaskedValues } from '../../policy/mask/masked-values.ts';
import { Restorer } from '../../policy/mask/restorer.ts';
import { StreamRestorer } from '../../policy/mask/stream-restorer.ts';
import type { Stage } from '../../policy/streams/stage.ts';
import type { Scrubber } from '../scrub.ts';
import { RulesStage } from './answer-stream.ts';
import { SecretStage } from './secret-stage.ts';

interface StreamNeeds {
  readonly rules: ReturnType<ResponseCheck['stream']> | undefined;
  readonly masked: MaskedValues | undefined;
  /** Restores what is masked. */
  readonly restorer: Restorer | undefined;
  readonly scrubber: Scrubber;
}

/** What the events of a streamed answer go through, in order. */
export function streamStages({ rules, masked, restorer, scrubber }: StreamNeeds): readonly Stage[] {
  const stages: Stage[] = [];
  // The rules judge what the provider said, with each placeholder in one piece.
  if (rules !== undefined && masked !== undefined)
    stages.push(new StreamRestorer(Restorer.gathering(masked)));
  if (rules !== undefined) stages.push(new RulesStage(rules));
  if (restorer !== undefined) stages.push(new StreamRestorer(restorer));
  stages.push(new SecretStage(scrubber));
  return stages;
}
