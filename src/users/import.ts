import { setImmediate } from 'node:timers/promises';
import type { PreferenceChanges } from '../contract/preferences.js';
import type { UserToImport } from '../contract/user-import.js';
import { registerSchemes, type SchemeRules } from '../credentials/password-schemes.js';
import { currentScheme, schemeToStore } from '../credentials/passwords.js';
import { createPins } from '../credentials/pins/pins.js';
import type { Database, Transaction } from '../database/database.js';
import { identityDigest } from '../identities/identity.js';
import { createConcurrencyLimiter } from '../lib/concurrency-limiter.js';
import { newId, nilId, parseId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { type FieldError, Problem } from '../lib/problem.js';
import { parseTime } from '../lib/times.js';
import { type ImportCandidate, type ImportDecision, planImport } from './import-plan.js';
import { findImportState, type ImportRow, insertImported } from './import-queries.js';
import type { UsersOptions } from './users.js';
import { checkNewUser, identitiesToSet, type SecretsFrom, type ShownIdentity } from './validation.js';
import { newUserValues } from './values.js';

/**
 * The result for one user: created or existing, with the id, or a refusal. In a dry run, `valid` means that the user
 * would be created.
 */
export type ImportOutcome =
  | { readonly result: 'created' | 'exists'; readonly id: string }
  | { readonly result: 'exists' }
  | { readonly result: 'valid' }
  | Problem;

export interface ImportRun extends SecretsFrom {
  readonly origin: Origin;
  /** Creates nothing; the results show what an import would do. */
  readonly dryRun: boolean;
  /** Whether the caller has the scope `admin`. Other roles than `user` and hashes with a new scheme need it. */
  readonly isAdmin: boolean;
}

/** Imports users from another system in bulk. Each user is created or refused independently. */
export interface UserImport {
  /**
   * Starts a run of any number of chunks. Each chunk is one transaction.
   * @returns a function that imports a chunk and returns the outcomes in its order, after the commit. It throws Problem
   *   `overloaded` or `storage_unavailable`; then nothing of the chunk was created, as far as the service knows.
   */
  begin(run: ImportRun): (users: readonly UserToImport[]) => Promise<ImportOutcome[]>;
}

/** What an import needs of the preferences of notifications. */
export interface ImportedPreferences {
  /** Reads categories that another instance may have just created, before the lines of a chunk are checked. */
  refreshFor(changes: readonly PreferenceChanges[]): Promise<void>;
  errorsOf(changes: PreferenceChanges): FieldError[];
  /** Stores what new users have chosen, in the transaction that creates them. */
  insert(
    tx: Transaction,
    users: readonly { readonly userId: string; readonly changes: PreferenceChanges }[],
  ): Promise<void>;
}

export interface UserImportOptions extends UsersOptions {
  readonly preferences: ImportedPreferences;
  /**
   * The maximum number of passwords and PINs that imports hash at the same time. Hashes of logins are not counted here.
   */
  readonly maxConcurrentHashes: number;
}

/** A user of a chunk in which no error was found so far. */
interface Prepared {
  readonly candidate: ImportCandidate;
  /** Hashes on the first call only, however often the chunk is retried. */
  readonly row: () => Promise<ImportRow>;
}

/** A retry happens only if another transaction commits a conflicting row between the decision and the write. */
const maxAttempts = 10;
/** The number of users to check before the event loop runs other requests. */
const checksPerTurn = 20;

/** Creates the import. All runs of a process share the limit of hashes. */
export function createUserImport(options: UserImportOptions): UserImport {
  const { database, preferences } = options;
  const limitHashes = createConcurrencyLimiter({
    concurrency: options.maxConcurrentHashes,
    maxWaiting: Number.POSITIVE_INFINITY,
  });
  const hashers = { hasher: options.hasher, pins: createPins(options) };

  async function prepare(input: UserToImport, { isAdmin, operator }: ImportRun): Promise<Prepared | Problem> {
    if (input.role !== undefined && input.role !== 'user' && !isAdmin) {
      return new Problem('insufficient_scope', { params: { scope: 'admin' } });
    }
    const newUser = await checkNewUser(input, options, { operator });
    const errors = [...newUser.errors, ...historyErrors(input), ...preferenceErrors(preferences, input)];
    if (errors.length > 0) return new Problem('validation_failed', { errors });
    const candidate = toCandidate(input, identitiesToSet(newUser.identities));
    let row: Promise<ImportRow> | undefined;
    return {
      candidate,
      row() {
        row ??= limitHashes(async () => {
          const values = await newUserValues(hashers, candidate.id, input, newUser.identities, {
            operator,
            client: null,
          });
          const identities = identitiesToSet(newUser.identities);
          return { candidate, identities, values, preferences: input.preferences };
        });
        return row;
      },
    };
  }

  return {
    begin(run) {
      /** The schemes that a dry run would have added so far. */
      const addedSchemes = new Set<string>();
      const rules = { costLimit: options.hashCostLimit, canAddSchemes: run.isAdmin };
      return async (users) => {
        await preferences.refreshFor(users.flatMap((user) => user.preferences ?? []));
        const prepared: (Prepared | Problem)[] = [];
        for (let from = 0; from < users.length; from += checksPerTurn) {
          const batch = users.slice(from, from + checksPerTurn);
          prepared.push(...(await Promise.all(batch.map((input) => prepare(input, run)))));
          await setImmediate();
        }
        const valid = prepared.flatMap((each) => (each instanceof Problem ? [] : each));
        const decided = run.dryRun
          ? await predictImport(database, valid, { addedSchemes, rules })
          : await importAll(database, valid, { origin: run.origin, rules, preferences });
        const outcomes = new Map(valid.map((each, index) => [each, decided[index]]));
        return prepared.flatMap((each) => (each instanceof Problem ? each : (outcomes.get(each) ?? [])));
      };
    },
  };
}

function preferenceErrors(preferences: ImportedPreferences, { preferences: changes }: UserToImport): FieldError[] {
  if (changes === undefined) return [];
  return preferences.errorsOf(changes).map((error) => ({ ...error, field: `preferences.${error.field}` }));
}

/** The errors of the members that only an import has. */
function historyErrors({ id, created_at: createdAt }: UserToImport): FieldError[] {
  const errors: FieldError[] = [];
  if (id !== undefined && parseId(id) === undefined) errors.push({ field: 'id', code: 'invalid_format' });
  if (id === nilId) errors.push({ field: 'id', code: 'reserved_id' });
  if (createdAt !== undefined && parseTime(createdAt) === undefined) {
    errors.push({ field: 'created_at', code: 'invalid_time' });
  }
  return errors;
}

function toCandidate(input: UserToImport, identities: readonly ShownIdentity[]): ImportCandidate {
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
  const scheme = hash === undefined ? currentScheme : schemeToStore(hash);
  return scheme === currentScheme ? undefined : scheme;
}

async function predictImport(
  database: Database,
  prepared: readonly Prepared[],
  { addedSchemes, rules }: { readonly addedSchemes: Set<string>; readonly rules: SchemeRules },
): Promise<ImportOutcome[]> {
  const candidates = prepared.map(({ candidate }) => candidate);
  const state = await findImportState(database, candidates);
  const schemes = new Set([...state.schemes, ...addedSchemes]);
  // A user can exist because of an earlier line. In a dry run, its new id names nobody, so the outcome must not show it.
  const temporaryIds = new Set(candidates.filter(({ hasGivenId }) => !hasGivenId).map(({ id }) => id));
  return planImport(candidates, { ...state, schemes }, rules).map((decision) => {
    if ('exists' in decision && temporaryIds.has(decision.exists)) return { result: 'exists' };
    if (!('create' in decision)) return outcomeOf(decision);
    if (decision.create.scheme !== undefined) addedSchemes.add(decision.create.scheme);
    return { result: 'valid' };
  });
}

interface ImportWrite {
  readonly origin: Origin;
  readonly rules: SchemeRules;
  readonly preferences: ImportedPreferences;
}

/** Decides, hashes and writes. Starts again if another transaction has written a conflicting row after the decision. */
async function importAll(
  database: Database,
  prepared: readonly Prepared[],
  run: ImportWrite,
): Promise<ImportOutcome[]> {
  const candidates = prepared.map(({ candidate }) => candidate);
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const decisions = planImport(candidates, await findImportState(database, candidates), run.rules);
    const rowsToCreate = prepared.filter((_, index) => 'create' in (decisions[index] ?? {}));
    const rows = await Promise.all(rowsToCreate.map(({ row }) => row()));
    if (await write(database, rows, run)) return decisions.map(outcomeOf);
  }
  throw new Problem('overloaded', { retryAfter: 1 });
}

/**
 * @returns false if, after the decision, another transaction has inserted an identity, an id or a scheme that
 *   conflicts: then nothing is written
 */
async function write(
  database: Database,
  rows: readonly ImportRow[],
  { origin, rules, preferences }: ImportWrite,
): Promise<boolean> {
  if (rows.length === 0) return true;
  const conflict = new Error('conflict');
  const schemes = rows.flatMap(({ candidate }) => candidate.scheme ?? []);
  try {
    await database.transaction(async (tx) => {
      if ((await registerSchemes(tx, schemes, rules)) !== undefined) throw conflict;
      if (!(await insertImported(tx, rows, origin))) throw conflict;
      const chosen = rows.flatMap(({ candidate, preferences: changes }) =>
        changes === undefined ? [] : { userId: candidate.id, changes },
      );
      if (chosen.length > 0) await preferences.insert(tx, chosen);
    });
    return true;
  } catch (error) {
    if (error === conflict) return false;
    throw error;
  }
}

function outcomeOf(decision: ImportDecision): ImportOutcome {
  if (decision instanceof Problem) return decision;
  return 'exists' in decision
    ? { result: 'exists', id: decision.exists }
    : { result: 'created', id: decision.create.id };
}
