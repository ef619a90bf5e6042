import { toSegment } from './bedrock.ts';
import { betaNames, type CloudApi } from './cloud-api.ts';

const countPath = '/v1/messages/count_tokens';

/** From the same sources as Bedrock's; any other is an "unexpected value". */
const countBetas = betaNames(
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
const betas = new Map([...countBetas, [webSearch, webSearch]]);

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
    betas: path === countPath ? countBetas : betas,
  }),
};
