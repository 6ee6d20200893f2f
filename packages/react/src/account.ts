import { type AccountClient, type AccountDetails, createAccount } from '@postern/client';
import { useMemo } from 'react';
import { usePostern } from './context.js';
import { useProver } from './proofs.js';
import {
  type Definition,
  type MaySuspend,
  type Query,
  type ReadyQuery,
  type Source,
  type Suspending,
  useQuery,
} from './query.js';
import { findCreated } from './shared.js';

const account: Definition<AccountDetails> = {
  name: 'account',
  createRead: (postern) => () => createAccount(postern).get(),
  fromSnapshot: (snapshot) => snapshot.account,
};

/** The methods that change the account. After each change, `data` is read again. */
export interface AccountActions {
  /** Asks for proofs through the nearest `ProofProvider`. */
  readonly client: AccountClient<true>;
}

type Method = (...args: never[]) => Promise<unknown>;
/** Methods that do not change `data`. */
const readMethods = [
  'get',
  'listPasskeys',
  'listIdentities',
  'activity',
  'export',
  'proofChoices',
  'resumeProof',
  'deleteAccount',
];

const isPending = (result: unknown): result is { readonly confirm: Method } =>
  typeof result === 'object' && result !== null && 'confirm' in result;

/** A client that calls `after` when a change is complete. */
function withCallback(client: AccountClient<true>, after: () => void): AccountClient<true> {
  const wrap =
    (method: Method): Method =>
    async (...args) => {
      const result = await method(...args);
      if (isPending(result)) return { ...result, confirm: wrap(result.confirm) };
      after();
      return result;
    };
  const methods: readonly [string, Method][] = Object.entries(client);
  const changes = methods.filter(([name]) => !readMethods.includes(name));
  return Object.assign({ ...client }, Object.fromEntries(changes.map(([name, method]) => [name, wrap(method)])));
}

/**
 * The account of the user, and what changes it. Changes that need a proof ask for it through the nearest `ProofProvider`.
 *
 * @example
 * ```tsx
 * import { useAccount } from '@postern/react';
 *
 * export function Profile() {
 *   const { status, data, error, client } = useAccount();
 *   if (status !== 'ready') return <p>{error?.message ?? 'One moment…'}</p>;
 *   const rename = (form: FormData) => client.update({ name: `${form.get('name')}` });
 *   return (
 *     <form action={async (form) => void (await rename(form))}>
 *       <input name="name" defaultValue={data.name} />
 *       <button>Save</button>
 *     </form>
 *   );
 * }
 * ```
 * @throws UsageError without a provider
 */
export function useAccount(options: Suspending): ReadyQuery<AccountDetails> & AccountActions;
export function useAccount(options?: MaySuspend): Query<AccountDetails> & AccountActions;
export function useAccount(options?: MaySuspend): Query<AccountDetails> & AccountActions {
  const postern = usePostern();
  const prove = useProver();
  const { query, source } = useQuery(account, options);
  const client = useMemo(
    () =>
      withCallback(createAccount(postern, { prove }), () => {
        void source().reload();
        void findCreated<Source<unknown>>(postern, 'passkeys')?.reload();
      }),
    [postern, prove, source],
  );
  return useMemo(() => ({ ...query, client }), [query, client]);
}
