import type { ChallengeAnswer } from '../credentials/challenge.js';
import type { HashClient, PasswordHasher } from '../credentials/passwords.js';
import type { AccountUser } from '../identities/accounts.js';
import { Problem, throwIfErrors } from '../lib/problem.js';
import type { PreparedChange, Users } from '../users/users.js';
import { lockUnchanged, type StepCheck } from './step-check.js';

export interface NewPasswordStepOptions {
  readonly hasher: PasswordHasher;
  readonly users: Pick<Users, 'prepareChange' | 'change'>;
}

/** Creates the check of the step in which a user sets another password. It throws if the password is refused. */
export function createNewPasswordCheck({ hasher, users }: NewPasswordStepOptions) {
  return async (user: AccountUser, { secret, origin }: ChallengeAnswer): Promise<StepCheck> => {
    if (await hasher.verify(user.passwordHash, secret, origin)) {
      throwIfErrors([{ field: 'secret', code: 'password_unchanged' }]);
    }
    const prepared = await prepareNewPassword(users, user.userId, secret, origin);
    return {
      isRight: true,
      async effect(tx) {
        if (!(await lockUnchanged(tx, user, ({ mustChangePassword }) => mustChangePassword))) return undefined;
        await users.change(tx, user.userId, prepared, origin);
        return { hasNewEpoch: true };
      },
    };
  };
}

/** The field of the answer is `secret`, not `password`. */
async function prepareNewPassword(
  users: NewPasswordStepOptions['users'],
  userId: string,
  password: string,
  client: HashClient,
): Promise<PreparedChange> {
  try {
    return await users.prepareChange(userId, { password }, { client });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'validation_failed') throw error;
    const errors = error.options.errors?.map((one) => ({ ...one, field: 'secret' })) ?? [];
    throw new Problem('validation_failed', { ...error.options, errors });
  }
}
