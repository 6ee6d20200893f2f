import { type PinPolicy, pinRule } from '../credentials/pins/pin-check.js';
import type { Authenticator } from './authenticators/authenticator.js';
import type { WayIn } from './providers/link-step.js';

/**
 * The authenticators as ways to prove an account before an account at a provider is linked to it. These steps ask no PIN. So a
 * code is no such way for a user with a PIN: somebody who reads the mail of this user could link an account, and then log in
 * without the PIN.
 */
export function createWaysIn(authenticators: readonly Authenticator[], pinPolicy: PinPolicy): WayIn[] {
  return authenticators.flatMap((authenticator): WayIn[] => {
    const { name } = authenticator;
    const isOpenTo: WayIn['isOpenTo'] = async (user) => (await authenticator.findMissing?.(user)) === undefined;
    if (authenticator.steps === 1) {
      return [
        {
          ...{ name, isOpenTo },
          verify: (user, answer) => authenticator.verify(user, answer),
        },
      ];
    }
    if ('namesUser' in authenticator) {
      return [
        {
          ...{ name, isOpenTo },
          begin: (_user, authenticationId) => authenticator.begin(authenticationId, {}),
          async verify({ userId }, answer) {
            const identified = await authenticator.identify(answer);
            if (typeof identified !== 'object' || !('userId' in identified) || identified.userId !== userId)
              return false;
            return (await identified.consume?.()) !== false;
          },
        },
      ];
    }
    return [
      {
        name,
        isOpenTo: async (user) => pinRule(pinPolicy, user) !== 'own' && (await isOpenTo(user)),
        begin: (user, authenticationId) => authenticator.begin(user, authenticationId),
        verify: (user, answer) => authenticator.verify(answer, user),
      },
    ];
  });
}
