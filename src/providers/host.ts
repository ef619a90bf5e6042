/** Families of hosts, which determine URLs and how the key is sent. */
export type ProviderFamily = 'sandbox' | 'anthropic' | 'openai';

/** Which vendor's behaviour a host has, if hosts of one family differ. */
export type Host = 'openai' | 'anthropic' | 'compatible';

export function hostOf(family: ProviderFamily, hostname: string): Host {
  if (family === 'anthropic') return 'anthropic';
  const isOpenAi = hostname === 'api.openai.com' || hostname.endsWith('.openai.azure.com');
  return isOpenAi ? 'openai' : 'compatible';
}
