import { appendFileSync } from 'node:fs';
import { isText, methodFor, tableBetween } from '../../src/dialects/dialect.ts';
import { targetOf } from '../../src/dialects/model-path.ts';
import { type DialectName, dialects, type TextDialectName } from '../../src/dialects/registry.ts';
import { dialectNames } from './dialects.ts';

// In which forms clients ask and hosts are asked: what holds for the gateway holds in all of them. Each generator goes
// through these tables and counts its cases, so that a new dialect or form is in all of them, or a test fails.

const own = Object.fromEntries(dialectNames.map((name) => [name, name])) as {
  readonly [Name in DialectName]: Name;
};

/** The dialect of each form of a client. */
export const clientForms = {
  ...own,
  /** A stream of Gemini without `alt=sse`, which is one JSON array. */
  gemini_array: 'gemini',
} as const satisfies Record<string, DialectName>;
export type ClientForm = keyof typeof clientForms;

/** The dialect of each form of a host. */
export const providerForms = {
  ...own,
  /** Claude at Amazon Bedrock: the model is in the path, and streams come in frames. */
  bedrock: 'messages',
  /** Claude at Google's Vertex AI, with the model in the path. */
  vertex: 'messages',
  /** Gemini there, below other paths. */
  vertex_gemini: 'gemini',
} as const satisfies Record<string, DialectName>;
export type ProviderForm = keyof typeof providerForms;

/** Those of conversations. */
type TextOf<Forms extends Record<string, DialectName>> = {
  [Name in keyof Forms]: Forms[Name] extends TextDialectName ? Name : never;
}[keyof Forms];
export type TextClient = TextOf<typeof clientForms>;
export type TextProvider = TextOf<typeof providerForms>;

const namesOf = <Forms extends object>(forms: Forms) => Object.keys(forms) as (keyof Forms & string)[];
const isOfText = (dialect: DialectName) => isText(dialects[dialect]);

const allClients: readonly ClientForm[] = namesOf(clientForms);
export const allProviders: readonly ProviderForm[] = namesOf(providerForms);
export const textClients = allClients.filter((name): name is TextClient => isOfText(clientForms[name]));
export const textProviders = allProviders.filter((name): name is TextProvider =>
  isOfText(providerForms[name]),
);

/** A client's form and a host's, between which requests pass or are translated. */
export const allPairs = allClients.flatMap((client) =>
  allProviders
    .filter((provider) => {
      const [one, other] = [dialects[clientForms[client]], dialects[providerForms[provider]]];
      return one === other || tableBetween(one, other) !== undefined;
    })
    .map((provider) => [client, provider] as const),
);
export const textPairs = textClients.flatMap((client) =>
  textProviders.map((provider) => [client, provider] as const),
);

/** Where a client asks for a model. */
export function askedAt(client: ClientForm, model: string, isStream: boolean): string {
  const method = methodFor(dialects[clientForms[client]], isStream || client === 'gemini_array');
  const isEvents = method.query !== undefined && client !== 'gemini_array';
  return targetOf({ ...method, query: '' }, model).replace('?', isEvents ? `?${method.query}` : '');
}

type Form = `client ${ClientForm}` | `provider ${ProviderForm}`;

/** The generators, by the law that they try, and their files. */
export const generators = {
  growth: 'gateway/growth.slow.test.ts',
  leaks: 'gateway/leaks.test.ts',
  masking: 'gateway/masking/generated.test.ts',
  'rules on answers': 'gateway/streams.test.ts',
  'cut streams': 'gateway/streams.test.ts',
  secrets: 'gateway/streams.test.ts',
  faults: 'gateway/provider-faults.test.ts',
  neighbours: 'policy/traverse/neighbours.test.ts',
} as const;
export type Generator = keyof typeof generators;

export interface Tally {
  add(client: ClientForm | undefined, provider: ProviderForm | undefined, cases?: number): void;
  /** Forms that had no case, and those that had some although they were said to have none. With COUNTS=file all are written there. */
  wrong(): readonly string[];
}

/** Counts the cases of a generator by the forms that they are of; a form that it leaves out has its reason. */
export function createTally(
  generator: Generator,
  { without = {} }: { readonly without?: Readonly<Partial<Record<Form, string>>> } = {},
): Tally {
  const counts = new Map<Form, number>();
  const forms: readonly Form[] = [
    ...allClients.map((name) => `client ${name}` as const),
    ...allProviders.map((name) => `provider ${name}` as const),
  ];
  const addTo = (form: Form, cases: number) => counts.set(form, (counts.get(form) ?? 0) + cases);
  return {
    add(client, provider, cases = 1) {
      if (client !== undefined) addTo(`client ${client}`, cases);
      if (provider !== undefined) addTo(`provider ${provider}`, cases);
    },
    wrong() {
      const file = process.env.COUNTS;
      if (file !== undefined) {
        const rows = forms.map((form) =>
          [generator, form, counts.get(form) ?? without[form] ?? 0].join('\t'),
        );
        appendFileSync(file, `${rows.join('\n')}\n`);
      }
      return forms.filter((form) => counts.has(form) === form in without);
    },
  };
}
