import { setImmediate } from 'node:timers/promises';
import type { UserToImport } from '../../contract/user-import.js';
import type { Database } from '../../database/database.js';
import { newId, nilId, parseId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { type FieldError, Problem } from '../../lib/problem.js';
import { parseTime } from '../../lib/times.js';
import { createTurnstile } from '../../lib/turnstile.js';
import { identityDigest } from '../identities/identity-digest.js';
import { noteSchemes, type SchemeRules } from '../secrets/password-schemes.js';
import { schemeOf, todaysScheme } from '../secrets/passwords.js';
import { createPins } from '../secrets/pins.js';
import { type Candidate, type Decision, planImport } from './import-plan.js';
import { findKnown, type ImportRow, insertImported } from './import-queries.js';
import type { UsersOptions } from './users.js';
import { checkNewUser, type ShownIdentity, wantedIdentities } from './validation.js';
import { newUserValues } from './values.js';

/** What became of one user: created or there already, under an id; or why not. `valid`: would be created. */
export type ImportOutcome =
  | { readonly result: 'created' | 'exists'; readonly id: string }
  | { readonly result: 'exists' }
  | { readonly result: 'valid' }
  | Problem;

export interface ImportRun {
  readonly origin: Origin;
  /** Nothing is made; the outcome is what it would be. */
  readonly dryRun: boolean;
  /** Whether the caller has the scope `admin`: for other roles than `user`, and for hashes with a new scheme. */
  readonly isAdmin: boolean;
}

/** Takes users over from another system, many at a time, each made or refused by itself. */
export interface UserImport {
  /**
   * Begins a run of any number of chunks; the users of a chunk are made in one transaction.
   * @returns imports a chunk, with the outcomes in its order: what was made is committed by then.
   * @throws Problem `overloaded`, `storage_unavailable`: then nothing of the chunk was made, as far as is known
   */
  begin(run: ImportRun): (users: readonly UserToImport[]) => Promise<ImportOutcome[]>;
}

export interface UserImportOptions extends Omit<UsersOptions, 'onRevoked'> {
  /** Passwords and PINs of users to import that are hashed at a time, beside what logins need. */
  readonly hashesAtATime: number;
}

/** A user of a chunk that nothing speaks against so far. */
interface Prepared {
  readonly candidate: Candidate;
  /** Hashes once, however often the chunk is tried. */
  readonly row: () => Promise<ImportRow>;
}

/** Each try is overtaken only by somebody else's commit. */
const mostTries = 10;
/** Users that are looked at together; between them requests have their turn. */
const checksAtATime = 20;

export function createUserImport(options: UserImportOptions): UserImport {
  const { database } = options;
  const hash = createTurnstile({ width: options.hashesAtATime, length: Number.POSITIVE_INFINITY });
  const hashers = { hasher: options.hasher, pins: createPins(options) };

  async function prepare(input: UserToImport, { isAdmin }: ImportRun): Promise<Prepared | Problem> {
    if (input.role !== undefined && input.role !== 'user' && !isAdmin) {
      return new Problem('insufficient_scope', { params: { scope: 'admin' } });
    }
    const { identities, faults } = await checkNewUser(input, options);
    const errors = [...faults, ...historyFaults(input)];
    if (errors.length > 0) return new Problem('validation_failed', { errors });
    const candidate = toCandidate(input, wantedIdentities(identities));
    let row: Promise<ImportRow> | undefined;
    return {
      candidate,
      row() {
        row ??= hash(async () => {
          const values = await newUserValues(hashers, candidate.id, input, identities);
          return { candidate, identities: wantedIdentities(identities), values };
        });
        return row;
      },
    };
  }

  return {
    begin(run) {
      /** Of a dry run the schemes that it would have noted. */
      const foreseen = new Set<string>();
      const rules = { costLimit: options.hashCostLimit, mayAdd: run.isAdmin };
      return async (users) => {
        const prepared: (Prepared | Problem)[] = [];
        for (let from = 0; from < users.length; from += checksAtATime) {
          const some = users.slice(from, from + checksAtATime);
          prepared.push(...(await Promise.all(some.map((input) => prepare(input, run)))));
          await setImmediate();
        }
        const good = prepared.flatMap((each) => (each instanceof Problem ? [] : each));
        const decided = run.dryRun
          ? await forecast(database, good, { foreseen, rules })
          : await importAll(database, good, { origin: run.origin, rules });
        const outcomes = new Map(good.map((each, index) => [each, decided[index]]));
        return prepared.flatMap((each) => (each instanceof Problem ? each : (outcomes.get(each) ?? [])));
      };
    },
  };
}

/** What is wrong with the members that only an import has. */
function historyFaults({ id, created_at: createdAt }: UserToImport): FieldError[] {
  const faults: FieldError[] = [];
  if (id !== undefined && parseId(id) === undefined) faults.push({ field: 'id', code: 'invalid_format' });
  if (id === nilId) faults.push({ field: 'id', code: 'reserved_id' });
  if (createdAt !== undefined && parseTime(createdAt) === undefined) {
    faults.push({ field: 'created_at', code: 'invalid_time' });
  }
  return faults;
}

function toCandidate(input: UserToImport, identities: readonly ShownIdentity[]): Candidate {
  const { id, created_at: createdAt } = input;
  const givenId = id === undefined ? undefined : parseId(id);
  return {
    id: givenId ?? newId(),
    hasGivenId: givenId !== undefined,
    identities: identities.map(({ identity }) => ({
      type: identity.type,
      digest: identityDigest(identity).toString('hex'),
    })),
    scheme: importedScheme(input),
    createdAt: createdAt === undefined ? undefined : parseTime(createdAt),
  };
}

function importedScheme({ password_hash: hash }: UserToImport): string | undefined {
  const scheme = hash === undefined ? todaysScheme : schemeOf(hash);
  return scheme === todaysScheme ? undefined : scheme;
}

async function forecast(
  database: Database,
  prepared: readonly Prepared[],
  { foreseen, rules }: { readonly foreseen: Set<string>; readonly rules: SchemeRules },
): Promise<ImportOutcome[]> {
  const candidates = prepared.map(({ candidate }) => candidate);
  const known = await findKnown(database, candidates);
  const schemes = new Set([...known.schemes, ...foreseen]);
  // Their ids are made for this answer alone: who asks would look for them in vain.
  const imagined = new Set(candidates.filter(({ hasGivenId }) => !hasGivenId).map(({ id }) => id));
  return planImport(candidates, { ...known, schemes }, rules).map((decision) => {
    if ('exists' in decision && imagined.has(decision.exists)) return { result: 'exists' };
    if (!('create' in decision)) return outcomeOf(decision);
    if (decision.create.scheme !== undefined) foreseen.add(decision.create.scheme);
    return { result: 'valid' };
  });
}

/** Decides by what is there, hashes, and writes. Who was overtaken meanwhile decides anew. */
async function importAll(
  database: Database,
  prepared: readonly Prepared[],
  run: { readonly origin: Origin; readonly rules: SchemeRules },
): Promise<ImportOutcome[]> {
  const candidates = prepared.map(({ candidate }) => candidate);
  for (let tries = 0; tries < mostTries; tries += 1) {
    const decisions = planImport(candidates, await findKnown(database, candidates), run.rules);
    const wanted = prepared.filter((_, index) => 'create' in (decisions[index] ?? {}));
    const rows = await Promise.all(wanted.map(({ row }) => row()));
    if (await write(database, rows, run)) return decisions.map(outcomeOf);
  }
  throw new Problem('overloaded', { retryAfter: 1 });
}

/** @returns false when somebody else was quicker with an identity, an id or a scheme: then nothing was written. */
async function write(
  database: Database,
  rows: readonly ImportRow[],
  { origin, rules }: { readonly origin: Origin; readonly rules: SchemeRules },
): Promise<boolean> {
  if (rows.length === 0) return true;
  const overtaken = new Error('overtaken');
  const schemes = rows.flatMap(({ candidate }) => candidate.scheme ?? []);
  try {
    await database.transaction(async (tx) => {
      if ((await noteSchemes(tx, schemes, rules)) !== undefined) throw overtaken;
      if (!(await insertImported(tx, rows, origin))) throw overtaken;
    });
    return true;
  } catch (error) {
    if (error === overtaken) return false;
    throw error;
  }
}

function outcomeOf(decision: Decision): ImportOutcome {
  if (decision instanceof Problem) return decision;
  return 'exists' in decision
    ? { result: 'exists', id: decision.exists }
    : { result: 'created', id: decision.create.id };
}
