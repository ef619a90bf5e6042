import { drawHarmless } from './harmless.ts';
import { lower, type Random } from './random.ts';
import { carriers, drawDistinct, type LabelledClass, listed, plant, templates } from './sample.ts';

export function labelEmails(): LabelledClass {
  return {
    positives: plant(4001, 700, makers, [...carriers, ...own]),
    negatives: [...drawHarmless(4002, 1400), ...drawDistinct(4003, 1000, nearMisses)],
  };
}

const first = listed(`
  anna | li.wei | j.smith | o'neil | maria-jose | x | support | kim_park | Ada.Lovelace | b2b | юрий
  jörg
`);
const hosts = listed(`
  gmail.com | example.com | mail.example.co.uk | firma-gmbh.de | uni.edu | sub.dept.gov.au | web.de
  startup.io | post.example.museum | bücher.example | x.org | mail.ru | qq.com | corp.technology
`);

const makers: readonly ((random: Random) => string)[] = [
  (random) => `${random.pick(first)}@${random.pick(hosts)}`,
  (random) =>
    `${random.text(random.number(1, 12), lower)}.${random.text(5, lower)}@${random.text(8, lower)}.${random.pick(['com', 'net', 'fr', 'info', 'dev', 'cloud'])}`,
  (random) => `${random.pick(['anna', 'bob', 'c.d'])}+${random.text(4, lower)}@${random.pick(hosts)}`,
  (random) => `${random.text(6, lower)}${random.digits(4)}@${random.pick(hosts)}`,
  (random) => `${random.text(3, lower).toUpperCase()}@${random.text(5, lower).toUpperCase()}.COM`,
];

const own: readonly string[] = listed(`
  Write to {}. | From: Anna B <{}> | mailto:{} | [mail me](mailto:{}) | {}, {"cc": []}
  user={} logged in | https://a.example/?email={}&x=1 | Author: Someone <{}>\nDate: today
  contact {}; or call | credentials {}:hunter22 | E-Mail：{}。 | メール「{}」へ
`);

const nearMisses = templates(
  listed(`
  pkg@#n.#n.#n | @scope/name@#n.0.1 | git@github.com:org/repo.git | ssh://git@gitlab.com/org/repo
  https://user@host.example.com/path | https://user:pass@db.example.com/ | icon@2x.png | sprite@3x.webp
  @media (min-width: #d3px) | @app.route("/x") | @Override public | user@localhost | root@web-#n:~#
  noreply@github.com | no-reply@accounts.example.com | #d8+octo@users.noreply.github.com
  do-not-reply@shop.example | a@b | me @ home . com | foo@bar..com | @example.com | name@ | name@.com
  x@-a.com | deploy@10.0.0.#n | this@MainActivity.finish() | super@Outer.close() | image@sha256:#h64
  ubuntu@host.example.com:/var/log/ | scp file.txt me@server.example.org:docs/ | unit@#n.service
  getty@tty#n.service | @ | @@ -#n,3 +#n,4 @@ | a@@b.com | follow @anna_b on the network | $user@$host
  {user}@{host} | <user>@<domain> | name (at) example (dot) com | "^[^@]+@[^@]+$" | /\\S+@\\S+\\.\\S+/
  actions/checkout@v4.2.#n | docker.io/lib/app@1.2.#n | react-dom@experimental | lodash@4.x | foo@bar.c
  mailer-daemon@mx.example.net | styles@theme.css | chunk@vendor.js
`),
);
