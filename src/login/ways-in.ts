import type { Authenticator } from './authenticators/authenticator.js';
import type { WayIn } from './providers/sign-up.js';

/** The authenticators as ways to prove an account before an account at a provider is linked to it. */
export function createWaysIn(authenticators: readonly Authenticator[]): WayIn[] {
  return authenticators.flatMap((authenticator): WayIn[] => {
    const { name } = authenticator;
    const isOpenTo: WayIn['isOpenTo'] = async (user) => (await authenticator.findMissing?.(user)) === undefined;
    if (authenticator.steps === 1) {
      return [
        {
          ...{ name, isOpenTo },
          verify: (user, { secret, authenticationId }) => authenticator.verify(user, secret, authenticationId),
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
        ...{ name, isOpenTo },
        begin: (user, authenticationId) => authenticator.begin(user, authenticationId),
        verify: (user, answer) => authenticator.verify(answer, user),
      },
    ];
  });
}
