import { countKinds } from '../../policy/mask/masked-values.ts';
import type { Forwarded } from '../../providers/attempt.ts';
import { forward } from '../../providers/forward.ts';
import type { Exchange } from '../exchange.ts';
import { buildUpstreamRequest, type Outgoing, type UpstreamRequest } from './build-upstream-request.ts';

/** Sends the decided request to the first target that answers, and notes which it was. */
export function forwardRequest(exchange: Exchange, outgoing: Outgoing): Promise<Forwarded<UpstreamRequest>> {
  const { draft, outcome, spans, trace } = exchange;
  trace?.admitted();
  return forward({
    targets: outgoing.targets,
    build: (target) => buildUpstreamRequest(exchange, outgoing, target),
    onAttempt: (target, { form, masked, dropped, path, headers, body }) => {
      const { provider, model } = target;
      const { name } = provider.options;
      outcome.noteAttempt(target);
      draft.noteAttempt({ provider: name, model, form, dropped });
      if (masked !== undefined) draft.noteMasking({ masked: countKinds(masked) });
      spans?.attempt({ provider: name, model }, headers);
      trace?.sending({ provider: name, model, form, path, headers }, body);
    },
    onSlot: () => trace?.queued(),
    onOutcome: (attempt) => {
      if ('failure' in attempt) {
        if (attempt.failure.wasSent) outcome.noteSilence();
        return spans?.attemptEnded({ reason: attempt.failure.error.reason });
      }
      const { status } = attempt.forwarded.answer;
      outcome.noteStatus(status);
      spans?.attemptEnded({ status });
    },
    onAbandoned: () => outcome.noteSilence(),
    lifetime: exchange.lifetime,
  });
}
