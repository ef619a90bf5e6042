/** As much of JSON Schema, OpenAPI and AsyncAPI as our own documents use and the page shows. */
export interface SchemaObject {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: SchemaObject;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaObject>>;
}

export interface Content {
  readonly description?: string;
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: SchemaObject }>>;
}

export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: SchemaObject;
  }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

export interface HttpContract {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
  };
  readonly servers: readonly [{ readonly url: string }];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, SchemaObject>>;
    readonly responses: Readonly<Record<string, Content>>;
  };
}

export interface EventContract {
  readonly info: { readonly description: string };
  readonly channels: Readonly<Record<string, { readonly address: string; readonly description: string }>>;
  readonly components: {
    readonly messages: Readonly<
      Record<
        string,
        { readonly title: string; readonly summary?: string; readonly payload: { readonly $ref: string } }
      >
    >;
    readonly schemas: Readonly<Record<string, SchemaObject>>;
  };
}
