import { checkSegments } from '../../dialects/model-path.ts';
import { betaNames, type CloudApi } from './cloud-api.ts';

/** As AWS' documentation, Claude Code at Bedrock and LiteLLM's table had them in November 2026; any other is "invalid beta flag". */
const betas = betaNames(
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
    betas,
  }),
};

/** A model's name as one segment of a path, also an ARN with slashes. Throws request.field. */
export function toSegment(model: string): string {
  checkSegments(model);
  return encodeURIComponent(model);
}
