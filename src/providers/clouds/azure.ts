import { toSegment } from './bedrock.ts';
import type { CloudApi } from './cloud-api.ts';

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
