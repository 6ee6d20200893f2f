// Writes the generated documents. With --check, reports those that do not match the code.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import {
  authenticationErrors,
  bodyOf,
  buildServer,
  createLog,
  errors,
  exampleOf,
  fieldErrors,
  fieldsWith,
  formerNames,
  loginReasons,
  nilId,
  settingGroups,
  textRules,
  version,
  webhookEventSchema,
  webhookEventTypes,
} from '../dist/tools.js';
import { operationTypes, reachedComponents, schemaType, wireTypes } from './lib/wire-types.mjs';

const openApiText = await openApi();
const documents = {
  'docs/errors.md': errorsPage(),
  'docs/configuration.md': configurationPage(),
  'docs/templates.md': templatesPage(),
  'docs/openapi.json': openApiText,
  'docs/webhook-events.md': webhookEventsPage(),
  'docs/webhook-events.json': webhookEventSchemas(),
  'console/src/api/schema.ts': await consoleTypes(JSON.parse(openApiText)),
  'packages/client/src/wire.ts': clientTypes(JSON.parse(openApiText)),
  'packages/server/src/wire.ts': serverTypes(JSON.parse(openApiText)),
  'packages/elements/src/base/tokens.ts': await elementTokens(),
};

const stale = [];
for (const [path, text] of Object.entries(documents)) {
  const url = new URL(`../${path}`, import.meta.url);
  const current = await readFile(url, 'utf8').catch(() => '');
  if (current === text) continue;
  if (process.argv.includes('--check')) stale.push(path);
  else await writeFile(url, text);
}
if (stale.length > 0) {
  console.error(`Out of date: ${stale.join(', ')}. Run: npm run generate`);
  process.exitCode = 1;
}

/** The JSON Schema of each event, by type. */
function webhookEventSchemas() {
  const schemas = Object.fromEntries(webhookEventTypes.map((type) => [type, webhookEventSchema(type)]));
  return `${JSON.stringify(schemas, null, 2)}\n`;
}

/** The catalogue of events: one row for each, with the members of its body. */
function webhookEventsPage() {
  const [event, endpoint, user] = [
    '0197a4c2-6f1e-7c31-9d52-8a4b5c6d7e8f',
    '3b2a1908-f7e6-4d5c-8b4a-392817065f4e',
    '582a5abb-1335-4794-4855-11e067b8c55e',
  ];
  const exampleBody = (type) =>
    JSON.parse(
      bodyOf(endpoint, {
        event_id: event,
        type,
        created_at: '2026-11-23T17:30:00.123456Z',
        user_id: /^(audit|topic\.(created|updated|deleted)|publication|suppression\.deleted)/.test(type) ? nilId : user,
        sequence: 3,
        data: exampleOf(type),
      }),
    );
  const rows = webhookEventTypes.map((type) => {
    const { user_id, sequence, actor, changed_fields, ...own } = exampleBody(type).data;
    const members = Object.entries({ ...own, ...(changed_fields.length > 0 && { changed_fields }) });
    const names = members.map(([name, value]) =>
      value === null || /_ids?$|^hash$/.test(name) ? `\`${name}\`` : `\`${name}: ${JSON.stringify(value)}\``,
    );
    const about = webhookEventSchema(type).description.replace(/ The event concerns no user[^.]*\./, '');
    return `| \`${type}\` | ${about} | ${[...(user_id === nilId ? ['(no user)'] : []), ...names].join(', ')} |`;
  });
  return `# Events of webhooks

[Webhooks](webhooks.md) deliver these events. With the payload \`thin\`, a body looks like this:

\`\`\`json
${JSON.stringify(exampleBody('user.updated'), null, 2)}
\`\`\`

The \`data\` of each event has \`user_id\` (zeros if the event concerns no user), \`sequence\`, \`changed_fields\` and \`actor\`. The table
has the other members, with example values. [webhook-events.json](webhook-events.json) has a JSON Schema of each body. Accept
members that you do not know.

| Event | Sent when | Members of \`data\` |
|---|---|---|
${rows.join('\n')}

Generated from \`src/contract/webhook-events.ts\` by \`npm run generate\`.
`;
}

function errorsPage() {
  const rows = Object.entries(errors).map(([code, { status, remedy }]) => `| ${status} | \`${code}\` | ${remedy} |`);
  const texts = (catalogue) => Object.entries(catalogue).map(([code, message]) => `| \`${code}\` | ${message.en} |`);
  return `# Errors

Every error is \`application/problem+json\` ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)):

\`\`\`json
{
  "type": "urn:postern:problem:validation_failed",
  "title": "Some fields are not valid.",
  "status": 422,
  "detail": "Some fields are not valid. identity.type: This must be one of: email, phone, username.",
  "request_id": "5f0d7a52-52a6-4f55-8a5b-0d7c0a7f1f3e",
  "errors": [{ "field": "identity.type", "code": "invalid_choice", "message": "This must be one of: email, phone, username." }]
}
\`\`\`

\`errors\` always has an entry, so a program can read \`errors[0].code\`. The meaning of a code never changes. Messages are
for people, in English or Spanish (\`Accept-Language\`). In a message, a part in square brackets appears only if its value
is known. \`request_id\` is also in the log and in the header \`Request-ID\`.

## Problems

| Status | Code | When, and what to do |
|---|---|---|
${rows.join('\n')}

401 has the header \`WWW-Authenticate\`, and 405 has \`Allow\`. 423, 429, 503 and 409 \`request_in_progress\` have
\`Retry-After\`, in whole seconds.

## Field errors

A \`validation_failed\` problem has these codes in \`errors[]\`. \`field\` names the field, such as \`identity.type\` or
\`0.user_id\`. If a header is wrong, the problem is \`malformed_request\`, and \`field\` names the header.

| Code | Message |
|---|---|
${texts(fieldErrors).join('\n')}

## Codes of an authentication

An authentication has one of these codes in \`error_code\`, or the empty string if there is no error.

| Code | Message |
|---|---|
${texts(authenticationErrors).join('\n')}

## Reasons of a login diagnosis

A [login diagnosis](operations/users.md#diagnose-a-login) has these codes in \`reasons\`.

| Code | Message |
|---|---|
${texts(loginReasons).join('\n')}

Generated from \`src/contract/errors/\` by \`npm run generate\`.
`;
}

/** The components whose types the JavaScript client has. */
function clientNames() {
  const names = ['Account', 'Authentication', 'AuthenticationState', 'Device', 'DeviceInput', 'FieldError', 'Identity'];
  names.push('Changes', 'DeliveryTrace', 'Image', 'Marker', 'Mute', 'Notification', 'DeviceToken', 'PushKey');
  names.push('AccountDetails', 'ActivityEntry', 'ChangedPassword', 'ExternalIdentity', 'NewPasskey', 'NewTotp');
  names.push('LogoutResult', 'OwnSupportLogin', 'Passkey', 'RecoveryCodes', 'StartedExternalIdentity', 'StartedProof');
  names.push('LoginOptions', 'NewSession', 'PageInfo', 'Recovered', 'Session', 'SentCode', 'MergedGuest');
  names.push('ChangedStates', 'InboxCounts', 'InboxStates', 'Preferences', 'OwnTopic');
  return names;
}

/** The types of the JavaScript client: those of the document, and the codes of problems with their status. */
function clientTypes({ components }) {
  const statuses = Object.entries(errors).map(([code, { status }]) => `  readonly ${code}: ${status};`);
  const kinds = fieldsWith('filter').map(([name, { filter }]) => `  readonly ${name}: '${filter}';`);
  return `// Generated from docs/openapi.json, src/contract/errors/ and src/contract/notification-fields.ts by \`npm run generate\`.

/** Every code of a problem, with its HTTP status. */
export interface ProblemStatuses {
${statuses.join('\n')}
}

/** How filters compare the values of each field of a notification. */
export interface NotificationFilterKinds {
${kinds.join('\n')}
}

${wireTypes(components.schemas, clientNames())}`;
}

/** The types of requests and answers that the console imports. */
async function consoleTypes(document) {
  const folder = new URL('../console/src/', import.meta.url);
  const files = (await readdir(folder, { recursive: true })).filter((file) => /\.tsx?$/.test(file));
  const sources = await Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')));
  const imports = sources.flatMap((source) => [...source.matchAll(/\{([^{}]+)\} from '[./]+\/(?:api\/)?schema\.js'/g)]);
  const names = new Set(imports.flatMap(([, list]) => list.match(/\b(?!type\b)\w+/g)));
  const types = webhookEventTypes.map((type) => `  '${type}',\n`).join('');
  return `// Generated from docs/openapi.json and src/contract/webhooks.ts by \`npm run generate\`.

/** The types of events of webhooks. */
export const webhookEventTypes = [\n${types}] as const;

${operationTypes(document, names)}`;
}

/** The colours and sizes that the elements share with the console. Constants, so that a page loads only those that it uses. */
async function elementTokens() {
  const names = [
    'ink',
    'ink-3',
    'surface',
    'hover',
    'accent',
    'accent-solid',
    'on-solid',
    'bad',
    'bad-solid',
    'bad-soft',
  ];
  names.push('line', 'line-control', 't-15', 'l-tight', 'w-strong', 'w-title', 'r-6', 'h-large', 'shade-2');
  const sheet = await readFile(new URL('../console/src/styles/tokens.css', import.meta.url), 'utf8');
  const [first = ''] = sheet.match(/:root \{[^}]*\}/) ?? [];
  const constants = names.map((name) => {
    const value = new RegExp(`--${name}:([^;]+);`).exec(first)?.[1]?.trim().replace(/\s+/g, ' ');
    if (value === undefined) throw new Error(`console/src/styles/tokens.css has no --${name}`);
    const constant = name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
    const line = `export const ${constant} = '${value}';`;
    return line.length <= 120 ? line : line.replace(' = ', ' =\n  ');
  });
  return `// Generated from console/src/styles/tokens.css by \`npm run generate\`.\n\n${constants.join('\n')}\n`;
}

/** The types of the package for backends. */
function serverTypes({ components }) {
  const names = ['AccountExport', 'ActivityEntry', 'AuditEvent', 'Session'];
  names.push('ApiKey', 'IssuedApiKey', 'NewApiKey', 'Scope', 'OutboxMessage');
  names.push('DeliveryTrace', 'DryRun', 'Image', 'Notification', 'NotificationChange', 'NotificationInput');
  names.push('ImportResult', 'PublishResult', 'User', 'UserChange', 'NewUser', 'UserToImport');
  names.push('ExternalIdentity', 'ExternalIdentityLink', 'LoginDiagnosis', 'LoginDiagnosisRequest');
  names.push('Marker', 'UserDevice', 'UserSession');
  names.push('IssuedWebhook', 'NewWebhook', 'Webhook', 'WebhookChange', 'WebhookDelivery', 'WebhookReplay');
  names.push('WebhookSecret', 'WebhookTest');
  const inClient = reachedComponents(components.schemas, clientNames());
  // The events about a user only have the members that all events have.
  const common = webhookEventSchema('user.created').properties.data;
  const first = new Map();
  const events = webhookEventTypes.map((type) => {
    const { description, properties } = webhookEventSchema(type);
    const isOwn = ([name]) => !(name in common.properties);
    const own = Object.fromEntries(Object.entries(properties.data.properties).filter(isOwn));
    const rest = schemaType({ ...properties.data, properties: own }, '  ');
    const data = Object.keys(own).length === 0 ? 'CommonEventData' : `CommonEventData & ${rest}`;
    const isRepeated = data.includes('\n') && first.has(data);
    if (!isRepeated) first.set(data, type);
    return `  /** ${description} */\n  readonly '${type}': ${isRepeated ? `WebhookEventData['${first.get(data)}']` : data};\n`;
  });
  const own = wireTypes(components.schemas, names, inClient);
  const shared = [...inClient].sort();
  const used = shared.filter((name) => new RegExp(`\\b${name}\\b`).test(own));
  return `// Generated from docs/openapi.json and src/contract/webhook-events.ts by \`npm run generate\`.
import type {
${used.map((name) => `  ${name},\n`).join('')}} from '@postern/client/internal';

export type {
${shared
  .filter((name) => names.includes(name))
  .map((name) => `  ${name},\n`)
  .join('')}} from '@postern/client/internal';

/** The members of \`data\` that all events of webhooks have. */
export interface CommonEventData ${schemaType(common, '')}

/** The member \`data\` of each event of webhooks, with the payload \`thin\`. */
export interface WebhookEventData {
${events.join('')}}

${own}`;
}

function configurationPage() {
  const row = ([name, { fallback, about, isSecret }]) => {
    const file = isSecret === true ? ' †' : '';
    return `| \`${name}\` | ${fallback === undefined ? '' : `\`${fallback}\``} | ${about}${file} |`;
  };
  const groups = Object.entries(settingGroups).map(
    ([heading, settings]) => `## ${heading}

| Variable | Default | Meaning |
|---|---|---|
${Object.entries(settings).map(row).join('\n')}
`,
  );
  const former = Object.entries(formerNames).map(([old, name]) => `| \`${old}\` | \`${name}\` |`);
  return `# Configuration

Postern reads environment variables. For variables that are not set, it reads the file \`.env\` in the working directory.
It checks all variables at the start and reports all errors at once. A variable that starts with \`POSTERN_\` is an error,
because no setting has such a name.

A duration is a number and a unit: \`500ms\`, \`30s\`, \`15m\`, \`1h\`, \`365d\`. An empty value counts as unset.

A setting marked with † can also be in a file, for example one of Docker, Kubernetes or systemd: \`SECRET_KEY_FILE\` names the
file of \`SECRET_KEY\`. The end of the last line does not belong to the value.

${groups.join('\n')}
## Former names

Postern still reads these names and logs a warning. The next version does not read them. If both names are set, their values
must be equal.

| Former name | Name |
|---|---|
${former.join('\n')}

Generated from \`src/config/settings.ts\` by \`npm run generate\`.
`;
}

function templatesPage() {
  const namesOf = ({ placeholders, required }) =>
    Object.keys(placeholders).map((name) => `\`{${name}}\`${required.includes(name) ? ' (required)' : ''}`);
  const meanings = Object.entries(Object.assign({}, ...[...textRules.values()].map((rules) => rules.placeholders)));
  // One section for the texts that have the same channels and placeholders, with one row for each text.
  const rows = new Map();
  for (const [kind, rules] of textRules) {
    const [channel, name] = kind.split('.');
    const row = `| \`${name}\` | ${rules.about} |`;
    const placeholders = namesOf(rules).join(', ');
    const key = `${row} ${placeholders}`;
    rows.set(key, { row, placeholders, channels: [...(rows.get(key)?.channels ?? []), `\`${channel}\``] });
  }
  const sections = new Map();
  for (const { row, placeholders, channels } of rows.values()) {
    const title = `Channels: ${channels.join(', ')}. Placeholders: ${placeholders}.`;
    sections.set(title, [...(sections.get(title) ?? []), row]);
  }
  const tables = [...sections].map(([title, each]) => `${title}\n\n| Name | When |\n|---|---|\n${each.join('\n')}`);
  return `# Templates

Postern has the texts of its codes and notices in English and Spanish. The user's \`locale\` selects the language: a user with
\`es-MX\` gets the text for \`es\`, and users of other languages the English one. For your own texts or more languages, put files
into a folder, and set \`TEMPLATES_DIR\` to it:

- The name of a file is \`<channel>.<name>.<language>.txt\`, such as \`sms.code.fr.txt\` or \`email.new_device.pt-br.txt\`. Its encoding
  is UTF-8. If a text has no file, Postern uses its own.
- A mail begins with the line \`Subject: …\` and an empty line. Postern makes its HTML from the text: an empty line begins a new
  paragraph, a line that begins with four spaces becomes a box (for a code), and lines such as \`Device: …\` become a table.
  \`APP_NAME\`, \`APP_LOGO\` and \`APP_COLOR\` are the head.
- A file may contain the placeholders of its text in braces, and no other braces.
- Postern reads all files at start. With an invalid file it reports all errors and does not start. \`postern doctor\` makes the same
  checks.

| Placeholder | Meaning |
|---|---|
${meanings.map(([name, meaning]) => `| \`{${name}}\` | ${meaning} |`).join('\n')}

## Kinds

The inbox shows a notice with the text of its push.

${tables.join('\n\n')}

The built-in texts are in [code-texts.ts](../src/messages/code-texts.ts) and [notice-texts.ts](../src/messages/notice-texts.ts). The push
of a notice is its SMS without the name of the service.

Generated from \`src/messages/\` by \`npm run generate\`.
`;
}

async function openApi() {
  const log = createLog('silent');
  // The routes are described, never called, so their services may be anything.
  const anything = new Proxy(() => undefined, { get: () => anything });
  const app = await buildServer({
    services: anything,
    log,
    version,
    publicUrl: undefined,
    corsOrigins: [],
    trustProxy: undefined,
    serves: {
      administration: true,
      console: { appName: 'Postern', publicUrl: undefined, files: { page: Buffer.alloc(0), assets: new Map() } },
      pages: {
        brand: { name: 'Postern', color: '#000000' },
        assets: new Map(['sign-in', 'account', 'link'].map((name) => [`page-${name}-.js`, {}])),
        publicUrl: 'https://auth.example.com',
      },
    },
  });
  const document = app.swagger();
  await app.close();
  // References take one line: they are a quarter of the document.
  const text = JSON.stringify(document, null, 2).replaceAll(/\{\n +("\$ref": "[^"\n]+")\n +\}/g, '{ $1 }');
  return `${text}\n`;
}
