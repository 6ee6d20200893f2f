import { ImportedLine, UserToImport } from '../../../../contract/user-import.js';
import { preferredLanguage } from '../../../../lib/language.js';
import type { Pacer } from '../../../../lib/pacing.js';
import { Problem } from '../../../../lib/problem.js';
import type { UserImport } from '../../../../users/import.js';
import { createNdjsonHandler } from '../../../ndjson/exchange.js';
import { importChunk, importEntries, importWeight, withoutNulls } from '../../../ndjson/import-items.js';
import { isNdjson } from '../../../plugins/ndjson-body.js';
import { dryRunQuery, readDryRun } from '../../../requests/parameters.js';
import { type App, callerOf, originOf, secretsFrom } from '../../../requests/route.js';

const importedLines = {
  description: 'One result per line, sent when its transaction has committed. Read the results while you send.',
  content: { 'application/x-ndjson': { schema: ImportedLine } },
};

/** A route that imports users from another system. */
export function adminUserImportRoutes(app: App, { userImport, pacer }: { userImport: UserImport; pacer: Pacer }): void {
  const importLines = createNdjsonHandler<UserToImport>(app, pacer, (request, { dryRun }) => {
    const caller = callerOf(request);
    const isAdmin = caller.scopes.includes('admin');
    const run = { origin: originOf(request), dryRun, isAdmin, ...secretsFrom(caller) };
    const importUsers = userImport.begin(run);
    const language = preferredLanguage(request.headers['accept-language']);
    return {
      chunk: importChunk,
      checkWith: withoutNulls,
      toItem: (input) => input as UserToImport,
      weightOf: importWeight,
      process: (entries, pace) => importEntries(entries, importUsers, language, pace),
    };
  });
  app.route({
    method: 'POST',
    url: '/admin/v1/users/import',
    schema: {
      operationId: 'importUsers',
      summary: 'Import users',
      description:
        'Any number of users, one per line. Each user is created or refused separately and gets a result line. A repeated import creates no user twice. With a session, each password of the import is for one use, as if the line said must_change, and a line with a PIN fails: only the user chooses it. Hashes stay as they are: nobody reads a password from them.',
      querystring: dryRunQuery('Check every line, but create nothing.'),
      response: { 200: importedLines },
    },
    config: {
      access: { scope: 'users:write' },
      ndjson: UserToImport,
      checkQuery: readDryRun,
      // An import can contain roles and password hashes.
      recentProof: 'needed',
    },
    preValidation: async (request, reply) => {
      if (!isNdjson(request)) throw new Problem('unsupported_media_type');
      await importLines(request, reply);
    },
    handler: () => Promise.reject(new Error('preValidation answers every request')),
  });
}
