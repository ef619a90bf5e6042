/** Formats of services that were in neither the table nor an earlier round, as they are generally known. */
export const formats = `
  Trigger.dev      tr_dev_<alnum:24> tr_prod_<alnum:20>
  Unkey            unkey_<alnum:24>
  Liveblocks       sk_prod_<key:64>
  Knock            sk_<key:43>
  Convex           prod:happy-otter-123|<base64:64>
  Xata             xau_<alnum:32>
  Prefect          pnu_<alnum:36> pnb_<alnum:36>
  Dagster          agent:acme:<hex:32>
  Depot            depot_org_<hex:64>
  Coolify          4|<alnum:48>
  Baseten          <alnum:8>.<alnum:32>
  Lambda           secret_main_<hex:32>.<alnum:32>
  PromptLayer      pl_<hex:32>
  Humanloop        hl_sk_<hex:48>
  Arize            ak-<uuid>-<key:32>
  LlamaCloud       llx-<alnum:48>
  Cartesia         sk_car_<alnum:22>
  Hume             <alnum:48>
  Tolgee           tgpak_<lower:52>
  Sanity           sk<alnum:178>
  Dub              dub_<alnum:24>
  Svix             testsk_<key:32>.eu
  Hookdeck         <alnum:50>
  Zuplo            zpka_<hex:32>_<hex:8>
  Kong             kpat_<alnum:49> spat_<alnum:49>
  Apify            apify_api_<alnum:36>
  Browserbase      bb_live_<key:27>
  Steel            ste-<alnum:64>
  ScrapingBee      <upper:80>
  dbt              dbtc_<key:43>
  Metabase         mb_<base64:43>=
  NocoDB           nc_pat_<key:40>
  Retool           retool_01<lower:24>
  NetBird          nbp_<alnum:36>
  Pangea           pts_<lower:32>
  Arcjet           ajkey_<lower:26>
  Vanta            vci_<hex:46>
  DeepSource       dsp_<hex:40>
  Percy            web_<hex:64>
  Chromatic        chpt_<hex:15>
  Argos            argos_<hex:40>
  Incident.io      inc_production_<hex:64>
  Statsig          secret-<alnum:43> console-<alnum:40>
  Flagsmith        ser.<alnum:22>
  ConfigCat        configcat-sdk-1/<key:22>/<key:22>
  GrowthBook       secret_admin_<alnum:24>
  Unleash          *:*.<hex:56> default:development.<hex:56>
  Close            api_<alnum:22>.<alnum:22>
  Chargebee        live_<alnum:40>
  Mercury          secret-token:mercury_production_wma_<alnum:44>_yrucrem
  Column           live_<alnum:27>
  Alpaca           PK<upper:18>
  QuickNode        QN_<hex:32>
  Speechmatics     <alnum:32>
`;

/** Places of secrets that were in no earlier round. */
export const templates: readonly (readonly [string, string])[] = [
  ['X-Nimbus-Key: {}', '<alnum:32>'],
  ['X-Auth-Email: ops@example.org\nX-Auth-Key: {}', '<hex:37>'],
  ['Ocp-Apim-Subscription-Key: {}', '<hex:32>'],
  ['x-functions-key: {}', '<key:54>=='],
  ['Authorization: SSWS {}', '<key:42>'],
  ['Authorization: GenieKey {}', '<uuid>'],
  ['Authorization: Splunk {}', '<uuid>'],
  ['Authorization: Discogs token={}', '<alnum:40>'],
  ['"Authorization": "Zoho-oauthtoken {}"', '<hex:32>.<hex:32>'],
  ['{"auth": {"type": "bearer", "value": "{}"}}', '<alnum:36>'],
  ['auth:\n  token:\n    value: {}\n', '<alnum:36>'],
  ['{"credentials": {"private_key_id": "x1", "key": "{}"}}', '<alnum:40>'],
  ['<key>NimbusToken</key>\n\t<string>{}</string>', '<hex:40>'],
  ['<entry key="smtp.pw">{}</entry>', '<alnum:14>'],
  ['| API key | `{}` |', '<alnum:28>'],
  ['**Password:** {}', '<alnum:6>!<alnum:6>'],
  ['The root passphrase lautet {}', '<alnum:20>'],
  ['Lösenord: {}', '<alnum:14>'],
  ['Heslo: {}', '<alnum:14>'],
  ['şifre = "{}"', '<alnum:14>'],
  ['口令：{}', '<alnum:14>'],
  ['Your Nimbus key is {}', '<alnum:32>'],
  ['secret key: {}', '<alnum:32>'],
  ['Endpoint=sb://q.example.net/;SharedAccessKeyName=Root;SharedAccessKey={}', '<base64:43>='],
  ['DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={};', '<base64:86>=='],
  ['https://store.example.net/c/b?sv=2022-11-02&se=2026-12-01&sr=b&sig={}', '<alnum:40>%3D'],
  ['https://fn.example.net/api/run?code={}', '<key:54>%3D%3D'],
  ['host=db port=5432 user=app password={} sslmode=require', '<alnum:18>'],
  ['jdbc:mysql://db/app?user=app&password={}', '<alnum:18>'],
  ['sqlplus app/{}@//db:1521/ORCL', '<alnum:14>'],
  ['sqlcmd -S db -U sa -P "{}"', '<alnum:8>!<alnum:5>9'],
  ['smbclient //nas/share -U backup%{}', '<alnum:16>'],
  ['echo "deploy:{}" | chpasswd', '<alnum:16>'],
  ['openssl rsa -in k.pem -passin pass:{}', '<alnum:16>'],
  ['keytool -list -keystore k.jks -storepass {}', '<alnum:12>'],
  ['kubectl create secret generic db --from-literal=value={}', '<alnum:24>'],
  ['vault kv put kv/app value={}', '<alnum:24>'],
  ['git config --global nimbus.token {}', '<alnum:32>'],
  ['npm config set //npm.example.org/:_authToken {}', '<uuid>'],
  ['heroku config:set SESSION_SECRET={}', '<hex:64>'],
  ['NIMBUS_PAT={}', '<lower:40>'],
  ['NIMBUS_API_KEY_2={}', '<alnum:32>'],
  ['apiKeys: ["{}"]', '<alnum:32>'],
  ['secret_key_base: {}', '<hex:128>'],
  ['const t = process.env.NIMBUS_TOKEN || "{}";', '<alnum:32>'],
  ['os.getenv("NIMBUS_TOKEN") or "{}"', '<alnum:32>'],
  ['api_token <- "{}"', '<alnum:32>'],
  ['(def api-token "{}")', '<alnum:32>'],
  ['password := []byte("{}")', '<alnum:20>'],
  ['fn api_token() -> &\'static str { "{}" }', '<alnum:32>'],
  ['char wifi_password[] = "{}";', '<alnum:14>'],
  ['#define WIFI_PSK "{}"', '<alnum:14>'],
  ['WiFi.begin("home", "{}");', '<alnum:14>'],
  ['mysqli_connect("localhost", "app", "{}", "shop")', '<alnum:14>'],
  ['DriverManager.getConnection(url, "app", "{}")', '<alnum:14>'],
  ['new NetworkCredential("app", "{}")', '<alnum:14>'],
  ['{"value": "{}", "name": "NIMBUS_TOKEN"}', '<alnum:32>'],
  ['Cookie: lang=de; sessionid={}; theme=dark', '<lower:32>'],
  ['{"key": "{}", "plan": "pro"}', '<alnum:32>'],
  ['routing_key = "{}"', '<hex:32>'],
  ['encryption_key: {}', '<base64:43>='],
  ['password: {}', '<uuid>'],
  ['db_password = "{}"', '<digits:10>'],
  ['ssh_pass: |\n  {}\n', '<alnum:16>'],
  ['%7B%22token%22%3A%22{}%22%7D', '<alnum:32>'],
  ['pin_code_token\t{}\n', '<alnum:32>'],
  ['login: app\npw: {}', '<alnum:12>'],
  ['client.auth("app", "{}")', '<alnum:14>'],
  ['API-Schlüssel: {}', '<alnum:32>'],
  ['Clé API : {}', '<alnum:32>'],
  ['chave de API: {}', '<alnum:32>'],
  ['API 密钥：{}', '<alnum:32>'],
];
