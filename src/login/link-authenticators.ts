import { type PinPolicy, pinRule } from '../credentials/pins/pin-check.js';
import type { Authenticator } from './authenticators/authenticator.js';
import type { LinkAuthenticator } from './providers/link-step.js';

/**
 * The authenticators with which a person proves an account before an account at a provider is linked to it. This step asks no PIN,
 * so it accepts no code if the user has a PIN: otherwise somebody who reads the mail of this user could link an account, and then
 * log in without the PIN.
 */
export function createLinkAuthenticators(
  authenticators: readonly Authenticator[],
  pinPolicy: PinPolicy,
): LinkAuthenticator[] {
  return authenticators.flatMap((authenticator): LinkAuthenticator[] => {
    const { name } = authenticator;
    const isOpenTo: LinkAuthenticator['isOpenTo'] = async (user) =>
      (await authenticator.findMissing?.(user)) === undefined;
    if (authenticator.steps === 1) {
      return [
        {
          name,
          isOpenTo,
          verify: (user, answer) => authenticator.verify(user, answer),
        },
      ];
    }
    if ('namesUser' in authenticator) {
      return [
        {
          name,
          isOpenTo,
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
