import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { asyncapi } from '../../src/plants/contract/asyncapi.ts';
import { openapi } from '../../src/plants/contract/openapi.ts';

type Methods = Readonly<Record<string, { readonly responses: Readonly<Record<string, Content>> }>>;
type Described = Readonly<Record<string, { readonly schema: object }>>;
interface Content {
  readonly $ref?: string;
  readonly content?: Described;
}

const paths: Readonly<Record<string, Methods>> = openapi.paths;
const shared: Readonly<Record<string, Content>> = openapi.components.responses;

const schemas = new Map<object, ValidateFunction>();
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
  const type = contentType.split(';')[0] ?? '';
  const described = descriptionOf(method === 'HEAD' ? 'get' : method.toLowerCase(), path, status)[type];
  if (described === undefined) throw new Error(`${method} ${path} ${status}: ${type} is not in the contract`);
  if (method === 'HEAD' || type !== 'application/json') return;
  let schema = schemas.get(described);
  if (schema === undefined) {
    schema = ajv.compile({ ...described.schema, components: openapi.components });
    schemas.set(described, schema);
  }
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
  const schema = ajv.getSchema(`asyncapi.json#/components/schemas/${name}`);
  if (schema === undefined) throw new Error(`the contract has no schema of ${name}`);
  check(schema, event, name);
}

function check(schema: ValidateFunction, value: unknown, what: string): void {
  if (schema(value)) return;
  throw new Error(`${what} breaks the contract: ${ajv.errorsText(schema.errors)}\n${JSON.stringify(value)}`);
}

/** What the document says of this answer, by type; what is no operation has the shared error. */
function descriptionOf(method: string, path: string, status: number): Described {
  const { responses } = paths[templateOf(path) ?? '']?.[method] ?? {};
  const { $ref, content } = responses?.[status] ?? responses?.default ?? shared.Error ?? {};
  return ($ref === undefined ? content : shared[$ref.split('/').at(-1) ?? '']?.content) ?? {};
}

function templateOf(path: string): string | undefined {
  const plain = path.replace(/^\/v3/, '');
  if (plain in paths) return plain;
  return Object.keys(paths).find((template) =>
    new RegExp(`^${template.replace(/\{\w+\}/, '[^/]+')}$`).test(plain),
  );
}
