import { readTable } from '../table.ts';

export const cloud = readTable(`
  Aiven                     AVNS_<key:19> aivenv1<base64:200-600>  github  -
  Akamai                    akab-<key:16>-<key:16>  https://techdocs.akamai.com/developer/docs/set-up-authentication-credentials  -
  Alibaba Cloud             LTAI<alnum:12-22>  github  -
  Amazon                    <AKIA|ASIA|ABIA|ACCA><base32:16> ABSK<base64:100-270> amzn.mws.<uuid> amzn1.oa2-cs.v1.<hex:64> <IQoJb3JpZ2luX2Vj|FwoGZXIvYXdz><base64:180-2000> da2-<lower:26> bedrock-api-key-<base64:80-2000>  https://docs.amazonaws.cn/goto/WebAPI/sts-2011-06-15/GetAccessKeyInfo  2026-11
  AppVeyor                  v2.<lower:20>  https://www.appveyor.com/docs/api/  -
  Appwrite                  <standard|organization|account>_<hex:256>  https://github.com/appwrite/appwrite/blob/004a38ed8017b85bf314ac1cab05069e26734b4d/app/init/constants.php  2026-11
  Azure                     <secret:3><7|8>Q~<secret:31-34> <alnum:52>JQQJ9<9|D|H><alnum:26-28> <base64:76>+A<St|Ba|MC><base64:6-8> <base64:76>ACDb<base64:6-8> <base64:76>APIM<base64:6-8> <base64:33>+A<Sb|Eh|Rm><base64:6-8> <base64:33>A<IoT|ZEG|zCa><base64:6-8> <alnum:42>AzSe<alnum:6> <base64:42>+ACR<base64:6> <key:44>AzFu<padded:8>  https://github.com/microsoft/security-utilities/blob/036eb4b32c94999e6c78054e39163496fed88200/GeneratedRegexPatterns/PreciselyClassifiedSecurityKeys.json  2026-11
  Azure DevOps              <alnum:76>AZDO<alnum:4>  https://learn.microsoft.com/en-us/purview/sit-defn-azure-devops-personal-access-token  2026-11
  Backblaze                 K00<digits:1><base64:27>  https://www.backblaze.com/docs/cloud-storage-application-keys  -
  Baidu Cloud               bce-v3/ALTAK-<alnum:21>/<hex:40> ALTAK-<alnum:21>  github  -
  ClickHouse                4b1d<alnum:38>  github  -
  Cloudflare                v1.0-<hex:24>-<hex:146> cf<ut|at|k>_<alnum:40><hex:8> api.cloudflare.com/client/v4/pages/webhooks/deploy_hooks/<uuid>  https://developers.cloudflare.com/fundamentals/api/get-started/token-formats/  2026-11
  Cloudinary                cloudinary://<digits:15>:<key:27>@<word:2-40>  https://cloudinary.com/documentation/  -
  CockroachDB               CCDB1_<alnum:22>_<alnum:40>  https://www.cockroachlabs.com/docs/cockroachcloud/authorization  -
  Confluent                 cflt<base64:60>  github  -
  Convex                    <prod|dev|preview|project>:<key:5-60>|<base64:40-200>  https://docs.convex.dev/cli/deploy-key-types  -
  Crunchy Bridge            cbkey_<alnum:30-60>  https://docs.crunchybridge.com/api/  -
  Databricks                <dapi|dose|dkea><hex:32> dapi<hex:32>-<digits:1>  https://github.com/microsoft/security-utilities/blob/036eb4b32c94999e6c78054e39163496fed88200/GeneratedRegexPatterns/PreciselyClassifiedSecurityKeys.json  2026-11
  Daytona                   dtn_<hex:64>  https://www.daytona.io/docs/  -
  dbt                       dbt<u|c|s>_<key:40-60>  https://docs.getdbt.com/docs/dbt-cloud-apis/authentication  -
  Defined Networking        dnkey-<alnum:26>-<alnum:52>  github  -
  Deno                      dd<p|o|w>_<alnum:36>  https://docs.deno.com/deploy/  -
  Depot                     depot_<org|project|user>_<hex:64>  https://depot.dev/docs/  -
  DigitalOcean              <dop|doo|dor>_v1_<hex:64> DO00<upper:16>  https://docs.digitalocean.com/release-notes/2022/api-token-format/  2026-11
  Docker Swarm              SWMTKN-1-<lower:49-50>-<lower:25> SWMKEY-1-<base64:43>  https://docs.docker.com/engine/swarm/join-nodes/  -
  Doppler                   dp.<pt|ct|scim|audit|sa|st>.<alnum:40-44> dp.st.<key:2-35>.<alnum:40-44>  https://docs.doppler.com/reference/auth-token-formats  -
  Exoscale                  EXO<hex:24-26>  https://community.exoscale.com/  -
  Fauna                     fnA<key:37>  https://docs.fauna.com/  -
  FlakeHub                  flakehub1_<key:30-200>  https://docs.determinate.systems/flakehub/concepts/authentication  -
  Fly.io                    fo1_<key:43> fm<1r|1a|2>_<base64:80-700>  https://readme.hex.pm/macfly/0.2.20  2026-11
  GoDaddy                   gd_pat_<alnum:30-64>_<hex:8>  https://github.com/godaddy/cli/pull/131/files  2026-11
  Google                    AIza<key:35> GOCSPX-<key:28> ya29.<key:60-1200> 1//0<key:40-120> GOOG1E<upper:55> AAAA<key:7>:APA91b<key:134> AQ.Ab<key:45-60> 4/0A<key:50-100>  https://cloud.google.com/docs/authentication/api-keys  -
  HashiCorp Terraform       <alnum:14>.atlasv1.<key:60-70>  https://developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens  -
  HashiCorp Vault           hv<s|b|r>.<key:24-300>  https://github.com/hashicorp/vault/blob/0f63861cdd098f307fc4e50229accc4d510ef676/sdk/helper/consts/token_consts.go  2026-11
  Headscale                 hskey-<auth|api>-<key:12>-<key:64>  https://headscale.net/  -
  Heroku                    HRKU-<key:36-65>  https://devcenter.heroku.com/changelog-items/3175  2026-11
  ImageKit                  private_<base64:27>  https://imagekit.io/docs/api-keys  -
  Infisical                 st.<hex:24>.<hex:32>.<hex:32> st.<uuid>.<hex:32> st.<uuid>.<hex:32>.<hex:32>  https://github.com/Infisical/infisical/blob/097d526cb7703bf32b87c2eaac707947a3612bfa/backend/src/services/service-token/service-token-service.ts  2026-11
  JumpCloud                 jca_<alnum:36>  github  -
  LocalStack                ls-<alnum:8>-<alnum:4>-<alnum:4>-<alnum:4>-<alnum:12>  https://docs.localstack.cloud/aws/getting-started/auth-token/  -
  Materialize               mzp_<hex:64> mzp_<key:43> mzp_<uuid>:<uuid>  https://github.com/MaterializeInc/materialize/blob/013b96740eeafc731ad3634229e8c437a9f44321/src/frontegg-auth/src/app_password.rs  2026-11
  MongoDB Atlas             mdb_sa_sk_<key:40>  https://www.mongodb.com/docs/atlas/configure-api-access/  -
  Neon                      napi_<lower:64>  https://neon.com/docs/manage/api-keys  -
  NetBird                   nbp_<alnum:36>  https://docs.netbird.io/  -
  Netlify                   nf<p|c|o|u|b>_<alnum:36> api.netlify.com/build_hooks/<hex:24>  https://answers.netlify.com/t/change-to-the-netlify-authentication-token-format/106146  2026-11
  OpenShift                 sha256~<key:43>  https://docs.redhat.com/en/documentation/openshift_container_platform/  -
  PlanetScale               pscale_<tkn|oauth|pw|oat>_<secret:32-64>  https://planetscale.com/docs/api/planetscale-api-oauth-applications  -
  Porkbun                   <pk|sk>1_<hex:64>  https://porkbun.com/api/json/v3/documentation  -
  Pulumi                    pul-<hex:40>  https://www.pulumi.com/docs/pulumi-cloud/reference/personal-access-tokens  2026-11
  Qovery                    qov_<word:40-120>  https://hub.qovery.com/docs/  -
  Rancher                   token-<lower:5>:<lower:54>  https://ranchermanager.docs.rancher.com/reference-guides/user-settings/api-keys  -
  Render                    rnd_<alnum:28-32> api.render.com/deploy/srv-<lower:20>?key=<key:11>  https://render.com/docs/api  -
  Scaleway                  SCW<upper:17>  https://github.com/scaleway/scaleway-sdk-go/blob/3cf637fdda0bc4d7f33d68335414d578d5499e8f/validation/is.go  2026-11
  Scalingo                  tk-us-<key:48>  https://developers.scalingo.com/tokens  -
  Supabase                  sbp_<hex:40> sbp_<oauth|v0>_<hex:40> sb_secret_<key:22>_<key:8>  https://supabase.com/docs/guides/api/api-keys  2026-11
  Tailscale                 tskey-<alnum:20-40> tskey-<api|auth|client|scim|webhook>-<alnum:10-20>-<alnum:20-40>  https://tailscale.com/kb/1277/key-prefixes  2026-11
  Tencent Cloud             AKID<alnum:32>  github  -
  Tigris                    tsec_<key:50>  https://www.tigrisdata.com/docs/  -
  UpCloud                   ucat_<alnum:26>  https://upcloud.com/docs/guides/creating-api-tokens/  -
  UploadThing               sk_live_<hex:64>  https://docs.uploadthing.com/  -
  Upstash                   eyJVc2VySUQiOi<base64:60-200> sig_<alnum:26-30>  https://upstash.com/docs/qstash/howto/signature  -
  Vercel                    vc<p|i|a|r|k>_<alnum:56> api.vercel.com/v1/integrations/deploy/<word:10-60>/<alnum:8-12>  https://vercel.com/changelog/new-token-formats-and-secret-scanning  2026-11
  Volcengine                AKLT<base64:40-70>  github  -
  Workato                   wrka<us|eu|jp|sg|au|il>-eyJ<key:20-600>.<key:20-1500>.<key:40-700>  https://docs.workato.com/en/platform/api-clients.html  -
  Xata                      xau_<alnum:35-40>  https://xata.io/docs/api-reference/authentication  -
  Yandex Cloud              AQVN<key:34-38> YCA<J|M|N|O|P|Q><key:34> <c1|t1>.<padded:20-300>.<padded:86-88> y<0|1|2|3>_<key:50-60> <dict|trnsl|pdct>.1.1.<digits:8>T<digits:6>Z.<hex:16>.<hex:40>  https://gitlab.com/gitlab-org/gitlab/-/issues/353039  2026-11
`);
