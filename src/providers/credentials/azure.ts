import { type AuthorizedHost, type Authorizer, requirePackage } from './authorizer.ts';
import { bearerAuthorizer } from './credential-cache.ts';

/** The part of `@azure/identity` that is used. */
interface AzureIdentity {
  readonly DefaultAzureCredential: new () => {
    getToken(scope: string): Promise<{ readonly token: string; readonly expiresOnTimestamp: number } | null>;
  };
}

/** Microsoft Entra ID by the default chain: environment, workload identity, managed identity, Azure CLI and others. */
export function azureAuthorizer({ name, url }: AuthorizedHost): Authorizer {
  const fetch = async () => {
    const { DefaultAzureCredential } = requirePackage('azure', { provider: name }) as AzureIdentity;
    // A new one each time, so that it keeps nothing that was refused, or that "az login" has replaced.
    const found = await new DefaultAzureCredential().getToken(scopeOf(url));
    if (found === null) throw new Error('no credential of the chain gave a token');
    return { token: found.token, endsAtMs: found.expiresOnTimestamp };
  };
  return bearerAuthorizer(
    fetch,
    `provider ${name}: there is no token of Entra ID: run "az login", or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET`,
  );
}

/** Azure OpenAI's hosts have a scope of their own, as the vendors' SDKs use it; all others are Foundry's. */
function scopeOf({ hostname }: URL): string {
  return hostname.endsWith('.openai.azure.com')
    ? 'https://cognitiveservices.azure.com/.default'
    : 'https://ai.azure.com/.default';
}
