import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { recordServiceEvent } from '../audit/events.js';
import type { IssuedSetUpLink, SetUpRole } from '../contract/console/set-up.js';
import { isNotAhead } from '../database/clock.js';
import type { Database, Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { sha256 } from '../lib/crypto/digests.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { writePrivateFile } from '../lib/private-file.js';
import { Problem } from '../lib/problem.js';

/**
 * Set-up links: a person with such a link creates the user of an operator or of a member of the support staff in the
 * console. Only the transaction that creates the user marks the link as used, so an interrupted set-up can be repeated
 * (decision 17).
 */

/** A new link. Its secret is shown once. */
export interface NewSetUpLink {
  readonly secret: string;
  readonly expires_at: string;
}

/** A link that can be used. */
export interface OpenSetUpLink {
  readonly id: string;
  readonly role: SetUpRole;
  readonly expires_at: string;
}

/** 256 random bits cannot be guessed, so a fast digest is enough and guesses are not counted. */
const secretBytes = 32;

const insertLink = statement<{ id: string; digest: Buffer; role: SetUpRole }, { expires_at: string }>(
  'setup_link_insert',
  (p) => sql`
    insert into setup_links (id, digest, role, created_at, expires_at)
    select ${p.id}, ${p.digest}, ${p.role}, now, now + interval '30 minutes' from (select db_now() as now) clock
    returning expires_at`,
);

/** Creates a link for one new user with this role. It is valid for 30 minutes. */
export async function createSetUpLink(tx: Queryable, role: SetUpRole, origin: Origin): Promise<NewSetUpLink> {
  const id = newId();
  const secret = `psu_${randomBytes(secretBytes).toString('base64url')}`;
  const [link] = await tx.query(insertLink({ id, digest: sha256(secret), role }));
  if (link === undefined) throw new Error('an insert returned no row');
  await recordServiceEvent(tx, { type: 'setup_link.created', origin, data: { role, link_id: id } });
  return { secret, expires_at: link.expires_at };
}

/** Set-up links that the admin API creates. */
export interface SetUpLinks {
  /** @throws Problem `not_found` if there is no console */
  create(role: SetUpRole, origin: Origin): Promise<IssuedSetUpLink>;
}

/** @param consoleUrl returns the URL of the console; undefined: there is no console */
export function createSetUpLinks(database: Database, consoleUrl: (() => string) | undefined): SetUpLinks {
  return {
    async create(role, origin) {
      if (consoleUrl === undefined) throw new Problem('not_found');
      const link = await database.transaction((tx) => createSetUpLink(tx, role, origin));
      return { role, url: setUpUrl(consoleUrl(), link), expires_at: link.expires_at };
    },
  };
}

/** The URL of a link. The secret is in the fragment, which browsers do not send to a server. */
export function setUpUrl(consoleUrl: string, { secret }: Pick<NewSetUpLink, 'secret'>): string {
  return `${consoleUrl}/setup#${secret}`;
}

interface LinkRow extends OpenSetUpLink {
  readonly is_used: boolean;
  readonly is_current: boolean;
}

const findLink = statement<{ digest: Buffer }, LinkRow>(
  'setup_link_find',
  (p) => sql`
    select id, role, expires_at, used_at is not null as is_used,
           (expires_at > db_now() and ${isNotAhead(sql`created_at`)}) as is_current
    from setup_links where digest = ${p.digest}`,
);

/**
 * Finds a link by its secret. The link stays valid.
 * @throws Problem `setup_link_unknown`, `setup_link_used`, `setup_link_expired`
 */
export async function readSetUpLink(handle: Queryable, secret: string): Promise<OpenSetUpLink> {
  const [link] = await handle.query(findLink({ digest: sha256(secret) }));
  if (link === undefined) throw new Problem('setup_link_unknown');
  if (link.is_used) throw new Problem('setup_link_used');
  if (!link.is_current) throw new Problem('setup_link_expired');
  const { id, role, expires_at } = link;
  return { id, role, expires_at };
}

const useLink = statement<{ digest: Buffer; userId: string }, { id: string; role: SetUpRole }>(
  'setup_link_use',
  (p) => sql`
    update setup_links set used_at = db_now(), user_id = ${p.userId}
    where digest = ${p.digest} and used_at is null and expires_at > db_now() and ${isNotAhead(sql`created_at`)}
    returning id, role`,
);

/**
 * Uses a link, in the transaction that creates the user. The update locks the row, so only one of several parallel uses
 * succeeds.
 * @throws Problem as `readSetUpLink`
 */
export async function useSetUpLink(
  tx: Queryable,
  secret: string,
  userId: string,
): Promise<{ readonly id: string; readonly role: SetUpRole }> {
  const [usedLink] = await tx.query(useLink({ digest: sha256(secret), userId }));
  if (usedLink !== undefined) return usedLink;
  await readSetUpLink(tx, secret);
  throw new Problem('setup_link_expired');
}

const anyOperator = statement<object, { exists: boolean }>(
  'operator_any',
  () => sql`
    select exists (select 1 from users where role = 'operator' and role_active_since is not null) as exists`,
);

/** A set-up link to print, or the file that holds it. */
export type OfferedSetUpLink = { readonly url: string } | { readonly file: string };

/** The file in DATA_DIR that holds the link of a start without a terminal. */
export const setupLinkFile = 'setup-link';

/**
 * Creates a link for an operator if there is no operator yet. Without a terminal, the link goes into a file in DATA_DIR
 * that only its owner can read, and replaces the link of the last start there.
 */
export async function offerSetUpLink(options: {
  readonly database: Database;
  readonly dataDir: string;
  /** Whether a person reads the output. */
  readonly isTerminal: boolean;
  readonly consoleUrl: string;
}): Promise<OfferedSetUpLink | undefined> {
  const { database, dataDir, isTerminal, consoleUrl } = options;
  const [row] = await database.query(anyOperator({}));
  if (row?.exists === true) return undefined;
  const file = join(dataDir, setupLinkFile);
  const url = await database.transaction(async (tx) => {
    const link = setUpUrl(consoleUrl, await createSetUpLink(tx, 'operator', { actor: 'system' }));
    if (!isTerminal) await writePrivateFile(file, `${link}\n`, { replace: true });
    return link;
  });
  return isTerminal ? { url } : { file };
}
