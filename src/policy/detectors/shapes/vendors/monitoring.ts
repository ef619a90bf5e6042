import { readTable } from '../table.ts';

export const monitoring = readTable(`
  Axiom                     xa<at|pt|it>-<uuid>  https://github.com/axiomhq/axiom-go/blob/00b9292741a3c2bca4d9c0b7f7fb39ef931e19e5/internal/config/token.go  2026-11
  Bigeye                    bigeye_<pak|agentpak>_<alnum:40-60>  https://docs.bigeye.com/docs/using-api-keys  -
  Checkly                   cu_<hex:32>  https://www.checklyhq.com/docs/  -
  Coralogix                 cx<tp|up>_<alnum:28-40>  https://coralogix.com/docs/  -
  Datadog                   ddapp_<alnum:34> ddpat_<alnum:30-60>  https://docs.datadoghq.com/account_management/api-app-keys/  -
  Dynatrace                 dt0<s|c><digits:2>.<upper:8-24>.<upper:64>  https://docs.dynatrace.com/docs/manage/identity-access-management/access-tokens-and-oauth-clients/access-tokens-legacy  2026-11
  Elastic                   essu_<base64:60-140>  https://www.elastic.co/docs/deploy-manage/api-keys  -
  FireHydrant               fhb-<hex:64>  https://docs.firehydrant.com/  -
  Grafana                   glc_<base64:32-400> glsa_<alnum:32>_<hex:8> eyJrIjoi<base64:60-400>  https://github.com/grafana/grafana/blob/548e493937488273622ed41571933ffc02d0b789/pkg/components/satokengen/tokengen_test.go  2026-11
  Healthchecks              hc<w|r>_<alnum:28>  https://healthchecks.io/docs/api/  -
  Honeybadger               hbp_<alnum:36>  https://docs.honeybadger.io/api/  -
  Honeycomb                 hc<a|x|b><ik|mk|lk>_<lower:50-60>  https://docs.honeycomb.io/configure/environments/manage-api-keys/  -
  incident.io               inc_<production|development|test>_<hex:64>  https://api-docs.incident.io/  -
  Lightdash                 ldpat_<hex:32> ldsvc_<hex:32>  https://docs.lightdash.com/references/personal-tokens  -
  LogicMonitor              <lmb|lma>_<padded:40-120>  https://www.logicmonitor.com/support/rest-api-authentication  -
  Mapillary                 MLY|<digits:14-18>|<hex:32>  https://www.mapillary.com/developer/api-documentation  -
  New Relic                 NRAK-<upper:27> NRI<I|Q>-<key:32> NRJS-<hex:19> <hex:36>NRAL  https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/  -
  PagerDuty                 pd<us|eu>+_<alnum:6-8>_<uuid>  https://developer.pagerduty.com/docs/  -
  Rootly                    rootly_<hex:64>  https://docs.rootly.com/api-reference/overview  -
  Sentry                    sntrys_<base64:80-500>_<base64:43> sntry<u|a|i>_<hex:64>  https://docs.sentry.io/account/auth-tokens/  2026-11
`);
