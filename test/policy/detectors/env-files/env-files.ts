import { readFileSync } from 'node:fs';
import { base62, base64, base64url, createRandom, type Random, upper } from '../labelled-set/random.ts';

type Make = (random: Random, name: string) => string;

/** What stands behind a name: a kind of secret, an identifier that is meant to be public, or an ordinary setting. */
const makers = {
  password: (random) => random.text(random.number(12, 24), random.chance(50) ? base62 : `${base62}!#%^*-_`),
  url: (random) => random.text(random.number(12, 24), base62),
  key: keyOf,
  aws_id: (random) => `AKIA${random.text(16, `${upper}234567`)}`,
  aws_secret: (random) => random.text(40, base64),
  private_key: (random) => {
    const body = Array.from({ length: 8 }, () => random.text(64, base64)).join('\\n');
    return `-----BEGIN PRIVATE KEY-----\\n${body}\\n-----END PRIVATE KEY-----`;
  },
  webhook: (random) => {
    const [team, channel] = [0, 1].map(() => random.text(10, base62).toUpperCase());
    return `https://hooks.slack.com/services/T${team}/B${channel}/${random.text(24, base62)}`;
  },
  public: publicOf,
  plain: plainOf,
} satisfies Readonly<Record<string, Make>>;

type Kind = keyof typeof makers;

interface Setting {
  readonly line: string;
  readonly kind: Kind;
  /** What must not leave; of a URL its password alone. */
  readonly value: string;
}

/** The names of the variables in public templates of `.env` files: a line for each kind in a template. */
const lines = readFileSync(new URL('names.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split(' ') as [template: string, kind: Kind, ...names: string[]]);
const templates = [...new Set(lines.map(([template]) => template))].map((template) =>
  lines.filter(([other]) => other === template),
);

/** Files of every template, each with values of its own, in one of the styles in which people write them. */
export function envFiles(perTemplate: number) {
  return templates.flatMap((kinds, at) =>
    Array.from({ length: perTemplate }, (_, round) => {
      const random = createRandom(at * 1_000 + round + 1);
      const settings = kinds.flatMap(([, kind, ...names]) =>
        names.map((name): Setting => {
          const value = makers[kind](random, name);
          const whole = kind === 'url' ? `postgres://app:${value}@db.internal:5432/app` : value;
          return { kind, value, line: lineOf(name, whole, round) };
        }),
      );
      return { settings, text: settings.map(({ line }) => line).join(round % 4 === 2 ? '\r\n' : '\n') };
    }),
  );
}

function lineOf(name: string, value: string, round: number): string {
  const isBare = /^[\w.:/@+=-]*$/.test(value);
  if (round % 4 === 1) return `export ${name}="${value}"`;
  if (round % 4 === 3 && !value.includes("'")) return `${name}='${value}' # see the wiki`;
  return isBare ? `${name}=${value}` : `${name}="${value}"`;
}

/** As the tools that make such keys print them. */
function keyOf(random: Random, name: string): string {
  if (name === 'APP_KEY') return `base64:${random.text(43, base64)}=`;
  if (/STRIPE.*WEBHOOKS?_/.test(name)) return `whsec_${random.text(32, base62)}`;
  if (/STRIPE/.test(name)) return `sk_live_${random.text(24, base62)}`;
  if (name === 'OPENAI_API_KEY') return `sk-proj-${random.text(48, base62)}`;
  if (name === 'TELEGRAM_BOT_TOKEN') return `${random.digits(10)}:AA${random.text(33, base64url)}`;
  if (/BOT_TOKEN/.test(name))
    return `xoxb-${random.digits(12)}-${random.digits(12)}-${random.text(24, base62)}`;
  if (/GITHUB_TOKEN/.test(name)) return `github_pat_${random.text(22, base62)}_${random.text(59, base62)}`;
  return random.pick([
    () => random.hex(32),
    () => random.hex(64),
    () => random.text(32, base62),
    () => `${random.text(43, base64)}=`,
    () => random.text(43, base64url),
    () => uuid(random),
  ])();
}

function publicOf(random: Random, name: string): string {
  if (name === 'SENTRY_DSN')
    return `https://${random.hex(32)}@o${random.digits(6)}.ingest.sentry.io/${random.digits(7)}`;
  if (/STRIPE/.test(name)) return `pk_live_${random.text(24, base62)}`;
  if (/POSTHOG/.test(name)) return `phc_${random.text(43, base62)}`;
  return random.hex(20);
}

function plainOf(random: Random, name: string): string {
  const word = () =>
    random.pick(['production', 'local', 'smtp', 'redis', 'main', 'eu-central-1', 'app', 'web']);
  if (/_ID$/.test(name))
    return random.pick([() => uuid(random), () => random.digits(12), () => random.hex(24)])();
  if (/URL|URI|ENDPOINT|ORIGIN/.test(name)) return `https://${word()}.acme-tools.io/${word()}`;
  if (/PORT$/.test(name)) return random.digits(4);
  if (/HOST$|DOMAIN$/.test(name)) return `${word()}.acme-tools.io`;
  if (/PATH$|DIR$|_FILE$|ROOT$/.test(name)) return `/var/lib/${word()}/${word()}`;
  if (/EMAIL|ADDRESS$/.test(name)) return `team@${word()}.acme-tools.io`;
  if (/ENABLED|DISABLED|^DISABLE|^ENABLE|DEBUG|FORCE/.test(name))
    return random.pick(['true', 'false', '1', '0']);
  if (/IMAGE|TAG$|VERSION$/.test(name))
    return `ghcr.io/acme/${word()}:${random.digits(1)}.${random.digits(2)}`;
  return random.pick([word, () => random.digits(3), () => random.pick(['true', 'false', 'null'])])();
}

function uuid(random: Random): string {
  return [8, 4, 4, 4, 12].map((length) => random.hex(length)).join('-');
}
