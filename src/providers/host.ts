import type { ProviderConfig } from '../config/build/providers.ts';
import { isLoopbackHost } from '../loopback.ts';

/** Families of hosts, which determine URLs and how the key is sent. */
export type ProviderFamily = ProviderConfig['dialect'];

/** Which vendor's behaviour a host has, if hosts of one family differ. */
export type Host = 'openai' | 'anthropic' | 'compatible';

/**
 * Hosts whose chat streams are known to end with a usage if `stream_options` asks for it: OpenAI's, what is served
 * locally (llama.cpp, LM Studio, Ollama, vLLM), and those whose documentation says so. Others may refuse the field.
 */
const usageHosts = [
  ...['api.openai.com', '.openai.azure.com', '.localhost'],
  ...[
    'api.deepseek.com',
    'api.fireworks.ai',
    'api.groq.com',
    'api.together.xyz',
    'api.x.ai',
    'openrouter.ai',
  ],
  'generativelanguage.googleapis.com',
];

export function reportsStreamUsage(hostname: string): boolean {
  const isNamed = usageHosts.some((name) =>
    name.startsWith('.') ? hostname.endsWith(name) : hostname === name,
  );
  return isNamed || isLoopbackHost(hostname);
}

export function hostOf(family: ProviderFamily, hostname: string): Host {
  if (family === 'anthropic' || family === 'bedrock' || family === 'vertex') return 'anthropic';
  const isOpenAi = hostname === 'api.openai.com' || hostname.endsWith('.openai.azure.com');
  return isOpenAi ? 'openai' : 'compatible';
}
