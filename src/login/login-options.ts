import type { MessageChannel } from '../contract/administration.js';
import { identityTypes, type LoginOptions } from '../contract/authentication.js';
import type { PinPolicy } from '../credentials/pins/pin-check.js';
import { type Authenticator, identifiesUser } from './authenticators/authenticator.js';
import type { IdentityProvider } from './providers/provider.js';

/** What clients can offer before anybody logs in, from the configuration alone. */
export function loginOptions(parts: {
  readonly authenticators: readonly Authenticator[];
  readonly providers: readonly IdentityProvider[];
  /** Whether a browser may return from a provider to some address. */
  readonly hasRedirectUris: boolean;
  /** The channels with a provider. */
  readonly channels: readonly MessageChannel[];
  readonly pinPolicy: PinPolicy;
  readonly passwordMin: number;
  readonly registrationIsOn: boolean;
  readonly guestsAreOn: boolean;
}): LoginOptions {
  const { channels, pinPolicy } = parts;
  const addresses: LoginOptions['recovery']['identity_types'] = [];
  if (channels.includes('email')) addresses.push('email');
  if (channels.includes('sms')) addresses.push('phone');
  return {
    logins: parts.authenticators.map((authenticator) => {
      const provider = parts.providers.find((one) => one.authenticator === authenticator.name);
      return {
        authenticator: authenticator.name,
        steps: authenticator.steps,
        identity_types: identifiesUser(authenticator) ? [] : [...identityTypes],
        takes_pin: pinPolicy !== 'off' && !identifiesUser(authenticator),
        ...(provider && {
          title: provider.title,
          takes_redirect: provider.redirect !== undefined && parts.hasRedirectUris,
        }),
      };
    }),
    pin: { policy: pinPolicy, min_length: 4, max_length: 12 },
    password: { min_length: parts.passwordMin, max_length: 1024 },
    registration: { is_on: parts.registrationIsOn, identity_types: parts.registrationIsOn ? [...addresses] : [] },
    guests: { is_on: parts.guestsAreOn },
    recovery: { identity_types: addresses },
  };
}
