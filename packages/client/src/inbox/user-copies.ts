import type { Core } from '../core.js';
import { SignedOutError } from '../errors.js';
import type { Postern } from '../types.js';
import type { CopyStore } from './copy-store.js';

/** The users of this browser who have copies, as JSON. */
const ownersKey = 'postern.copies';

export const eraseCopy = (store: CopyStore) => store.apply({ clear: true, put: [], remove: [], after: null });

/** The copies of the users of this browser. The next user of the device must not find the copies of others, so they are erased. */
export function createUserCopies(postern: Postern, core: Core, storeOf: (userId: string) => CopyStore) {
  const stores = new Map<string, CopyStore>();
  const storeFor = (user: string): CopyStore => {
    const store = stores.get(user) ?? storeOf(user);
    stores.set(user, store);
    return store;
  };
  const currentUser = () => ('user_id' in postern.current ? postern.current.user_id : undefined);

  const readOwners = async (): Promise<readonly string[]> => JSON.parse((await core.marks.get(ownersKey)) ?? '[]');
  const writeOwners = (owners: readonly string[]) => core.marks.set(ownersKey, JSON.stringify(owners));

  /** Copies are erased, and the list of users is changed, one after the other. */
  let pending: Promise<unknown> = Promise.resolve();
  function inOrder(work: () => Promise<void>): Promise<unknown> {
    pending = pending.then(work).catch(core.onError);
    return pending;
  }
  const eraseOthers = (former?: string) =>
    inOrder(async () => {
      for (const owner of new Set([...(await readOwners()), ...(former === undefined ? [] : [former])])) {
        if (owner === currentUser()) continue;
        await eraseCopy(storeFor(owner));
        await writeOwners((await readOwners()).filter((other) => other !== owner));
      }
    });
  postern.onChange(({ status }, previous) => {
    if (status !== 'starting') void eraseOthers('user_id' in previous ? previous.user_id : undefined);
  });
  if (postern.current.status !== 'starting') void eraseOthers();

  return {
    /** The copy of the user who is signed in. @throws SignedOutError */
    async current(): Promise<CopyStore> {
      await postern.ready();
      for (let wait: unknown; wait !== pending; ) {
        wait = pending;
        await pending;
      }
      const user = currentUser();
      if (user === undefined) throw new SignedOutError();
      return storeFor(user);
    },
    isCurrent: (store: CopyStore) => stores.get(currentUser() ?? '') === store,
    /** Notes that this user has a copy, before something is written to it. */
    remember: () =>
      inOrder(async () => {
        const user = currentUser();
        const owners = await readOwners();
        if (user !== undefined && !owners.includes(user)) await writeOwners([...owners, user]);
      }),
  };
}
