import type { JsonSchema } from '../src/config/schema/json-schema.ts';

/** docs/configuration.md, made from the schema. `npx vitest run test/config/docs.test.ts -u` writes it. */
export function renderConfigurationDocs(schema: JsonSchema): string {
  return `${introduction}\n${sections(schema).join('\n')}`;
}

const introduction = `# Configuration

<!-- Made from src/config/schema/schema.ts: npx vitest run test/config/docs.test.ts -u -->

The configuration is one YAML file: the one named by \`--config\`, else by \`GATEWAY_CONFIG\`, else \`gateway.yaml\`
(\`.yml\`, \`.gateway.yaml\`, \`.config/gateway.yaml\`) in the working directory or a parent up to the root of the repository or your home,
else \`gateway/gateway.yaml\` in the user's configuration directory. Without a file the gateway runs in sandbox mode.
A file that belongs to another user, or that everybody may write to, is refused. JSON is YAML too, and is read many
times as fast: write a file of thousands of keys or models as JSON, whatever its name.

An unknown setting is an error. \`\${NAME}\` inserts an environment variable anywhere in a text;
\`$\${\` is a literal \`\${\`. A variable that is unset or empty disables the provider or the key that needs it,
and is an error anywhere else. Durations are written \`500ms\`, \`10s\`, \`5m\`, \`1h\`; sizes \`16KiB\`, \`32MiB\`, \`10MB\`.
Paths are relative to the file; \`~/\` is your home directory.

\`config.example.yaml\` shows every setting in its place. In the tables, \`NAME\` stands for a name of your choice
and \`[ ]\` for any entry of a list.
`;

interface Row {
  readonly path: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

function sections(schema: JsonSchema): string[] {
  return Object.entries(schema.properties ?? {}).map(([name, section]) => {
    const rows = rowsOf({ path: name, schema: section, isRequired: false });
    const lines = rows.map(({ path, schema: at, isRequired }) =>
      row([`\`${path}\``, typeOf(at), isRequired ? 'required' : defaultOf(at), at.description ?? '']),
    );
    const head = [row(['setting', 'type', 'default', 'meaning']), '|---|---|---|---|'];
    return `## ${name}\n\n${[...head, ...lines].join('\n')}\n`;
  });
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** A setting and all below it. Of settings beside each other with the same shape, only the first is unfolded. */
function rowsOf(own: Row): Row[] {
  const { path, schema } = own;
  const unfolded = new Map<string, string>();
  const branches = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const inner = branches.flatMap((branch) => [
    ...Object.entries(branch.properties ?? {}).map(([name, child]) => ({
      path: `${path}.${name}`,
      schema: child,
      isRequired: branch.required?.includes(name) ?? false,
    })),
    ...(typeof branch.additionalProperties === 'object'
      ? [entry(`${path}.NAME`, branch.additionalProperties)]
      : []),
    ...(branch.items?.properties === undefined ? [] : [entry(`${path}[ ]`, branch.items)]),
  ]);
  return [
    own,
    ...inner.flatMap((row) => {
      const shape = JSON.stringify(row.schema.properties);
      const twin = shape === undefined ? undefined : unfolded.get(shape);
      if (twin !== undefined) return [{ ...row, schema: { ...row.schema, description: sameAs(row, twin) } }];
      if (shape !== undefined) unfolded.set(shape, row.path);
      return rowsOf(row);
    }),
  ];
}

function sameAs({ schema }: Row, path: string): string {
  return `${schema.description ?? ''} Settings as under \`${path}\`.`.trim();
}

function entry(path: string, schema: JsonSchema): Row {
  return { path, schema, isRequired: false };
}

function typeOf(schema: JsonSchema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches !== undefined) return [...new Set(branches.map(typeOf))].join(' or ');
  if (schema.type === 'array')
    return `list of ${schema.items === undefined ? 'anything' : typeOf(schema.items)}`;
  if (schema.type === 'object') return 'settings';
  const names: Readonly<Record<string, string>> = {
    string: 'text',
    integer: 'whole number',
    boolean: '`true`, `false`',
  };
  const types = [schema.type ?? 'anything'].flat();
  return types.map((type) => names[type] ?? type).join(' or ');
}

function defaultOf({ default: value }: JsonSchema): string {
  if (value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value)))
    return '';
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}
