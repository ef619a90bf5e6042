import { readTable } from '../table.ts';

export const code = readTable(`
  Adapty                    secret_live_<alnum:8>.<alnum:32>  https://adapty.io/docs/api-adapty  -
  Aikido                    AIK_CI_<alnum:40-80>  github  -
  Anaconda                  an-<uuid>  https://www.anaconda.com/docs/  -
  Apify                     apify_<api|proxy|ui>_<alnum:34-40>  https://docs.apify.com/platform/integrations/api  -
  Argos                     argos_<hex:40>  https://argos-ci.com/docs/  -
  Artifactory               AKCp<alnum:69> cmVmdGtu<alnum:56>  https://jfrog.com/help/r/jfrog-platform-administration-documentation/access-tokens  -
  Atlassian                 <ATATT3|ATCTT3|ATSTT3><padded:180-200>  github  -
  Bitbucket                 ATBB<alnum:32>  https://support.atlassian.com/bitbucket-cloud/docs/app-passwords/  -
  Bitbucket Data Center     BBDC-<base64:44>  https://confluence.atlassian.com/bitbucketserver/http-access-tokens-939515499.html  -
  Buildkite                 bk<ua|ar|ct>_<hex:40> bk<ua|aa|ar>_<alnum:2-12>.<key:40-80>  https://buildkite.com/docs/platform/security/tokens  2026-11
  Central Dogma             appToken-<uuid>  https://github.com/line/centraldogma/issues/893  2026-11
  Chromatic                 chpt_<hex:12-16>  https://www.chromatic.com/docs/setup/  -
  CircleCI                  CCI<PAT|PRJ>_<alnum:22>_<hex:40>  https://circleci.com/changelog/new-format-for-api-access-tokens/  2026-11
  Clojars                   CLOJARS_<lower:60>  https://github.com/clojars/clojars-web/wiki/Deploy-Tokens  -
  CodeSandbox               csb_v1_<key:43>  https://github.com/codesandbox/codesandbox-sdk/blob/0bf8143d629daa915b207e801422cb8b00d16363/src/utils/constants.ts  2026-11
  ConfigCat                 configcat-sdk-1/<key:22>/<key:22>  https://configcat.com/docs/  -
  Contentful                CFPAT-<key:43>  https://www.contentful.com/developers/docs/references/authentication/  -
  Contentstack              cs<hex:40>  https://www.contentstack.com/docs/  -
  Convoy                    CO.<alnum:16>.<alnum:64>  https://www.getconvoy.io/docs  -
  crates.io                 cio<alnum:32>  https://github.com/rust-lang/crates.io/blob/04fe1d28b7b7b4dc0fa938554b56285ffc1a9f3a/src/util/token.rs  2026-11
  DeepSource                dsp_<hex:40>  https://docs.deepsource.com/docs/developers/api  -
  DevCycle                  dvc_<server|client|mobile>_<hex:32>_<hex:7>  https://docs.devcycle.com/  -
  Docker                    dckr_<pat|oat>_<key:27-32>  https://docs.docker.com/reference/api/hub/latest/operations/AuthCreateAccessToken.md  2026-11
  Flagsmith                 ser.<alnum:22>  https://docs.flagsmith.com/clients/server-side  -
  GitBook                   gb_api_<alnum:40>  https://gitbook.com/docs/developers/gitbook-api/authentication  -
  GitHub                    gh<p|o|u|s|r>_<alnum:36-255> github_pat_<alnum:22>_<alnum:59> v1.<hex:40>  https://github.blog/changelog/2021-03-31-authentication-token-format-updates-are-generally-available  2026-11
  GitLab                    gl<pat|oas|dt|rt|rtr|ft|imt|soat|ffct|wt|ptt|cbt|agent>-<key:20-64> glpat-<key:27-300>.<lower:2>.<lower:9> GR1348941<key:20-24> _gitlab_session=<hex:32>  https://docs.gitlab.com/security/tokens/  2026-11
  Gitpod                    gitpod_pat_<secret:30-250>  https://github.com/gitpod-io/gitpod/blob/509b523033dbddb8998823f7111e53007ce6c6b2/components/public-api-server/pkg/auth/personal_access_token.go  2026-11
  GrowthBook                secret_<admin|readonly|user>_<alnum:24-40>  https://docs.growthbook.io/  -
  Harness                   <pat|sat>.<key:22>.<hex:24>.<alnum:20>  https://developer.harness.io/docs/platform/automation/api/add-and-manage-api-keys/  -
  Hex                       hex_<hex:40>  https://github.com/hexpm/hexpm/pull/1536  2026-11
  Infracost                 ico-<alnum:32>  https://www.infracost.io/docs/  -
  Inngest                   signkey-<lower:2-20>-<hex:64>  https://github.com/inngest/inngest-js/blob/013468e09d5e5c108a4780ba1a329d5aaa358a24/packages/inngest/src/helpers/strings.ts  2026-11
  Ionic                     ion_<lower:42>  github  -
  JetBrains                 perm:<base64:4-60>.<base64:2-60>.<alnum:30> perm-<base64:4-60>.<base64:2-60>.<alnum:30>  https://www.jetbrains.com/help/youtrack/devportal/authentication-with-permanent-token.html  2026-11
  JSR                       jsr<w|d|p>_<alnum:36>  https://jsr.io/docs/api  -
  LambdaTest                LT_<alnum:45-55>  https://www.lambdatest.com/support/docs/  -
  Laravel                   base64:<base64:43>  https://laravel.com/docs/encryption  -
  LaunchDarkly              <api|sdk|mob>-<uuid>  https://launchdarkly.com/docs/home/account/environment/keys  2026-11
  Minisign                  RWRTY0Iy<base64:180-220>  https://jedisct1.github.io/minisign/  -
  Modrinth                  <mrp|mro>_<alnum:60>  https://docs.modrinth.com/api/  -
  npm                       npm_<alnum:36>  https://docs.npmjs.com/about-access-tokens  -
  NuGet                     oy2<lower:43>  https://github.com/microsoft/security-utilities/blob/036eb4b32c94999e6c78054e39163496fed88200/GeneratedRegexPatterns/PreciselyClassifiedSecurityKeys.json  2026-11
  Octopus Deploy            API-<upper:25-32>  https://octopus.com/docs/octopus-rest-api/how-to-create-an-api-key  -
  Open VSX                  ovsxat_<uuid>  https://github.com/EclipseFdn/open-vsx.org/issues/6347  2026-11
  Packagist                 packagist_<ort|orw|out|uut>_<hex:68>  https://packagist.com/docs/composer-authentication  2026-11
  Percy                     <web|app|auto>_<hex:64>  https://www.browserstack.com/docs/percy/  -
  PostHog                   ph<x|s|r>_<alnum:40-48>  https://github.com/PostHog/posthog/blob/030722fcd3ed61a124cc19cd1627d33c3391dbfb/posthog/models/utils.py  2026-11
  Postman                   PMAK-<hex:24>-<hex:34> PMAT-<alnum:26>  https://learning.postman.com/docs/developer/postman-api/authentication/  -
  Prefect                   pn<u|b>_<alnum:36>  https://docs.prefect.io/v3/how-to-guides/cloud/manage-users/api-keys  -
  prefix.dev                pfx_<alnum:40-60>  https://prefix.dev/docs/  -
  PyPI                      pypi-AgEIcHlwaS5vcmc<key:50-300> pypi-AgENdGVzdC5weXBpLm9yZw<key:50-300>  https://github.com/pypi/warehouse/blob/2e979f785b5f51f4f0a9e0d2beb3808937859885/warehouse/integrations/secrets/utils.py  2026-11
  ReadMe                    rdme_<lower:70>  https://docs.readme.com/main/reference/authentication  -
  RubyGems                  rubygems_<hex:48>  https://github.com/rubygems/rubygems.org/blob/066aae5501c8364428647e2bbbe68dca98f743f7/app/controllers/concerns/api_keyable.rb  2026-11
  Semgrep                   sgp_<hex:64>  https://semgrep.dev/docs/  -
  Settlemint                sm_<pat|aat|sat>_<lower:16>  https://github.com/settlemint/sdk/blob/1fb1a12f66e4918c54a375b733c26bc0f36ba3dd/sdk/utils/src/validation/access-token.schema.ts  2026-11
  Snyk                      snyk_<uat|sat>.<hex:8>.<key:40-60>  https://docs.snyk.io/  -
  Sonar                     sq<u|p|a|b>_<hex:40>  https://docs.sonarsource.com/sonarqube-server/user-guide/managing-tokens/  -
  Sourcegraph               sgp_<hex:40> sgp_<hex:16>_<hex:40> sgp_local_<hex:40> slk_<hex:64>  https://github.com/sourcegraph/sourcegraph-public-snapshot/blob/0c504c8e555ab07b529249a2cda2bb06386c2380/internal/accesstoken/personal_access_token.go  2026-11
  Stackhawk                 hawk.<key:20>.<key:20>  https://docs.stackhawk.com/  -
  Statsig                   <secret|console>-<alnum:43>  https://docs.statsig.com/  -
  Svix                      <testsk|sk>_<key:32>.<eu|us|ca|au|in>  https://docs.svix.com/  -
  TeamCity                  eyJ0eXAiOiAiVENWMiJ9.<key:20-60>.<key:30-60>  https://www.jetbrains.com/help/teamcity/configuring-your-user-profile.html  -
  Testcontainers Cloud      tcc_svc_<key:20-60>  https://testcontainers.com/cloud/docs/  -
  Tinybird                  p.eyJ<key:60-300>.<key:43>  https://www.tinybird.co/docs/  -
  Tolgee                    tgpa<k|t>_<lower:40-70>  https://docs.tolgee.io/platform/account_settings/api_keys_and_pat_tokens  2026-11
  Transifex                 1/<hex:40>  https://developers.transifex.com/reference/api-authentication  -
  Trigger.dev               tr_<dev|prod|pat|stg|preview>_<alnum:20-40> tr_<dev|prod|stg|preview>_sk_<alnum:20-64>  https://trigger.dev/docs/apikeys  2026-11
  Unkey                     unkey_<alnum:22-26>  https://www.unkey.com/docs/  -
  Unleash                   default:<development|production>.<hex:56-64>  https://docs.getunleash.io/reference/api-tokens-and-client-keys  -
  Val Town                  vtwn_<alnum:20-40>  https://docs.val.town/api/authentication/  -
  Vanta                     vc<i|s>_<hex:40-50>  https://developer.vanta.com/docs/  -
  WakaTime                  waka_<uuid> waka_<tok|sec|ref>_<alnum:60-100>  https://github.com/wakatime/vscode-wakatime/blob/01ac846764ec1a167a00e4d225f1073e69b35dac/src/utils.ts  2026-11
  Weblate                   wl<u|p>_<alnum:36>  https://docs.weblate.org/en/latest/api.html  -
`);
