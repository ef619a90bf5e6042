import { hash } from 'node:crypto';
import { join } from 'node:path';
import { toFields } from '../../dialects/fields.ts';
import { GatewayError } from '../../errors.ts';
import { type Cloud, cloudAt, clouds, isCloud } from '../../hosts/clouds.ts';
import { vendorSetups } from '../../hosts/registry.ts';
import { isLoopbackHost, standardPlantsUrl } from '../../lib/loopback.ts';
import { defaultBaseUrl } from '../build/providers.ts';
import { targetChanges } from '../schema/parameters.ts';
import { type MarkedValue, markedValues } from '../schema/reach.ts';
import { settingsSchema } from '../schema/schema.ts';
import { keptRecordDays } from '../schema/sections.ts';
import { absolutePath, type PathBase } from '../source/file-path.ts';
import { formatPath } from '../source/problems.ts';
import { liesIn, realPathOf } from '../source/real-path.ts';
import type { Reference } from '../source/substitute.ts';

/** One thing that a configuration wants from outside itself, beyond what every configuration gets. */
export interface Want {
  /** What happens if it is allowed, for a person. Visible characters only. */
  readonly text: string;
  /** Where the file sets it. */
  readonly path: readonly PropertyKey[];
  /** The same for the same want, wherever in a file it stands. */
  readonly id: string;
}

interface File {
  /** As it was parsed: with `${NAME}` in place of values. */
  readonly written: unknown;
  readonly references: readonly Reference[];
  readonly base: PathBase;
  readonly stateDirectory: string;
}

/**
 * What a file wants, each thing once. It doesn't depend on the values of variables: what was allowed stays allowed
 * when they change, and what is asked for is asked for whether or not they are set.
 */
export function wantsOf({ written, references, ...places }: File): readonly Want[] {
  const wants = markedValues(settingsSchema, written, references).flatMap((marked) => {
    const found = requestsOf({ ...marked, text: String(marked.value ?? ''), written, ...places });
    return found.map(
      ({ text, identity }): Want => ({
        text,
        path: marked.path,
        id: hash('sha256', JSON.stringify(identity), 'hex'),
      }),
    );
  });
  return [...new Map(wants.map((want) => [want.id, want])).values()];
}

interface Requested {
  readonly text: string;
  /** What makes it this want and no other. */
  readonly identity: readonly string[];
}

interface Marked extends MarkedValue, Pick<File, 'written' | 'base' | 'stateDirectory'> {
  readonly text: string;
}

function requestsOf(marked: Marked): readonly Requested[] {
  const { reach, text, names, value, path, setting } = marked;
  // Left empty, or left to the default.
  if (value === null || value === undefined) return [];
  switch (reach) {
    case 'nothing':
      return variablesOf(marked);
    case 'mask secret':
      if (names.length > 0) return variablesOf(marked);
      return [
        requested(
          'values are masked with a secret that the file brings, so its author can guess them',
          reach,
          text,
        ),
      ];
    case 'provider':
      if (names.length === 0 && (isLoopbackUrl(text) || isVendors(text))) return [];
      return destination(`requests go to ${place(text)}`, marked);
    case 'checker':
      if (names.length === 0 && isLoopbackUrl(text)) return [];
      return destination(`what requests say goes to ${place(text)}, before anything is redacted`, marked);
    case 'credential':
      return credentialRequests(marked);
    case 'login': {
      const url = baseUrlOf(marked);
      if (isCloud(text)) {
        if (cloudOf(url) === text) return [];
        return [
          requested(`your credentials of ${clouds[text].name} are for ${place(url)}`, reach, text, url),
        ];
      }
      // The login that an agent sends with a dialect is for that dialect's own host.
      if (text === 'api_key' || isDialectsOwn(url, marked)) return [];
      return [requested(`your agents' own login goes to ${place(url)}`, reach, url)];
    }
    case 'proxy': {
      if (text === 'none') return [];
      const requests = `requests to ${place(baseUrlOf(marked))}`;
      return destination(`${requests} go through the proxy ${place(text)}`, marked, baseUrlOf(marked));
    }
    case 'parameter': {
      const { url, rest } = targetOf(marked);
      const [change = '', member = ''] = rest;
      const isRemoved = change === 'remove';
      const what = isRemoved ? `have no ${visible(text)}` : `have ${visible(member)} ${visible(text)}`;
      const always = change === 'default' ? ' where there is none' : '';
      const identity = [reach, url, change, ...(isRemoved ? [] : [member]), text];
      return [
        requested(`requests to ${place(url)} ${what}${always}`, ...identity),
        ...names.map((name) => variableTo(name, url)),
      ];
    }
    case 'header': {
      const { url, rest } = targetOf(marked);
      const [, header = ''] = rest;
      const what = names.length === 0 ? `${visible(header)}: ${visible(text)}` : visible(header);
      return destination(
        `requests to ${place(url)} have the header ${what}`,
        { ...marked, text: url },
        header,
        text,
      );
    }
    case 'authorities': {
      const file = fileOf(marked);
      const host = baseUrlOf(marked);
      return [requested(`${place(host)} may show certificates of ${visible(file)}`, reach, file, host)];
    }
    case 'key file':
      return ofFile(marked, (file) => `a key or password is read from ${file}`);
    case 'records':
      return ofRecords(marked, (file) => `records of requests are appended to ${file}`);
    case 'retention':
      if (Number(value) >= keptRecordDays) return [];
      return [requested(`your records of requests are deleted after ${visible(text)} days`, reach, text)];
    case 'bodies': {
      if (value === false) return [];
      const { file } = toFields(marked.group);
      const what = 'whole requests, with what they say, are';
      if (typeof file !== 'string') return [requested(`${what} kept with your records`, reach)];
      return ofFile({ ...marked, text: file }, (shown) => `${what} appended to ${shown}`);
    }
    case 'usage file':
      return ofFile(marked, (file) => `usage is kept in the SQLite file ${file}`);
    case 'usage database':
      return destination(`usage is kept in the database ${place(text)}`, marked);
    case 'counters':
      return text === 'memory'
        ? []
        : destination(`limits are counted in the database ${place(text)}`, marked);
    case 'store':
      // A password or PLANTS_TOKEN would go to any program that its author has listening on another port of this machine.
      if (names.length === 0 && text.replace(/\/+$/, '') === standardPlantsUrl) return [];
      return destination(`plants, and your login for them, go to ${place(text)}`, marked);
    case 'store database': {
      const file = /^sqlite:(.+)$/s.exec(text)?.[1];
      if (file === undefined) return destination(`plants are kept in the database ${place(text)}`, marked);
      const own = { ...marked, text: file };
      if (fileOf(own) === join(marked.stateDirectory, 'plants.sqlite')) return [];
      return ofFile(own, (shown) => `plants are kept in the SQLite file ${shown}`);
    }
    case 'listener':
      if (isLoopbackHost(text)) return [];
      return [
        requested(
          `other machines can connect, at ${visible(text)} (${formatPath(path)})`,
          reach,
          text,
          setting,
        ),
      ];
    case 'host name':
      return [requested(`it answers requests for the host ${visible(text)}`, reach, text)];
    case 'origin':
      return isLoopbackUrl(text) ? [] : [requested(`web pages of ${place(text)} may call it`, reach, text)];
  }
}

function variablesOf({ names, path, setting }: Marked): readonly Requested[] {
  return names.map((name) => requested(`${name} is read (${formatPath(path)})`, 'variable', name, setting));
}

function requested(text: string, ...identity: readonly string[]): Requested {
  return { text, identity };
}

/** That something goes to an address, and each variable with it. */
function destination(
  what: string,
  { reach, text, names }: Marked,
  ...more: readonly string[]
): readonly Requested[] {
  return [requested(what, reach, text, ...more), ...names.map((name) => variableTo(name, text))];
}

function variableTo(name: string, url: string): Requested {
  return requested(`${name} goes to ${place(url)}`, 'variable', name, url);
}

/** A vendor's own variable may go to that vendor; a key that the file brings is its author's account. */
function credentialRequests(marked: Marked): readonly Requested[] {
  const { text, names } = marked;
  const url = baseUrlOf(marked);
  if (names.length === 0) {
    if (isLoopbackUrl(url)) return [];
    return [requested(`requests to ${place(url)} use a key that the file brings`, 'credential', text, url)];
  }
  const isOwn = variablesAt(url).some((variable) => text === `\${${variable}}`);
  return isOwn ? [] : names.map((name) => variableTo(name, url));
}

/** The address of the provider that a setting belongs to. */
function baseUrlOf({ path, written }: Pick<Marked, 'path' | 'written'>): string {
  return addressOf(written, path[1]);
}

/** The address of a provider, by its name in the file. */
function addressOf(written: unknown, provider: unknown): string {
  const { base_url, dialect } = toFields(toFields(toFields(written).providers)[String(provider)]);
  if (typeof base_url === 'string') return base_url;
  return defaultBaseUrl(String(dialect)) ?? 'the sandbox';
}

/** Of a setting below a target of the model list: the address that it goes to, and its path there. */
function targetOf({ path, written }: Marked): { readonly url: string; readonly rest: readonly string[] } {
  const { models } = toFields(written);
  const at = path.findIndex((step) => typeof step === 'string' && step in targetChanges);
  let target: unknown = { models };
  for (const step of path.slice(0, at))
    target = toFields(Array.isArray(target) ? { ...target } : target)[String(step)];
  return { url: addressOf(written, toFields(target).provider), rest: path.slice(at).map(String) };
}

function isDialectsOwn(url: string, { group }: Marked): boolean {
  const own = defaultBaseUrl(String(toFields(group).dialect));
  return own !== undefined && parse(url)?.origin === new URL(own).origin;
}

/** Any file that is there may be another configuration's, whatever its name and wherever it is. */
function ofFile(marked: Marked, say: (file: string) => string): readonly Requested[] {
  const file = fileOf(marked);
  return [requested(say(visible(file)), marked.reach, file)];
}

/** Records are appended only to records. */
function ofRecords(marked: Marked, say: (file: string) => string): readonly Requested[] {
  const file = fileOf(marked);
  const isKept = liesIn(file, marked.stateDirectory) && file.endsWith('.jsonl');
  return marked.names.length === 0 && isKept ? [] : ofFile(marked, say);
}

function fileOf({ text, base, names }: Marked): string {
  return names.length > 0 ? text : realPathOf(absolutePath(text, base));
}

const vendors: ReadonlyMap<string, string> = new Map(
  vendorSetups().map(([, { dialect, variable, baseUrl = defaultBaseUrl(dialect) ?? '' }]) => [
    new URL(baseUrl).host,
    variable,
  ]),
);

/** The variables in which users keep their key for the vendor whose host this is; none for any other host. */
function variablesAt(url: string): readonly string[] {
  const { protocol, host = '' } = parse(url) ?? {};
  const own = protocol === 'https:' ? vendors.get(host) : undefined;
  if (own !== undefined) return [own];
  const cloud = cloudOf(url);
  return cloud === undefined ? [] : clouds[cloud].variables;
}

function cloudOf(url: string): Cloud | undefined {
  const parsed = parse(url);
  return parsed === undefined ? undefined : cloudAt(parsed);
}

/**
 * Whether requests there are billed to the user alone. A resource of Azure and a project of Google are in the address,
 * and may be those of the file's author; at AWS the credentials say whose account it is.
 */
function isVendors(url: string): boolean {
  const cloud = cloudOf(url);
  return cloud === undefined ? variablesAt(url).length > 0 : cloud === 'aws';
}

function isLoopbackUrl(url: string): boolean {
  const hostname = parse(url)?.hostname;
  return hostname !== undefined && isLoopbackHost(hostname);
}

/** Undefined as well where a variable says which host it is. */
function parse(url: string): URL | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed?.host === '' || /[${}]/.test(parsed?.host ?? '') ? undefined : parsed;
}

/** An address as it will be understood, without user and password. */
function place(url: string): string {
  const parsed = parse(url);
  if (parsed === undefined) return visible(url);
  const { protocol, host, username, password, pathname, search, hash: fragment } = parsed;
  const user = username === '' && password === '' ? '' : '***@';
  const rest = `${pathname === '/' ? '' : pathname}${search}${fragment}`.replace(/\$%7B(\w+)%7D/gi, '$${$1}');
  return visible(`${protocol}//${user}${host}${rest}`);
}

/** A text with nothing hidden: invisible characters and look-alikes are escaped, in quotes. */
function visible(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  return JSON.stringify(text).replace(
    /[^\x20-\x7e\p{Script=Latin}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** That a file is used without a policy of the user's own file, which only the user may want. */
export function waiverOf(policy: string): Want {
  const text = `it is used without the policy ${visible(policy)} of your own configuration`;
  return { text, path: [], id: hash('sha256', JSON.stringify(['without policy', policy]), 'hex') };
}

/** A configuration that was found, and that wants something. */
export interface JudgedFile {
  /** Its real path. */
  readonly path: string;
  /** How messages name it. */
  readonly name: string;
  readonly wants: readonly Want[];
  /** Whether it would be used if it got all of that: there is no point in asking about an invalid one. */
  readonly isValid: boolean;
}

/** Decides what a file gets from outside itself; resolves to what is not allowed yet. */
export type Consent = (file: JudgedFile) => Promise<readonly Want[]>;

/** What a file wants, for a person who decides. */
export function describeWants(name: string, wants: readonly Want[]): string {
  return `${name} was found here, not named by you, and wants what nobody has allowed:\n${linesOf(wants)}`;
}

/** A line each. */
export function linesOf(wants: readonly Want[]): string {
  return wants.map(({ text }) => `  ${text}\n`).join('');
}

/** The error (config.untrusted) for a file that wants what is not allowed yet. */
export function untrusted(name: string, pending: readonly Want[]): GatewayError {
  const remedy =
    '"gateway trust" allows it for this file; a file that -c or GATEWAY_CONFIG names may have it all';
  return new GatewayError('config.untrusted', `${describeWants(name, pending)}${remedy}`);
}
