import { expect, test } from 'vitest';
import { azureDeployments, bedrock, vertex } from '../../../src/providers/clouds/clouds.ts';

const clouds = { bedrock, vertex, azure: azureDeployments('2024-10-21') };
const path = (cloud: keyof typeof clouds, model: string) =>
  clouds[cloud].pathFor({
    path: cloud === 'azure' ? '/v1/chat/completions' : '/v1/messages',
    model,
    stream: false,
  });

test.each([
  ['bedrock', 'anthropic.claude-v1:0', '/model/anthropic.claude-v1%3A0/invoke'],
  ['bedrock', 'arn:aws:bedrock:us-east-1:1:x/y', '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ax%2Fy/invoke'],
  ['vertex', 'claude@20250929', '/publishers/anthropic/models/claude@20250929:rawPredict'],
  ['vertex', 'a:b;c?d#e', '/publishers/anthropic/models/a%3Ab%3Bc%3Fd%23e:rawPredict'],
  ['azure', 'my deployment', '/deployments/my%20deployment/chat/completions?api-version=2024-10-21'],
  ['azure', '%2e%2e', '/deployments/%252e%252e/chat/completions?api-version=2024-10-21'],
] as const)('%s: the name %s is one segment of the path', (cloud, model, expected) => {
  expect(path(cloud, model)).toBe(expected);
});

test.each(['bedrock', 'vertex', 'azure'] as const)(
  '%s: a name that would be another path is refused',
  (cloud) => {
    for (const model of ['', '.', '..', '../x', 'a/../b', 'a//b', '/a', 'a/', 'a/.'])
      expect(() => path(cloud, model), model).toThrow('cannot stand in a path');
  },
);
