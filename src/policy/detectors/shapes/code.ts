import { readTable } from './table.ts';

export const code = readTable(`
  Aikido                    AIK_CI_<alnum:40-80>  github  -
  Anaconda                  an-<uuid>  https://www.anaconda.com/docs/  -
  Apify                     apify_<api|proxy|ui>_<alnum:34-40>  https://docs.apify.com/platform/integrations/api  -
  Artifactory               AKCp<alnum:69> cmVmdGtu<alnum:56>  https://jfrog.com/help/r/jfrog-platform-administration-documentation/access-tokens  -
  Atlassian                 <ATATT3|ATCTT3|ATSTT3><padded:180-200>  github  -
  Bitbucket                 ATBB<alnum:32>  https://support.atlassian.com/bitbucket-cloud/docs/app-passwords/  -
  Buildkite                 bk<ua|ar|ct>_<hex:40> bk<ua|aa|ar>_<alnum:2-12>.<key:40-80>  https://buildkite.com/docs/platform/security/tokens  2026-11
  CircleCI                  CCI<PAT|PRJ>_<alnum:22>_<hex:40>  https://circleci.com/docs/managing-api-tokens/  -
  Chromatic                 chpt_<hex:12-16>  https://www.chromatic.com/docs/setup/  -
  Clojars                   CLOJARS_<lower:60>  https://github.com/clojars/clojars-web/wiki/Deploy-Tokens  -
  CodeSandbox               csb_v1_<key:43>  https://codesandbox.io/docs/sdk  -
  ConfigCat                 configcat-sdk-1/<key:22>/<key:22>  https://configcat.com/docs/  -
  Contentful                CFPAT-<key:43>  https://www.contentful.com/developers/docs/references/authentication/  -
  crates.io                 cio<alnum:32>  https://doc.rust-lang.org/cargo/reference/publishing.html  -
  DeepSource                dsp_<hex:40>  https://docs.deepsource.com/docs/developers/api  -
  Docker                    dckr_<pat|oat>_<key:27-32>  https://docs.docker.com/security/access-tokens/  -
  Flagsmith                 ser.<alnum:22>  https://docs.flagsmith.com/clients/server-side  -
  GitBook                   gb_api_<alnum:40>  https://gitbook.com/docs/developers/gitbook-api/authentication  -
  GitHub                    gh<p|o|u|s|r>_<alnum:36-255> github_pat_<alnum:22>_<alnum:59>  https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github  -
  GitLab                    gl<pat|oas|dt|rt|rtr|ft|imt|soat|ffct|wt|ptt|cbt|agent>-<key:20-64> glpat-<key:27-300>.<lower:2>.<lower:9> GR1348941<key:20-24> _gitlab_session=<hex:32>  https://docs.gitlab.com/security/tokens/  2026-11
  Gitpod                    gitpod_pat_<secret:30-250>  https://www.gitpod.io/docs/classic/user/configure/user-settings/access-tokens  -
  Harness                   <pat|sat>.<key:22>.<hex:24>.<alnum:20>  https://developer.harness.io/docs/platform/automation/api/add-and-manage-api-keys/  -
  Infracost                 ico-<alnum:32>  https://www.infracost.io/docs/  -
  Inngest                   signkey-<prod|test|branch>-<hex:64>  https://www.inngest.com/docs/platform/signing-keys  -
  Ionic                     ion_<lower:42>  github  -
  LaunchDarkly              <api|sdk|mob>-<uuid>  https://launchdarkly.com/docs/home/account/api  -
  npm                       npm_<alnum:36>  https://docs.npmjs.com/about-access-tokens  -
  NuGet                     oy2<lower:43>  https://learn.microsoft.com/en-us/nuget/nuget-org/publish-a-package  -
  Octopus Deploy            API-<upper:25-32>  https://octopus.com/docs/octopus-rest-api/how-to-create-an-api-key  -
  Packagist                 packagist_<ort|orw|out|uut>_<hex:68>  https://packagist.com/docs/composer-authentication  -
  Percy                     <web|app|auto>_<hex:64>  https://www.browserstack.com/docs/percy/  -
  PostHog                   ph<x|s|r>_<alnum:43>  https://posthog.com/docs/api  -
  Postman                   PMAK-<hex:24>-<hex:34> PMAT-<alnum:26>  https://learning.postman.com/docs/developer/postman-api/authentication/  -
  Prefect                   pn<u|b>_<alnum:36>  https://docs.prefect.io/v3/how-to-guides/cloud/manage-users/api-keys  -
  PyPI                      pypi-AgEIcHlwaS5vcmc<key:50-300> pypi-AgENdGVzdC5weXBpLm9yZw<key:50-300>  https://pypi.org/help/  -
  ReadMe                    rdme_<lower:70>  https://docs.readme.com/main/reference/authentication  -
  RubyGems                  rubygems_<hex:48>  https://guides.rubygems.org/api-key-scopes/  -
  Settlemint                sm_<pat|aat|sat>_<lower:16>  https://console.settlemint.com/documentation/  -
  Semgrep                   sgp_<hex:64>  https://semgrep.dev/docs/  -
  Sonar                     sq<u|p|a|b>_<hex:40>  https://docs.sonarsource.com/sonarqube-server/user-guide/managing-tokens/  -
  Sourcegraph               sgp_<hex:40> sgp_<hex:16>_<hex:40> sgp_local_<hex:40> slk_<hex:64>  https://sourcegraph.com/docs/cli/how-tos/creating_an_access_token  -
  Stackhawk                 hawk.<key:20>.<key:20>  https://docs.stackhawk.com/  -
  Statsig                   <secret|console>-<alnum:43>  https://docs.statsig.com/  -
  TeamCity                  eyJ0eXAiOiAiVENWMiJ9.<key:20-60>.<key:30-60>  https://www.jetbrains.com/help/teamcity/configuring-your-user-profile.html  -
  Tinybird                  p.eyJ<key:60-300>.<key:43>  https://www.tinybird.co/docs/  -
  Tolgee                    tgpa<k|t>_<lower:40-70>  https://docs.tolgee.io/platform/account_settings/api_keys_and_pat_tokens  -
  Transifex                 1/<hex:40>  https://developers.transifex.com/reference/api-authentication  -
  Trigger.dev               tr_<dev|prod|pat|stg|preview>_<alnum:20-40>  https://trigger.dev/docs/apikeys  -
  WakaTime                  waka_<uuid>  https://wakatime.com/api  -
`);
