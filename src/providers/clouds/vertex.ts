import { toSegment } from './bedrock.ts';
import type { CloudApi } from './cloud-api.ts';

const countPath = '/v1/messages/count_tokens';

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
  }),
};
