import { hasModel } from '../../dialects/model-path.ts';
import { type DialectName, dialects } from '../../dialects/registry.ts';
import type { Checkpoint } from '../../policy/checkpoint.ts';
import { Restorer } from '../../policy/mask/restorer.ts';
import type { PolicySet } from '../../policy/policy-set.ts';
import { noRoute } from '../../policy/routes.ts';
import type { ProviderOptions } from '../../providers/provider.ts';
import { AnswerStream, ExactSource, TranslatedSource } from '../answer/answer-stream.ts';
import { streamStages } from '../answer/stream-stages.ts';
import { decideRequest, type RequestDecision, requestMeta } from '../decision/decide-request.ts';
import { type RequestTranslation, translateBody, translateRequest } from '../decision/translate-request.ts';
import { dialectAt, endpoints, isModelEndpoint, type ModelEndpoint } from '../endpoints.ts';
import { parseRequest } from '../request.ts';
import type { Scrubber } from '../scrub.ts';
import { madeUpBody, madeUpModel, madeUpStream } from './made-up.ts';

/** From a client's endpoint to a dialect that a provider takes. */
export interface Way {
  readonly endpoint: ModelEndpoint;
  readonly to: DialectName;
}

export type ConfiguredProvider = Pick<ProviderOptions, 'endpoints' | 'credentials'>;

/** The ways that these providers open, each once; those without a translation come first. */
export function waysThrough(providers: readonly ConfiguredProvider[]): readonly Way[] {
  const ways = exchanges.flatMap((endpoint) => {
    const taken = providers.flatMap((provider) => dialectAt(provider, endpoint) ?? []);
    return [...new Set(taken)].map((to): Way => ({ endpoint, to }));
  });
  const isOwn = ({ endpoint, to }: Way) => endpoint.dialectName === to;
  return [...ways.filter(isOwn), ...ways.filter((way) => !isOwn(way))];
}

/** One endpoint of each dialect: where both exist, the one that streams. */
const exchanges = Object.keys(dialects).map((name) => {
  const own = [...endpoints.values()].filter(isModelEndpoint);
  return own.findLast(
    ({ kind, dialectName, call }) =>
      kind === 'exchange' && dialectName === name && call.isUntranslatable !== true,
  ) as ModelEndpoint; // every dialect has one
});

type MadeUpDecision = RequestDecision & { readonly translation: RequestTranslation | undefined };

/** Decides on a made-up body in the client's dialect, and again on what it is translated to. */
export function decideMadeUp(
  { endpoint, to }: Way,
  policies: PolicySet,
  { body, checkpoint }: { readonly body: Buffer; readonly checkpoint: Checkpoint },
): MadeUpDecision {
  const request = parseRequest(body, endpoint, {
    pathModel: hasModel(endpoint.call) ? madeUpModel : undefined,
  });
  const meta = requestMeta(request, { endpoint, key: nobody, route: noRoute, sender: {}, nowMs: 0 });
  const decided = decideRequest(policies, request, { endpoint, meta, plan: noPlan, checkpoint });
  if (to === endpoint.dialectName || decided.kind === 'blocked')
    return { ...decided, translation: undefined };
  const { bytes } = decided.request.document;
  const untranslated = { body: bytes, from: endpoint.dialectName, to, context, meta };
  const translated = translateRequest(policies, untranslated, checkpoint);
  return { ...decided, translation: translated.kind === 'passed' ? translated.translation : undefined };
}

/** Passes a made-up stream on as the answer to it. */
export function answerMadeUp(
  { endpoint, to }: Way,
  decided: MadeUpDecision,
  {
    policies,
    scrubber,
    checkpoint,
  }: { readonly policies: PolicySet; readonly scrubber: Scrubber; readonly checkpoint: Checkpoint },
): void {
  if (decided.kind === 'blocked' || origins[to] !== 'messages') return;
  const { answerRules, translation } = decided;
  const { masked } = decided.decision;
  const { dialect } = endpoint;
  const source =
    translation === undefined
      ? new ExactSource(dialect, { hidesUsage: false, answers: 1 })
      : new TranslatedSource(translation.stream());
  const rules = policies.checkAnswers(answerRules)?.stream();
  const stages = streamStages({ rules, masked, restorer: masked && new Restorer(masked), scrubber });
  relay(new AnswerStream({ source, stages, scrubber }), streamIn(to, scrubber), checkpoint);
}

function relay(
  stream: AnswerStream,
  pieces: readonly Buffer[],
  checkpoint: Checkpoint | undefined,
): readonly Buffer[] {
  const passed = pieces.map((piece) => {
    checkpoint?.();
    return stream.transform(piece);
  });
  return [...passed, stream.end()];
}

/** The dialect whose made-up body others' are translated from. */
const origins: Readonly<Record<DialectName, 'messages' | 'embeddings'>> = {
  messages: 'messages',
  chat: 'messages',
  responses: 'messages',
  gemini: 'messages',
  embeddings: 'embeddings',
  gemini_embeddings: 'embeddings',
};

const nobody = { id: '', project: '' };
const noPlan = { candidates: [], fixed: noRoute };
const context = {
  requestedModel: madeUpModel,
  targetModel: madeUpModel,
  host: 'unknown',
  origin: 'made-up',
  createdS: 0,
} as const;
const noMeta = {
  endpoint: 'messages',
  model: madeUpModel,
  targetModels: [],
  stream: true,
  project: '',
  key: '',
  nowMs: 0,
} as const;

/** A made-up body in a dialect. */
export function madeUpIn(to: DialectName, hasMatch: boolean): Buffer {
  const from = origins[to];
  const body = Buffer.from(JSON.stringify(madeUpBody(from, hasMatch)));
  return from === to ? body : translateBody({ body, from, to, context, meta: noMeta }).body;
}

/** The made-up answer of a host that speaks a dialect. */
function streamIn(dialect: DialectName, scrubber: Scrubber): readonly Buffer[] {
  if (dialect === 'messages') return madeUpStream();
  const body = madeUpIn(dialect, false);
  const { translation } = translateBody({ body, from: dialect, to: 'messages', context, meta: noMeta });
  const source = new TranslatedSource(translation.stream());
  return relay(new AnswerStream({ source, scrubber }), madeUpStream(), undefined);
}
