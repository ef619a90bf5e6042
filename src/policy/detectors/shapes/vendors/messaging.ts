import { readTable } from '../table.ts';

export const messaging = readTable(`
  Amazon SES                <B|A>IKIA<base32:16>  https://docs.aws.amazon.com/ses/latest/dg/smtp-credentials.html  -
  Brevo                     x<keysib|smtpsib>-<hex:64>-<alnum:16>  https://developers.brevo.com/docs/getting-started  -
  Canadian Digital Service  gcntfy-<key:74-140>  github  -
  Courier                   pk_<prod|test>_<upper:28>  https://www.courier.com/docs/  -
  DeepL                     <uuid>:fx  https://developers.deepl.com/docs/getting-started/auth  -
  DingTalk                  oapi.dingtalk.com/robot/send?access_token=<hex:64> SEC<hex:64>  https://open.dingtalk.com/document/orgapp/custom-robot-access  -
  Discord                   <MT|Mj|Mz|ND|NT|Nj|Nz|OD|OT><key:22-26>.<key:6>.<key:27-38> discord.com/api/webhooks/<digits:17-20>/<key:60-72> discordapp.com/api/webhooks/<digits:17-20>/<key:60-72>  https://github.com/discord/discord-api-docs/blob/00361fcd929e8d0ba9a1a3792d082d2aec969563/docs/Reference.md  2026-11
  Feishu                    open.feishu.cn/open-apis/bot/v2/hook/<uuid> open.larksuite.com/open-apis/bot/v2/hook/<uuid>  https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot  -
  FullStory                 <na1|eu1>.<base64:40-200>  github  -
  Google Chat               chat.googleapis.com/v1/spaces/<key:8-14>/messages?key=<key:39>&token=<key:40-60>  https://developers.google.com/workspace/chat/quickstart/webhooks  -
  IFTTT                     maker.ifttt.com/trigger/<key:1-60>/with/key/<key:20-60>  https://ifttt.com/maker_webhooks  -
  Instagram                 IG<QVJ|AA|QWR><alnum:80-300>  https://developers.facebook.com/docs/instagram-platform/  -
  Intercom                  dG9rO<base64:50-80>  https://developers.intercom.com/docs/build-an-integration/learn-more/authentication  -
  Klaviyo                   pk_<hex:34>  https://developers.klaviyo.com/en/docs/  -
  LinkedIn                  WPL_AP<digits:1>.<alnum:16>.<base64:6-12> AQ<U|V|W|X><key:120-400>  github  -
  Mailchimp                 <hex:32>-us<digits:1-2>  https://mailchimp.com/developer/marketing/guides/quick-start/  -
  MailerSend                mlsn.<hex:64>  https://developers.mailersend.com/general.html  -
  Mailgun                   <key|pubkey>-<hex:32>  https://documentation.mailgun.com/docs/mailgun/user-manual/api-key-mgmt/  -
  Make                      hook.<eu1|eu2|us1|us2>.make.com/<lower:32>  https://apps.make.com/gateway  -
  Mandrill                  md-<key:22>  https://mailchimp.com/developer/transactional/docs/fundamentals/  -
  Matrix                    syt_<base64:4-80>_<alnum:20>_<alnum:6>  https://spec.matrix.org/latest/  -
  Meta                      EAA<alnum:100-300>  https://developers.facebook.com/docs/facebook-login/guides/access-tokens/  -
  Microsoft Teams           .webhook.office.com/webhookb2/<uuid>@<uuid>/IncomingWebhook/<hex:32>/<uuid>  https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook  -
  ntfy                      tk_<lower:29>  https://docs.ntfy.sh/config/  -
  Oculus                    OC|<digits:14-18>|<alnum:20-40>  github  -
  OneSignal                 os_v2_<app|org>_<lower:80-120>  https://documentation.onesignal.com/docs/keys-and-ids  -
  Pabbly                    connect.pabbly.com/workflow/sendwebhookdata/<key:40-140>  https://www.pabbly.com/connect/  -
  Pinterest                 pin<a_|r.><alnum:30-200>  github  -
  Pipedream                 <lower:10-20>.m.pipedream.net  https://pipedream.com/docs/  -
  PubNub                    sec-c-<base64:40-70>  https://www.pubnub.com/docs/  -
  Pushbullet                o.<alnum:32>  https://docs.pushbullet.com/  -
  PushDeer                  PDU<digits:1-6>T<alnum:26-40>  https://www.pushdeer.com/  -
  Resend                    re_<alnum:8-9>_<alnum:22-24>  https://resend.com/docs/dashboard/api-keys/introduction  -
  SendGrid                  SG.<key:22>.<key:43>  https://www.skills.sh/twilio/ai/twilio-sendgrid-account-setup  2026-11
  ServerChan                SCT<digits:3-7>T<alnum:24-32> sctp<digits:1-8>t<lower:20-32>  https://sct.ftqq.com/  -
  Slack                     xox<b|a|r|s|c|o|d>-<key:24-250> xoxp-<key:40-160> xoxe-<key:24-300> xoxe.xox<b|p>-<digits:1>-<key:100-200> xapp-<digits:1>-<upper:9-14>-<digits:10-14>-<hex:40-80> xwfp-<key:24-200> hooks.slack.com/<services|workflows>/<upper:8-14>/<upper:8-14>/<alnum:16-30> hooks.slack.com/<triggers|workflows>/<upper:8-14>/<digits:10-20>/<alnum:16-40>  https://docs.slack.dev/tools/node-slack-sdk/reference/web-api/interfaces/OAuthV2ExchangeArguments  2026-11
  SMTP2GO                   api-<hex:32>  https://developers.smtp2go.com/docs/  -
  Spotify                   BQ<A|B|C|D><key:100-300>  https://developer.spotify.com/documentation/web-api/concepts/authorization  -
  Telegram                  <digits:8-10>:AA<key:32-35> bot<digits:8-10>:AA<key:32-35>  https://core.telegram.org/bots/api  -
  Telnyx                    KEY<alnum:32>_<alnum:22>  https://developers.telnyx.com/  -
  Threads                   TH<AA|QWJ|QVJ><alnum:80-300>  https://developers.facebook.com/docs/threads/  -
  Twilio                    SK<hex:32>  https://www.twilio.com/docs/iam/api-keys  -
  Twitch                    oauth:<lower:30>  https://dev.twitch.tv/docs/chat/  -
  Webex                     <alnum:64>_<PF84|PE93|P0A1>_<uuid>  https://developer.webex.com/docs/getting-your-personal-access-token  -
  WeCom                     qyapi.weixin.qq.com/cgi-bin/webhook/send?key=<uuid>  https://developer.work.weixin.qq.com/document/path/91770  -
  X                         AAAAAAAAAAAAAAAAAAAAA<percent:60-130>  https://docs.x.com/resources/fundamentals/authentication/overview  -
  Zapier                    hooks.zapier.com/hooks/catch/<digits:5-10>/<lower:6-12>  https://help.zapier.com/  -
`);
