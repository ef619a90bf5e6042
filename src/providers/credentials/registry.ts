import type { Cloud } from '../../hosts/clouds.ts';
import type { AuthorizedHost, Authorizer } from './authorizer.ts';

/** Where a kind of credentials is loaded from, when a provider first needs it: to add a kind, write its file and a line here. */
const kinds: Readonly<Record<Cloud, (host: AuthorizedHost) => Promise<Authorizer>>> = {
  aws: async (host) => (await import('./aws.ts')).awsAuthorizer(host),
  azure: async (host) => (await import('./azure.ts')).azureAuthorizer(host),
  google: async (host) => (await import('./google.ts')).googleAuthorizer(host),
};

/** Nothing of a cloud is loaded before the first request for it. */
export function createAuthorizer(kind: Cloud, host: AuthorizedHost): Authorizer {
  let loading: Promise<Authorizer> | undefined;
  let loaded: Authorizer | undefined;
  return {
    authorize: async (request) => {
      // One for all who come meanwhile: each has a cache of its own.
      loading ??= kinds[kind](host);
      loaded = await loading;
      return loaded.authorize(request);
    },
    refused: (refusal) => loaded?.refused(refusal) === true,
  };
}
