import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { asyncapi } from '../../src/plants/contract/asyncapi.ts';
import { openapi } from '../../src/plants/contract/openapi.ts';

type Methods = Readonly<Record<string, { readonly responses: Readonly<Record<string, Content>> }>>;
interface Content {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

const paths: Readonly<Record<string, Methods>> = openapi.paths;
const shared: Readonly<Record<string, Content>> = openapi.components.responses;

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema({ ...openapi, $id: 'openapi.json' }, 'openapi.json', false, false);
ajv.addSchema({ ...asyncapi, $id: 'asyncapi.json' }, 'asyncapi.json', false, false);

export interface SeenAnswer {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** Throws where an answer is not as the OpenAPI document says. */
export function checkAnswer({ method, path, status, contentType, body }: SeenAnswer): void {
  const pointer = responsePointer(method, path, status);
  const type = contentType.split(';')[0] ?? '';
  const content = at(pointer).content ?? {};
  if (!(type in content)) throw new Error(`${method} ${path} ${status}: ${type} is not in the contract`);
  if (method === 'HEAD' || type !== 'application/json') return;
  const schema = `openapi.json${pointer}/content/application~1json/schema`;
  check(schema, JSON.parse(body), `${method} ${path} ${status}`);
}

/** Whether a value is valid for one of the OpenAPI document's named schemas. */
export function isValid(name: keyof typeof openapi.components.schemas, value: unknown): boolean {
  return ajv.validate(`openapi.json#/components/schemas/${name}`, value);
}

/** Throws where an event is not as the AsyncAPI document says. */
export function checkEvent(event: unknown): void {
  const type = typeof event === 'object' && event !== null && 'type' in event ? event.type : undefined;
  const names: Readonly<Record<string, string>> = {
    'plant.created': 'plantCreated',
    'plant.updated': 'plantUpdated',
    'plant.status.changed': 'plantStatusChanged',
    'plant.deleted': 'plantDeleted',
    error: 'refused',
  };
  const name = names[String(type)];
  if (name === undefined) throw new Error(`no message of the contract has the type ${String(type)}`);
  check(`asyncapi.json#/components/schemas/${name}`, event, name);
}

function check(schema: string, value: unknown, what: string): void {
  if (ajv.validate(schema, value)) return;
  throw new Error(`${what} breaks the contract: ${ajv.errorsText()}\n${JSON.stringify(value)}`);
}

/** Where the document describes this answer; what is no operation has the shared error. */
function responsePointer(method: string, path: string, status: number): string {
  const template = templateOf(path);
  const operation =
    template === undefined ? undefined : paths[template]?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
  if (template === undefined || operation === undefined) return '#/components/responses/Error';
  const key = String(status) in operation.responses ? String(status) : 'default';
  const reference = operation.responses[key]?.$ref;
  if (reference !== undefined) return reference;
  const escaped = template.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D');
  return `#/paths/${escaped}/${method === 'HEAD' ? 'get' : method.toLowerCase()}/responses/${key}`;
}

function templateOf(path: string): string | undefined {
  const plain = path.replace(/^\/v3/, '');
  if (plain in paths) return plain;
  return Object.keys(paths).find((template) =>
    new RegExp(`^${template.replace(/\{\w+\}/, '[^/]+')}$`).test(plain),
  );
}

function at(pointer: string): Content {
  if (pointer.startsWith('#/components/responses/')) return shared[pointer.slice(23)] ?? {};
  let value: unknown = openapi;
  for (const part of pointer.slice(2).split('/')) {
    const key = decodeURIComponent(part).replaceAll('~1', '/');
    value = (value as Record<string, unknown>)[key]; // pointers come from responsePointer
  }
  return value as Content;
}
