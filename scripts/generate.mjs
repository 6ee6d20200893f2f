// Writes the generated documents, or with --check says which of them no longer match the code.
import { readFile, writeFile } from 'node:fs/promises';
import { textRules } from '../dist/authentication/messages/kinds.js';
import { builtInTexts } from '../dist/authentication/messages/templates.js';
import { settings } from '../dist/config.js';
import { authenticationErrors, errors, fieldErrors } from '../dist/contract/errors.js';
import { buildServer } from '../dist/http/server.js';
import { createLog } from '../dist/log.js';
import { version } from '../dist/version.js';

const documents = {
  'docs/errors.md': errorsPage(),
  'docs/configuration.md': configurationPage(),
  'docs/templates.md': templatesPage(),
  'docs/openapi.json': await openApi(),
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

function errorsPage() {
  const rows = Object.entries(errors).map(
    ([code, { status, message, remedy }]) => `| ${status} | \`${code}\` | ${message.en} | ${remedy} |`,
  );
  const texts = (catalogue) => Object.entries(catalogue).map(([code, message]) => `| \`${code}\` | ${message.en} |`);
  return `# Errors

Generated from \`src/contract/errors.ts\` by \`npm run generate\`.

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

\`errors\` always has an entry, so a program can look at \`errors[0].code\`. Codes are stable; messages are for people and
follow \`Accept-Language\` (English, Spanish). A part in square brackets appears only when its value is known. \`request_id\` is in the log and in the \`Request-ID\` header.

## Problems

| Status | Code | Message | When, and what to do |
|---|---|---|---|
${rows.join('\n')}

401 carries \`WWW-Authenticate\`, 405 \`Allow\`; 409 of a request in progress, 423, 429 and 503 carry \`Retry-After\` in whole seconds.

## Faults of a field

The codes in \`errors[]\` of a \`validation_failed\` problem; \`field\` says where, such as \`identity.type\` or \`0.user_id\`.
A \`malformed_request\` has an entry with a \`field\` when a header is wrong: the field names the header.

| Code | Message |
|---|---|
${texts(fieldErrors).join('\n')}

## Codes of an authentication

What an authentication object carries in \`error_code\`; the empty string when there is no error.

| Code | Message |
|---|---|
${texts(authenticationErrors).join('\n')}
`;
}

function configurationPage() {
  const rows = Object.entries(settings).map(
    ([name, { fallback, about }]) => `| \`${name}\` | ${fallback === undefined ? '' : `\`${fallback}\``} | ${about} |`,
  );
  return `# Configuration

Generated from \`src/config.ts\` by \`npm run generate\`.

Postern reads environment variables, and a \`.env\` file in its working directory for those that are not set. All are
checked at start and every fault is named at once. A variable that starts with \`POSTERN_\` is an error: none does.

| Variable | Default | Meaning |
|---|---|---|
${rows.join('\n')}

Durations are a number and a unit: \`500ms\`, \`30s\`, \`15m\`, \`1h\`, \`365d\`. An empty value counts as unset.
`;
}

function templatesPage() {
  const names = (placeholders, required) =>
    Object.keys(placeholders).map((name) => `\`{${name}}\`${required.includes(name) ? ' (needed)' : ''}`);
  const rows = [...textRules].map(
    ([kind, { about, placeholders, required }]) =>
      `| \`${kind}\` | ${about} | ${names(placeholders, required).join(', ')} |`,
  );
  const meanings = Object.entries(Object.assign({}, ...[...textRules.values()].map((rules) => rules.placeholders)));
  const texts = [...builtInTexts()].map(
    ([kind, byLanguage]) => `### ${kind}\n\n\`\`\`text\n${byLanguage.get('en')}\n\`\`\`\n`,
  );
  return `# Templates

Generated from \`src/authentication/messages/\` by \`npm run generate\`.

What codes and notices say, by SMS, by mail and by push. Postern brings every text in English and Spanish and takes the
one of the user's \`locale\`: \`es-MX\` finds \`es\`, and where there is no text in a language it is the English one.

To say it in your own words, or in more languages, put files into a folder and name it in \`TEMPLATES_DIR\`:

- A file is called \`<kind>.<language>.txt\`, such as \`sms.code.fr.txt\` or \`email.new_device.pt-br.txt\`, and is UTF-8.
  What is not there is taken from the texts below.
- A file of a mail begins with the line \`Subject: …\`, then comes an empty line, then the text.
- A text may hold the placeholders of its kind, in braces, and no other braces. A device or network that is not known is
  called unknown.
- All files are read at start. What cannot be used is named, all at once, and keeps the service from starting;
  \`postern doctor\` says the same beforehand.

| Placeholder | Stands for |
|---|---|
${meanings.map(([name, meaning]) => `| \`{${name}}\` | ${meaning} |`).join('\n')}

## Kinds

The text of \`push.…\` is also what the inbox shows, where notices are put there (\`NOTICES\`).

| Kind | When | Placeholders |
|---|---|---|
${rows.join('\n')}

## The English texts

${texts.join('\n')}`;
}

async function openApi() {
  const log = createLog('silent');
  // The routes are only described, never called: anything does for their services.
  const anything = new Proxy(() => undefined, { get: () => anything });
  const app = await buildServer({
    services: anything,
    log,
    version,
    publicUrl: undefined,
    corsOrigins: [],
    trustProxy: undefined,
  });
  const document = app.swagger();
  await app.close();
  return `${JSON.stringify(document, null, 2)}\n`;
}
