import { checkSegments } from '../../dialects/model-path.ts';

/** A request for a model, before it is known how its host wants to be asked. */
export interface CloudRequest {
  /** One of the gateway's own paths. */
  readonly path: string;
  /** The model's name at the host. */
  readonly model: string;
  readonly stream: boolean;
}

/** What a host takes in the body of Anthropic's messages that others take in headers, and the other way round. */
export interface Envelope {
  /** The value of `anthropic_version`, unless the client gives one; the header of that name is left out. */
  readonly version: string;
  /** Members that the path says instead, so that the body must not. */
  readonly pathMembers: readonly string[];
  /** Whether it has the flags of `anthropic-beta` as `anthropic_beta`, in place of the header. */
  readonly holdsBetas: boolean;
  /** The flags that it takes, by Anthropic's names: it refuses requests with any other. Undefined: all are sent. */
  readonly betas: ReadonlyMap<string, string> | undefined;
}

/** How a cloud is asked that doesn't have the paths of the dialect. */
export interface CloudApi {
  /** The request target below the path of the base URL. */
  pathFor(call: CloudRequest): string;
  envelopeFor?(call: Pick<CloudRequest, 'path'>): Envelope;
}

/** An Azure OpenAI resource with dated versions: deployments are in the path, and its base URL ends with /openai. */
export function azureDeployments(version: string): CloudApi {
  return {
    pathFor({ path, model }) {
      const own = path.slice('/v1'.length);
      const at = deploymentPaths.has(own) ? `/deployments/${toSegment(model)}` : '';
      return `${at}${own}?api-version=${version}`;
    },
  };
}

const deploymentPaths = new Set(['/chat/completions', '/embeddings']);

/** As AWS' documentation, Claude Code at Bedrock and LiteLLM's table had them in November 2026; any other is "invalid beta flag". */
const bedrockBetas = betaNames(
  [
    'compact-2026-01-12',
    'computer-use-2025-01-24',
    'computer-use-2025-11-24',
    'context-1m-2025-08-07',
    'context-management-2025-06-27',
    'dangerous-tool-use-2026-09-03',
    'dev-full-thinking-2025-05-14',
    'effort-2025-11-24',
    'fine-grained-tool-streaming-2025-05-14',
    'interleaved-thinking-2025-05-14',
    'mid-conversation-output-config-2026-07-01',
    'mid-conversation-tool-changes-2026-07-01',
    'output-128k-2025-02-19',
    'thinking-binding-controls-2026-08-01',
    'thinking-display-updates-2026-08-18',
    'token-efficient-tools-2025-02-19',
    'tool-examples-2025-10-29',
    'tool-search-tool-2025-10-19',
  ],
  { 'advanced-tool-use-2025-11-20': 'tool-search-tool-2025-10-19' },
);

/** Claude on Amazon Bedrock by InvokeModel and InvokeModelWithResponseStream. */
export const bedrock: CloudApi = {
  pathFor: ({ model, stream }) =>
    `/model/${toSegment(model)}/${stream ? 'invoke-with-response-stream' : 'invoke'}`,
  envelopeFor: () => ({
    version: 'bedrock-2023-05-31',
    pathMembers: ['model', 'stream'],
    holdsBetas: true,
    betas: bedrockBetas,
  }),
};

const countPath = '/v1/messages/count_tokens';

/** From the same sources as Bedrock's; any other is an "unexpected value". */
const vertexCountBetas = betaNames(
  [
    'claude-code-20250219',
    'compact-2026-01-12',
    'compact-2026-09-04',
    'computer-use-2025-01-24',
    'computer-use-2025-11-24',
    'context-1m-2025-08-07',
    'context-management-2025-06-27',
    'dangerous-tool-use-2026-09-03',
    'interleaved-thinking-2025-05-14',
    'per-turn-control-2026-07-01',
    'thinking-binding-controls-2026-08-01',
    'thinking-display-updates-2026-08-18',
    'tool-search-tool-2025-10-19',
  ],
  { 'advanced-tool-use-2025-11-20': 'tool-search-tool-2025-10-19' },
);
const webSearch = 'web-search-2025-03-05'; // not for counting
const vertexBetas = new Map([...vertexCountBetas, [webSearch, webSearch]]);

/** Claude on Google's Vertex AI; its base URL ends with the project and the location. */
export const vertex: CloudApi = {
  pathFor({ path, model, stream }) {
    if (path === countPath) return '/publishers/anthropic/models/count-tokens:rawPredict';
    // Versions are behind an @, which Google's own clients leave as it is.
    const name = toSegment(model).replaceAll('%40', '@');
    return `/publishers/anthropic/models/${name}:${stream ? 'streamRawPredict' : 'rawPredict'}`;
  },
  envelopeFor: ({ path }) => ({
    version: 'vertex-2023-10-16',
    // `stream` stays: Anthropic's own client leaves it there, and counting has a model in its body only.
    pathMembers: path === countPath ? [] : ['model'],
    holdsBetas: false,
    betas: path === countPath ? vertexCountBetas : vertexBetas,
  }),
};

/** Flags that are called the same at a cloud, and those that have another name there. */
function betaNames(
  same: readonly string[],
  others: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  return new Map([...same.map((name) => [name, name] as const), ...Object.entries(others)]);
}

/** A model's name as one segment of a path, also an ARN with slashes. Throws request.field. */
function toSegment(model: string): string {
  checkSegments(model);
  return encodeURIComponent(model);
}
