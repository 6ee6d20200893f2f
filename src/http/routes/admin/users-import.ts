import type { UserImport } from '../../../authentication/users/import.js';
import { ImportedLine, UserToImport } from '../../../contract/user-import.js';
import { preferredLanguage } from '../../../lib/language.js';
import type { Pacer } from '../../../lib/pacing.js';
import { Problem } from '../../../lib/problem.js';
import { dryRunQuery, readDryRun } from '../../dry-run.js';
import { importChunk, importEntries, importWeight } from '../../import-lines.js';
import { createLineHandler } from '../../line-conversation.js';
import { isNdjson } from '../../plugins/ndjson-body.js';
import { type App, callerOf, demandFreshness, originOf } from '../../route.js';

const importedLines = {
  description: 'The results, one a line, as their chunk is committed. Read them while you send.',
  content: { 'application/x-ndjson': { schema: ImportedLine } },
};

/** Taking users over from another system. */
export function adminUserImportRoutes(app: App, { userImport, pacer }: { userImport: UserImport; pacer: Pacer }): void {
  const importLines = createLineHandler<UserToImport>(app, pacer, (request, { dryRun }) => {
    const { scopes } = callerOf(request);
    const run = { origin: originOf(request), dryRun, isAdmin: scopes.includes('admin') };
    const importUsers = userImport.begin(run);
    const language = preferredLanguage(request.headers['accept-language']);
    return {
      chunk: importChunk,
      make: (input) => input as UserToImport,
      weightOf: importWeight,
      settle(entries, pace) {
        demandFreshness(callerOf(request));
        return importEntries(entries, importUsers, language, pace);
      },
    };
  });
  app.route({
    method: 'POST',
    url: '/admin/v1/users/import',
    schema: {
      operationId: 'importUsers',
      summary: 'Import users',
      description:
        'Any number of users, one a line, each created or refused by itself, with a line of result for each. Sending the same again creates nothing twice.',
      tags: ['Administration'],
      querystring: dryRunQuery('Check every line, but create nothing.'),
      response: { 200: importedLines },
    },
    config: {
      access: { scope: 'users:write' },
      ndjson: UserToImport,
      checkQuery: readDryRun,
      problems: ['fresh_proof_required'],
    },
    preValidation: async (request, reply) => {
      if (!isNdjson(request)) throw new Problem('unsupported_media_type');
      // Among its lines may be roles, and hashes of passwords.
      demandFreshness(callerOf(request));
      await importLines(request, reply);
    },
    handler: () => Promise.reject(new Error('lines are answered before they get here')),
  });
}
