import { readTable } from '../table.ts';

/** Access: password managers, identity providers, remote access. */
export const identity = readTable(`
  1Password                 ops_eyJ<base64:150-1500> A3-<upper:6>-<upper:6>-<upper:5>-<upper:5>-<upper:5>-<upper:5> A3-<upper:6>-<upper:11>-<upper:5>-<upper:5>-<upper:5>  https://developer.1password.com/docs/service-accounts/  -
  Arcjet                    ajkey_<lower:26>  https://docs.arcjet.com/  -
  Authress                  <sc|ext|scauth|authress>_<lower:5-30>.<lower:4-6>.acc<|_|-><lower:10-32>.<base64:30-120>  https://authress.io/knowledge-base/docs/authorization/service-clients/  -
  Bitwarden                 0.<uuid>.<alnum:30>:<base64:22-24>  https://github.com/bitwarden/sdk/blob/d147aff718bf2b2269e88769b7b88c5946abcd6d/crates/bitwarden-core/src/auth/access_token.rs  2026-11
  Censys                    censys_<alnum:8>_<alnum:24-40>  https://docs.censys.com/docs/platform-creating-a-personal-access-token  -
  HashiCorp Boundary        at_<alnum:10>_s1<alnum:40-200>  https://github.com/hashicorp/boundary/blob/01b7f0478202b71c93581fa08a1f6dd7bc9dfb29/globals/prefixes.go  2026-11
  Keeper                    <US|EU|AU|JP|CA>:<key:43>  https://docs.keeper.io/en/keeperpam/secrets-manager/about/one-time-token  -
  Kong                      <kpat|spat>_<alnum:49>  https://developer.konghq.com/  -
  Onfido                    api_<live|sandbox><|_us|_ca|_eu>.<key:11>.<key:32>  https://documentation.identity.entrust.com/  -
  Ory                       ory_<at|rt|ac>_<key:43>.<key:43> ory_<st|pat|apikey|wak>_<alnum:32-64>  https://github.com/ory/hydra/issues/2845  2026-11
  Pangea                    pts_<lower:32>  https://pangea.cloud/docs/  -
  PASETO                    v<2|3|4>.<local|public>.<key:80-2000>  https://github.com/paseto-standard/paseto-spec/blob/1534915e07c012d7d8a2779e34dc5b865d017cd8/docs/01-Protocol-Versions/Version4.md  2026-11
  Permit.io                 permit_key_<alnum:60-120>  https://docs.permit.io/  -
  Privy                     privy_app_secret_<base64:40-100>  https://docs.privy.io/  -
  Proxmox                   PVEAPIToken=<secret:1-40>@<key:2-20>!<key:1-40>=<uuid>  https://pve.proxmox.com/wiki/Proxmox_VE_API  -
  secret-token addresses    secret-token:<secret:12-200>  https://www.rfc-editor.org/rfc/rfc8959  -
  Socket                    sktsec_<key:30-70>  https://docs.socket.dev/  -
  Stytch                    secret-<live|test>-<key:35-48>  https://stytch.com/docs/  -
  Sumsub                    <prd|sbx|tst>:<alnum:24>.<alnum:32>  https://docs.sumsub.com/reference/authentication  -
`);
