import { readTable } from '../table.ts';

export const payments = readTable(`
  Adyen                     AQE<base64:40-120>-<base64:40-60>-<secret:12-30>  https://docs.adyen.com/development-resources/api-credentials/  -
  AfterShip                 asat_<hex:32>  https://www.aftership.com/docs/tracking/quickstart/authentication  -
  Alchemy                   alcht_<alnum:30>  github  -
  Alpaca                    <PK|AK|CK><upper:18>  https://docs.alpaca.markets/  -
  Asaas                     $aact_<prod|hmlg>_<base64:120-240>  https://docs.asaas.com/  -
  Blockfrost                <mainnet|preprod|preview|ipfs><alnum:32>  https://docs.blockfrost.io/  -
  Braintree                 <access_token|client_secret>$<development|integration|qa|sandbox|production>$<lower:16>$<hex:32>  https://github.com/braintree/braintree_python/blob/495138f824597e271a07666e25eac036af633204/braintree/credentials_parser.py  2026-11
  Brex                      bxt_<alnum:36>  https://developer.brex.com/docs/authentication/  -
  Cashfree                  cfsk_ma_<prod|test>_<hex:32>_<hex:8>  https://www.cashfree.com/docs/api-reference/authentication  -
  Chargebee                 live_<alnum:30-50>  https://apidocs.chargebee.com/docs/api/  -
  Chargily                  <test|live>_sk_<alnum:40>  https://dev.chargily.com/pay-v2/api-reference/authentication  2026-11
  Checkout.com              sk_sbox_<lower:27> sk_<lower:27>  https://www.checkout.com/docs/  -
  Circle                    <LIVE|TEST>_API_KEY:<hex:32>:<hex:32>  https://developers.circle.com/w3s/api-keys  -
  CoinGecko                 CG-<alnum:24>  https://docs.coingecko.com/reference/setting-up-your-api-key  -
  Column                    live_<alnum:27>  https://column.com/docs/  -
  Conekta                   key_<alnum:22>  https://developers.conekta.com/  -
  Covalent                  cqt_<key:30-40>  https://goldrush.dev/docs/  -
  Duffel                    duffel_<live|test>_<key:43>  https://duffel.com/docs/api/overview/test-mode  2026-11
  Dynamic                   dyn_<alnum:56>  https://www.dynamic.xyz/docs/  -
  EasyPost                  EZ<AK|TK><alnum:54>  https://docs.easypost.com/docs/authentication  -
  Easyship                  <prod|sand>_<hex:49>  https://developers.easyship.com/reference/authentication-1  2026-11
  Ecwid                     secret_<alnum:32>  https://docs.ecwid.com/  -
  Flutterwave               FLW<SECK|PUBK><|_TEST>-<lower:32>-X FLWSECK_TEST-<lower:12>  https://developer.flutterwave.com/v3.0/docs/authentication  2026-11
  GoCardless                live_<key:40>  https://developer.gocardless.com/getting-started/api/making-your-first-request/  -
  Kickbox                   live_<hex:64>  https://docs.kickbox.com/docs/using-the-api  -
  Klarna                    klarna_<live|test>_api_<base64:40-120>  https://docs.klarna.com/  -
  Lightspeed                lsxs_pt_<alnum:20-40>  github  -
  Lob                       <live|test>_<hex:35> <live|test>_pub_<hex:31>  https://help.lob.com/account-management/api-keys  2026-11
  Mercado Pago              APP_USR-<digits:16>-<digits:6>-<hex:32>-<digits:6-12>  https://www.mercadopago.com.br/developers/en/docs  -
  Mercury                   mercury_production_<word:30-70>  https://docs.mercury.com/reference/getting-started  -
  Midtrans                  Mid-server-<key:24>  https://docs.midtrans.com/docs/  -
  Midtrans, older keys      VT-server-<key:24>  https://github.com/Midtrans/Midtrans-Payment-API-Postman-Collections  2026-11
  Mollie                    live_<word:30-48>  https://github.com/mollie/mollie-api-php/blob/2b09fe1d680d715ca3e6d378e8ec6b6cd4da839f/src/Http/Auth/ApiKeyAuthenticator.php  2026-11
  Omise                     skey_<lower:19> skey_test_<lower:19>  https://docs.omise.co/api-authentication  2026-11
  Paddle                    pdl_<live|sdbx>_apikey_<lower:26>_<alnum:22>_<alnum:3> pdl_ntfset_<lower:26>_<key:32>  https://developer.paddle.com/api-reference/about/authentication  2026-11
  Payload                   secret_key_<alnum:21> test_secret_key_<alnum:16>  https://docs.payload.co/apis/authentication/  2026-11
  PayPal                    A21AA<key:80-110>  https://developer.paypal.com/api/rest/authentication/  -
  Persona                   persona_<production|sandbox>_<uuid>  https://docs.withpersona.com/api-keys  -
  Plaid                     <access|link|public|asset-report>-<sandbox|development|production>-<uuid>  https://plaid.com/docs/quickstart/glossary/  2026-11
  Polar                     polar_<oat|pat|at|rt|cst>_<key:40-64>  https://github.com/polarsource/polar/blob/0c22d04e46d1dbde1b5b608cce82cbed67c0af96/server/polar/organization_access_token/service.py  2026-11
  QuickNode                 QN_<hex:32>  https://www.quicknode.com/docs/  -
  Ramp                      ramp_sec_<alnum:40-60> ramp_<business_tok|tok>_<alnum:40-60>  https://docs.ramp.com/developer-api/v1/authorization  -
  Razorpay                  rzp_live_<alnum:14>  https://razorpay.com/docs/payments/dashboard/account-settings/api-keys/  -
  Revolut                   oa_<prod|sand>_<key:43>  https://developer.revolut.com/docs/  -
  Shippo                    shippo_<live|test>_<hex:40>  https://docs.goshippo.com/guides/authentication  2026-11
  Shopee                    shpk<hex:60-64>  github  -
  Square                    sq0<atp|csp|idp>-<key:22-43> EAAA<key:60>  https://developer.squareup.com/docs/build-basics/access-tokens  -
  Stripe                    <sk|rk>_live_<alnum:16-247> whsec_<base64:32-64>  https://gitlab.com/gitlab-org/gitlab/-/issues/458019  2026-11
  Tatum                     t-<hex:24>-<hex:24>  https://docs.tatum.io/  -
  Xendit                    xnd_<production|development>_<alnum:40-90>  https://docs.xendit.co/docs/api-keys  -
`);
