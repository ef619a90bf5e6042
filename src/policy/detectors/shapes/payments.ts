import { readTable } from './table.ts';

export const payments = readTable(`
  Alchemy                   alcht_<alnum:30>  github  -
  Braintree                 access_token$<production|sandbox>$<lower:16>$<hex:32>  https://developer.paypal.com/braintree/docs  -
  Brex                      bxt_<alnum:36>  https://developer.brex.com/docs/authentication/  -
  Duffel                    duffel_<live|test>_<key:43>  https://duffel.com/docs/api/overview/making-requests  -
  EasyPost                  EZ<AK|TK><alnum:54>  https://docs.easypost.com/docs/authentication  -
  Flutterwave               FLW<SECK|PUBK><|_TEST>-<lower:32>-X FLWSECK_TEST-<lower:12>  https://developer.flutterwave.com/docs/authentication  -
  GoCardless                live_<key:40>  https://developer.gocardless.com/getting-started/api/making-your-first-request/  -
  Kickbox                   live_<hex:64>  https://docs.kickbox.com/docs/using-the-api  -
  Lob                       <live|test>_<hex:35> <live|test>_pub_<hex:31>  https://help.lob.com/account-management/api-keys  2026-11
  Mercury                   mercury_production_<word:30-70>  https://docs.mercury.com/reference/getting-started  -
  Midtrans                  Mid-server-<key:24>  https://docs.midtrans.com/docs/  -
  Mollie                    live_<alnum:30>  https://docs.mollie.com/reference/authentication  -
  Paddle                    pdl_<live|sdbx>_apikey_<lower:26>_<alnum:22>_<alnum:3>  https://developer.paddle.com/api-reference/about/authentication  -
  PayPal                    A21AA<key:80-110>  https://developer.paypal.com/api/rest/authentication/  -
  Persona                   persona_<production|sandbox>_<uuid>  https://docs.withpersona.com/api-keys  -
  Plaid                     <access|link|public|asset-report>-<sandbox|development|production>-<uuid>  https://plaid.com/docs/quickstart/glossary/  2026-11
  Polar                     polar_<oat|pat|at|rt|cst>_<key:40-64>  https://polar.sh/docs/integrate/oat  -
  Razorpay                  rzp_live_<alnum:14>  https://razorpay.com/docs/payments/dashboard/account-settings/api-keys/  -
  Shippo                    shippo_<live|test>_<hex:40>  https://docs.goshippo.com/docs/guides_general/authentication/  -
  Square                    sq0<atp|csp|idp>-<key:22-43> EAAA<key:60>  https://developer.squareup.com/docs/build-basics/access-tokens  -
  Stripe                    <sk|rk>_live_<alnum:16-247> whsec_<base64:32-64>  https://gitlab.com/gitlab-org/gitlab/-/issues/458019  2026-11
  Xendit                    xnd_<production|development>_<alnum:40-90>  https://docs.xendit.co/docs/api-keys  -
`);
