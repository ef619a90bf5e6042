import { readTable } from '../table.ts';

/** Documents, design, customers, shops, forms. */
export const work = readTable(`
  Adafruit                  aio_<alnum:28>  https://io.adafruit.com/api/docs/  -
  Adobe                     p8e-<lower:32>  github  -
  Airtable                  pat<alnum:14>.<hex:64>  https://airtable.com/developers/web/guides/personal-access-tokens  -
  Asana                     <1|2>/<digits:10-20>:<hex:32> 2/<digits:10-20>/<digits:10-20>:<hex:32>  https://developers.asana.com/docs/personal-access-token  -
  Bannerbear                bb_<pr|ma>_<hex:30>  https://developers.bannerbear.com/  -
  Beamer                    b_<padded:44>  https://www.getbeamer.com/api  -
  Builder.io                bpk-<hex:32>  https://www.builder.io/c/docs/  -
  Cal.com                   cal_live_<hex:32> cal_<hex:32>  https://github.com/calcom/cal.com/blob/04428d418abce1b3c71aea4397abf60977ed808c/apps/api/v2/src/lib/api-key/index.ts  2026-11
  Canva                     cnvca<key:40-64>  https://www.canva.dev/docs/connect/authentication/  -
  Chief Tools               ctp_<alnum:36-40>  github  -
  Clearbit                  sk_<hex:32>  https://dashboard.clearbit.com/docs  -
  ClickUp                   pk_<digits:5-10>_<upper:32>  https://developer.clickup.com/docs/authentication  2026-11
  Close                     api_<alnum:22>.<alnum:22>  https://developer.close.com/  -
  Databento                 db-<alnum:29>  https://databento.com/docs/  -
  Dropbox                   sl.<key:130-1400> sl.u.<key:130-1400>  https://developers.dropbox.com/oauth-guide  -
  Dub                       dub_<alnum:24>  https://github.com/dubinc/dub/blob/00900e51ce72fa470817c44971688ea62181374e/apps/web/app/api/tokens/route.ts  2026-11
  eBay                      <PRD|SBX>-<hex:12>-<hex:4>-<hex:4>-<hex:4>-<hex:4>  https://developer.ebay.com/api-docs/static/creating-edp-key.html  -
  Esri ArcGIS               AAPK<hex:32><key:64> AAPT<secret:80-500>  https://developers.arcgis.com/documentation/security-and-authentication/  -
  Evernote                  S=s<digits:1-3>:U=<hex:1-10>:E=<hex:8-14>:C=<hex:8-14>:P=<hex:1-6>:A=<key:2-40>:V=2:H=<hex:32>  https://dev.evernote.com/doc/articles/dev_tokens.php  -
  Figma                     fig<d|o|or|ur>_<key:40>  https://developers.figma.com/docs/rest-api/authentication/  -
  Foursquare                fsq3<base64:40-48>  https://docs.foursquare.com/developer/reference/places-api-get-started  -
  Frame.io                  fio-u-<key:64>  https://developer.frame.io/docs/getting-started/authentication  -
  Harvest                   <digits:5-8>.<pt|at>.<key:80-90>  https://help.getharvest.com/api-v2/authentication-api/authentication/authentication/  -
  HedgeDoc                  hd2.<key:11>.<key:86>  https://github.com/hedgedoc/hedgedoc/pull/5533  2026-11
  Hex Technologies          hxt<p|w>_<hex:64-100>  https://learn.hex.tech/docs/api/api-overview  -
  HubSpot                   pat-<na|eu|ap><digits:1>-<uuid>  https://developers.hubspot.com/docs/guides/apps/private-apps/overview  -
  Imgix                     ak_<hex:64>  https://docs.imgix.com/apis/management  -
  Intra42                   s-s4t2<ud|af>-<hex:64>  https://api.intra.42.fr/apidoc/guides/getting_started  -
  Lichess                   lip_<alnum:20> lio_<alnum:32>  https://lichess.org/api  -
  Linear                    lin_<api|oauth|wh>_<alnum:40-64>  https://linear.app/developers/graphql  -
  Liveblocks                sk_<prod|dev>_<key:64>  https://liveblocks.io/docs/authentication  -
  LocationIQ                pk.<hex:32>  https://docs.locationiq.com/docs/authentication  -
  Mapbox                    <sk|tk>.eyJ<key:60-250>.<key:22>  https://docs.mapbox.com/help/dive-deeper/access-tokens.md  2026-11
  MaxMind                   <alnum:6>_<alnum:29>_mmk  https://support.maxmind.com/hc/en-us/articles/4407111582235-Generate-a-License-Key  -
  Metabase                  mb_<base64:43>  https://www.metabase.com/docs/latest/people-and-groups/api-keys  -
  Miro                      eyJtaXJvLm9yaWdpbiI6<alnum:10-14>_<key:20-40>  https://developers.miro.com/docs/getting-started-with-oauth  -
  n8n                       n8n_api_<alnum:40-160>  https://github.com/n8n-io/n8n/blob/00f462ab54ee178f8ce499842db267a4a6b7d627/packages/cli/src/services/public-api-key.service.ts  2026-11
  NocoDB                    nc_pat_<key:40>  https://nocodb.com/docs/  -
  Notion                    ntn_<alnum:40-50> secret_<alnum:43>  https://github.com/makenotion/notion-mcp-server/blob/0c87e278f9b359fb146507063a3d96eda66823c4/README.md  2026-11
  Nylas                     nyk_v0_<alnum:64>  https://developer.nylas.com/docs/v3/auth/  -
  OpenRouteService          5b3ce3597851110001cf6248<hex:32> eyJvcmciOiI1YjNjZTM1OTc4NTExMTAwMDFjZjYyNDgi<base64:60-120>  https://openrouteservice.org/dev/  -
  Placid                    placid-<alnum:16>-<alnum:16>  https://placid.app/docs/2.0/rest/authentication  -
  Radar                     prj_<live|test>_sk_<hex:40>  https://docs.radar.com/api  -
  RapidAPI                  <lower:10>msh<lower:15>p1<lower:6>jsn<lower:11-12>  https://docs.rapidapi.com/docs/keys-and-key-rotation  -
  Retool                    retool_01<lower:24>  https://docs.retool.com/  -
  Riot Games                RGAPI-<uuid>  https://developer.riotgames.com/docs/portal  -
  Roam Research             roam-graph-token-<key:24-32>  https://roamresearch.com/#/app/developer-documentation  -
  Roblox                    steal-your-ROBUX-and-items.|_<hex:200-1500>  https://create.roblox.com/docs/  -
  Salesforce                00D<alnum:12-15>!<secret:80-130>  https://help.salesforce.com/  -
  Samsara                   samsara_api_<alnum:30>  https://developers.samsara.com/docs/authentication  -
  Sanity                    sk<alnum:178-182>  https://www.sanity.io/docs/http-auth  -
  Scrapfly                  scp-<live|test>-<hex:32>  https://scrapfly.io/docs/scrape-api/getting-started  -
  Segment                   sgp_<alnum:64>  https://segment.com/docs/api/public-api/  -
  Shopify                   shp<at|ca|pa|ss|ua|tka>_<hex:32> prtapi_<hex:32>  https://shopify.dev/changelog/length-of-the-shopify-access-token-is-increasing  2026-11
  SignalWire                PT<hex:48>  https://developer.signalwire.com/  -
  Tableau                   <base64:22>==:<alnum:32>  https://help.tableau.com/current/api/rest_api/en-us/REST/rest_api_ref_authentication.htm  -
  Teamwork                  twp_<alnum:20-40>  https://apidocs.teamwork.com/  -
  Thunderstore              tss_<alnum:36-40>  github  -
  Trello                    ATTA<hex:64>  https://developer.atlassian.com/cloud/trello/guides/rest-api/authorization/  -
  Typeform                  tfp_<secret:44-65>  https://www.typeform.com/developers/get-started/personal-access-token/  -
  Ubidots                   <BBFF|BBUS>-<alnum:30-40>  https://docs.ubidots.com/  -
  Webflow                   ws-<hex:64>  https://developers.webflow.com/  -
  Wix                       IST.eyJ<key:20-400>.eyJ<key:60-1500>.<key:200-700>  https://dev.wix.com/docs/  -
  WooCommerce               c<k|s>_<hex:40>  https://github.com/woocommerce/woocommerce/blob/0429a2fa949e0b7d555783a3d7062e4613322039/plugins/woocommerce/includes/class-wc-auth.php  2026-11
  Zoho                      1000.<hex:32>.<hex:32>  https://www.zoho.com/accounts/protocol/oauth/web-apps/access-token.html  -
  Zuplo                     zpka_<hex:32>_<hex:8>  https://zuplo.com/docs/articles/api-key-leak-detection  -
`);
