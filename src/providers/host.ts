/** Families of hosts: how they are addressed and given their key. */
export type ProviderFamily = 'sandbox' | 'anthropic' | 'openai';

/** Whose habits a host has where hosts of one family differ. */
export type Host = 'openai' | 'anthropic' | 'compatible';

export function hostOf(family: ProviderFamily, hostname: string): Host {
  if (family === 'anthropic') return 'anthropic';
  const isOpenAi = hostname === 'api.openai.com' || hostname.endsWith('.openai.azure.com');
  return isOpenAi ? 'openai' : 'compatible';
}
