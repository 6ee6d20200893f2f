import { escapeHtml } from '../../lib/html.js';
import { type JsonObject, objectAt } from './json-schema.js';
import { groupsOf, type Operation } from './reference-groups.js';
import { markdown, table, textOf } from './reference-html.js';
import { schemaList, typeOf } from './reference-schemas.js';

/*
 * The page that shows the API: at `/docs` of the service, and on the site of the documentation. It is whole without its
 * script, which only filters, and puts a schema where it is used.
 */

/**
 * The page, as HTML.
 * @param places where the page finds the rest: `files` is the folder of its style and its script, such as `/docs/`, or empty if they
 *   are beside it; `home` is the address of the other documentation, if it is on the same site
 */
export function referencePage(
  document: JsonObject,
  { files, documentUrl, home }: { readonly files: string; readonly documentUrl: string; readonly home?: string },
): string {
  const { title, version, description } = objectAt(document, 'info');
  const groups = groupsOf(document);
  const count = groups.reduce((sum, { operations }) => sum + operations.length, 0);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${textOf(title)} API</title>
<link rel="stylesheet" href="${escapeHtml(files)}reference.css"><script type="module" src="${escapeHtml(files)}reference.js"></script></head>
<body><header><h1>${textOf(title)} API <small>${textOf(version)}</small></h1>
<p>${markdown(description)}</p>
<p>${home === undefined ? '' : `<a href="${escapeHtml(home)}">All documentation</a>. `}<a href="${escapeHtml(documentUrl)}">The OpenAPI document</a> is for programs that make clients.</p>
<form role="search" hidden><label for="filter">Filter by path, name, scope or error</label>
<input id="filter" type="search" autocomplete="off" spellcheck="false"><output for="filter" data-all="${count}">${count} operations</output></form></header>
<main>${groups
    .map((group) =>
      section(
        group.title,
        group.description,
        group.operations.map((one) => operationHtml(one, document)),
      ),
    )
    .join('\n')}
${section('Schemas', 'The objects in bodies and answers.', schemaList(document))}</main></body></html>
`;
}

/** A part that can be opened. */
function section(title: string, description: string, parts: readonly string[]): string {
  return `<details class="group"><summary><h2>${escapeHtml(title)}</h2> <span>${escapeHtml(description)}</span> <small>${parts.length}</small></summary>
${parts.join('\n')}</details>`;
}

function operationHtml({ method, path, operation }: Operation, document: JsonObject): string {
  const id = textOf(operation.operationId);
  const head = `<h3><b class="${method}">${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code></h3> <span>${textOf(operation.summary)}</span>`;
  const parts = [
    paragraph(operation.description),
    `<p><strong>Needs:</strong> ${credentialsOf(operation)}</p>`,
    parametersHtml(operation, document),
    bodyHtml(operation),
    responsesHtml(operation, document),
    `<h4>Example</h4><pre tabindex="0"><code>${escapeHtml(curlOf({ method, path, operation }))}</code></pre>`,
    exampleHtml(operation, document),
  ];
  return `<details class="operation" id="${id}"><summary>${head}</summary><div>${parts.join('')}</div></details>`;
}

function credentialsOf(operation: JsonObject): string {
  const words: Record<string, (scopes: readonly string[]) => string> = {
    authenticationToken: () => 'an authentication token',
    session: () => 'a session token',
    apiKey: (scopes) =>
      `an API key with the scope ${scopes.map((scope) => `<code>${escapeHtml(scope)}</code>`).join(' ')}`,
  };
  const choices = (operation.security as readonly Record<string, readonly string[]>[]).flatMap((choice) =>
    Object.entries(choice).map(([name, scopes]) => words[name]?.(scopes) ?? escapeHtml(name)),
  );
  return choices.length === 0 ? 'no credentials' : choices.join(', or ');
}

function parametersHtml(operation: JsonObject, document: JsonObject): string {
  const rows = listOf(operation.parameters).map((one) => {
    const parameter = resolved(one, document);
    const required = parameter.required === true ? ' <em>required</em>' : '';
    return `<tr><td><code>${textOf(parameter.name)}</code>${required}</td><td>${textOf(parameter.in)}</td><td>${typeOf(objectAt(parameter, 'schema'))}</td><td>${markdown(parameter.description)}</td></tr>`;
  });
  return rows.length === 0 ? '' : `<h4>Parameters</h4>${table(['Name', 'In', 'Type', 'Meaning'], rows)}`;
}

function bodyHtml(operation: JsonObject): string {
  const kinds = Object.entries(objectAt(objectAt(operation, 'requestBody'), 'content'));
  const lines = kinds.map(
    ([type, media]) =>
      `<p data-schema><code>${escapeHtml(type)}</code>: ${typeOf(objectAt(media as JsonObject, 'schema'))}</p>`,
  );
  return lines.length === 0 ? '' : `<h4>Body</h4>${lines.join('')}`;
}

function responsesHtml(operation: JsonObject, document: JsonObject): string {
  const rows = Object.entries(objectAt(operation, 'responses')).map(([status, one]) => {
    const response = resolved(one as JsonObject, document);
    const kinds = Object.entries(objectAt(response, 'content')).map(([type, media]) =>
      Number(status) < 400
        ? `<div data-schema><code>${escapeHtml(type)}</code>: ${typeOf(objectAt(media as JsonObject, 'schema'))}</div>`
        : '',
    );
    // Each error of a status begins with its code.
    const meaning = markdown(response.description).replaceAll(/(?<=\.) (?=<code>)/g, '<br>');
    return `<tr><td>${escapeHtml(status)}</td><td>${meaning}${kinds.join('')}</td></tr>`;
  });
  return `<h4>Answers</h4>${table(['Status', 'Meaning'], rows)}`;
}

/** The example of the first answer that has one. */
function exampleHtml(operation: JsonObject, document: JsonObject): string {
  for (const response of Object.values(objectAt(operation, 'responses'))) {
    const content = objectAt(resolved(response as JsonObject, document), 'content');
    const { example } = objectAt(content, 'application/json');
    if (example !== undefined) {
      return `<pre tabindex="0"><code>${escapeHtml(JSON.stringify(example, undefined, 2))}</code></pre>`;
    }
  }
  return '';
}

/** The request as a command, with the variables of the guide. */
function curlOf({ method, path, operation }: Operation): string {
  const [choice] = operation.security as readonly Record<string, unknown>[];
  const credentials: Record<string, string> = {
    authenticationToken: ' -u "$TOKEN:"',
    session: ' -H "Authorization: Bearer $SESSION"',
    apiKey: ' -H "Authorization: Bearer $KEY"',
  };
  const name = Object.keys(choice ?? {})[0] ?? '';
  const url = path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => `$${parameter.toUpperCase()}`);
  const [type, media] = Object.entries(objectAt(objectAt(operation, 'requestBody'), 'content'))[0] ?? [];
  const { example } = { example: undefined, ...(media as JsonObject | undefined) };
  const json = example === undefined ? '{}' : JSON.stringify(example, undefined, 2).replaceAll("'", "'\\''");
  const bodies: Record<string, string> = {
    'application/json': ` \\\n  -H 'Content-Type: application/json' -d '${json}'`,
    'application/x-ndjson': ` \\\n  -H 'Content-Type: application/x-ndjson' --data-binary @lines.ndjson`,
    'multipart/form-data': ' \\\n  -F file=@image.png',
  };
  const verb = method === 'get' ? '' : ` -X ${method.toUpperCase()}`;
  return `curl${verb} "$BASE${url}"${credentials[name] ?? ''}${bodies[type ?? ''] ?? ''}`;
}

const paragraph = (text: unknown) => (text === undefined ? '' : `<p>${markdown(text)}</p>`);
const listOf = (value: unknown) => (Array.isArray(value) ? (value as JsonObject[]) : []);

/** The component behind a reference, with the members beside the reference. */
function resolved(part: JsonObject, document: JsonObject): JsonObject {
  if (typeof part.$ref !== 'string') return part;
  const [kind = '', name = ''] = part.$ref.split('/').slice(2);
  return { ...objectAt(objectAt(objectAt(document, 'components'), kind), name), ...part };
}
