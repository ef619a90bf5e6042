import { docsStyle } from './docs-style.ts';
import type { Content, EventContract, HttpContract, OperationObject, SchemaObject } from './document.ts';

/** The contracts as one page of plain HTML: no script, no font, no request. */
export function renderDocs(http: HttpContract, events: EventContract): string {
  const { title, version, summary, description } = http.info;
  const base = http.servers[0].url;
  const sections = http.tags.map((tag) => section(tag, http, base));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} API</title>
<style>${docsStyle}</style>
</head>
<body>
<nav aria-label="Operations">
<a class="home" href="#top">${escapeHtml(title)}</a>
${http.tags.map((tag) => navigation(tag, http)).join('\n')}
<h2><a href="#events">Events</a></h2>
<h2><a href="#schemas">Shapes</a></h2>
</nav>
<main id="top">
<header>
<h1>${escapeHtml(title)} <small>${escapeHtml(version)}</small></h1>
<p class="lead">${escapeHtml(summary)}</p>
<p>${escapeHtml(description)}</p>
<p class="files"><a href="openapi.json">openapi.json</a> <a href="asyncapi.json">asyncapi.json</a></p>
</header>
${sections.join('\n')}
${eventSection(events)}
<section id="schemas">
<h2>Shapes</h2>
${Object.entries(http.components.schemas)
  .map(([name, schema]) => shape(name, schema))
  .join('\n')}
</section>
</main>
</body>
</html>
`;
}

type Tag = HttpContract['tags'][number];

function operationsOf(tag: Tag, { paths }: HttpContract) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag.name))
      .map(([method, operation]) => ({ path, method, operation })),
  );
}

function navigation(tag: Tag, http: HttpContract): string {
  const items = operationsOf(tag, http).map(
    ({ method, operation }) =>
      `<li><a href="#${escapeHtml(operation.operationId)}"><b class="${method}">${method}</b> ${escapeHtml(operation.summary)}</a></li>`,
  );
  return `<h2>${escapeHtml(tag.description)}</h2>\n<ul>${items.join('')}</ul>`;
}

function section(tag: Tag, http: HttpContract, base: string): string {
  const articles = operationsOf(tag, http).map(({ path, method, operation }) =>
    article(`<b class="${method}">${method}</b> <code>${escapeHtml(base + path)}</code>`, operation, http),
  );
  return `<section>\n<h2>${escapeHtml(tag.description)}</h2>\n${articles.join('\n')}\n</section>`;
}

function article(heading: string, operation: OperationObject, { components }: HttpContract): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const isLocked = operation.security?.every((way) => Object.keys(way).length > 0);
  const parts = [
    `<h3>${heading}${isLocked ? ' <span class="lock">login</span>' : ''}</h3>`,
    `<p><strong>${escapeHtml(summary)}.</strong> ${escapeHtml(description ?? '')}</p>`,
  ];
  if (parameters.length > 0) {
    const rows = parameters.map(({ name, in: place, required, schema, description: text }) => [
      `<code>${escapeHtml(name)}</code>${required === true ? '<i>required</i>' : `<i>${place}</i>`}`,
      `${typeText(schema)}`,
      escapeHtml(text ?? ''),
    ]);
    parts.push(table(['Parameter', 'Type', ''], rows));
  }
  if (requestBody !== undefined) parts.push(`<p class="body">Body: ${contentText(requestBody)}</p>`);
  const answers = Object.entries(responses).map(([status, response]) => {
    const whole =
      response.$ref === undefined ? response : (components.responses[lastPart(response.$ref)] ?? response);
    return [
      `<span class="s${status[0]}">${status}</span>`,
      contentText(whole),
      escapeHtml(whole.description ?? ''),
    ];
  });
  parts.push(table(['Answer', 'Body', ''], answers));
  return `<article id="${escapeHtml(operationId)}">\n${parts.join('\n')}\n</article>`;
}

function eventSection({ info, channels, components }: EventContract): string {
  const channelText = Object.values(channels).map(
    ({ address, description }) =>
      `<article><h3><b class="ws">ws</b> <code>${escapeHtml(address)}</code> <span class="lock">login</span></h3><p>${escapeHtml(description)}</p></article>`,
  );
  const messages = Object.values(components.messages).map(({ title, summary, payload }) => {
    const schema = components.schemas[lastPart(payload.$ref)] ?? {};
    return `<article><h3>${escapeHtml(title)}</h3>${summary === undefined ? '' : `<p>${escapeHtml(summary)}</p>`}${fields(schema)}</article>`;
  });
  return `<section id="events">\n<h2>Events</h2>\n<p>${escapeHtml(info.description)}</p>\n${[...channelText, ...messages].join('\n')}\n</section>`;
}

function shape(name: string, schema: SchemaObject): string {
  const text = schema.description === undefined ? '' : `<p>${escapeHtml(schema.description)}</p>`;
  return `<article id="shape-${escapeHtml(name)}"><h3>${escapeHtml(name)}</h3>${text}${fields(schema)}</article>`;
}

function fields({ properties = {}, required = [] }: SchemaObject): string {
  const rows = Object.entries(properties).map(([name, schema]) => [
    `<code>${escapeHtml(name)}</code>${required.includes(name) ? '<i>always</i>' : ''}`,
    typeText(schema),
    escapeHtml(schema.description ?? ''),
  ]);
  return table(['Field', 'Type', ''], rows);
}

function contentText({ content }: Content): string {
  return Object.entries(content ?? {})
    .map(([type, { schema }]) => (type === 'application/json' ? typeText(schema) : escapeHtml(type)))
    .join(', ');
}

function typeText(schema: SchemaObject): string {
  if (schema.$ref !== undefined) return link(lastPart(schema.$ref));
  if (schema.const !== undefined) return `<code>${escapeHtml(String(schema.const))}</code>`;
  if (schema.enum !== undefined)
    return schema.enum.map((value) => `<code>${escapeHtml(value)}</code>`).join(' ');
  const otherwise = schema.default === undefined ? '' : `, else ${escapeHtml(String(schema.default))}`;
  if (schema.type === 'array') return `list of ${typeText(schema.items ?? {})}${bounds(schema)}${otherwise}`;
  const types = [schema.type ?? 'anything'].flat().join(' or ');
  return `${escapeHtml(schema.format ?? types)}${bounds(schema)}${otherwise}`;
}

function bounds({ minimum, maximum, minLength, maxLength, minItems, maxItems }: SchemaObject): string {
  const [least, most, unit] =
    (maximum ?? minimum) !== undefined
      ? [minimum, maximum, '']
      : (maxItems ?? minItems) !== undefined
        ? [minItems, maxItems, ' entries']
        : [minLength, maxLength, ' characters'];
  const shownMost = most === Number.MAX_SAFE_INTEGER ? undefined : most;
  if (least === undefined && shownMost === undefined) return '';
  if (shownMost === undefined) return `, from ${least}`;
  return `, ${least === undefined ? 'up to ' : `${least}–`}${shownMost}${unit}`;
}

function link(name: string): string {
  const isShared = name[0] === name[0]?.toUpperCase();
  return isShared
    ? `<a href="#shape-${escapeHtml(name)}">${escapeHtml(name)}</a>`
    : '<a href="#shape-Plant">Plant</a>';
}

function lastPart(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const head = header.map((title) => `<th scope="col">${title}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n');
  return `<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table></div>`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
