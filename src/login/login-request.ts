import type { TokenRequest } from '../contract/authentication.js';
import type { AuthenticationErrorCode } from '../contract/errors/authentications.js';
import { canonicalApnsToken, canonicalFcmToken } from '../devices/push-tokens.js';
import { canonicalIdentity, type Identity } from '../identities/identity.js';
import { readClientKey } from '../lib/crypto/client-key.js';
import { newId, parseId } from '../lib/ids.js';
import { choiceError, type FieldError, Problem, type ProblemOptions, throwIfErrors } from '../lib/problem.js';
import type { NewAuthentication } from './authentications.js';
import {
  type Authenticator,
  identifiesUser,
  type SingleStep,
  type TwoStep,
  type UserIdentifying,
} from './authenticators/authenticator.js';
import { addressTypeOf } from './authenticators/code.js';
import { requireListed } from './providers/redirect-uris.js';

/** A parsed login request, validated as far as possible without the database. */
export type CheckedRequest = Pick<NewAuthentication, 'device' | 'keyThumbprint'> &
  (
    | {
        readonly authenticator: SingleStep | TwoStep;
        readonly identity: Identity;
        /** Whether the right code makes an account, if nobody has the address. */
        readonly signsUp: boolean;
      }
    | { readonly authenticator: UserIdentifying; readonly identity: undefined }
  );

/** What the configuration says about login requests. */
export interface RequestRules {
  readonly defaultRegion: string | undefined;
  /** Whether people can create accounts themselves. */
  readonly registrationIsOn: boolean;
  readonly loginLink: {
    /** LOGIN_LINK. */
    readonly isOn: boolean;
    /** REDIRECT_URIS. */
    readonly redirectUris: readonly string[];
  };
}

/** @throws Problem `validation_failed` with all errors; `redirect_not_allowed` */
export function checkRequest(
  request: TokenRequest,
  authenticators: ReadonlyMap<string, Authenticator>,
  { defaultRegion, registrationIsOn, loginLink }: RequestRules,
): CheckedRequest {
  const authenticator = authenticators.get(request.authenticator);
  const errors: FieldError[] = [];
  const signsUp = request.sign_up === true;
  if (signsUp) errors.push(...signUpErrors(request, registrationIsOn));
  if (request.link_to !== undefined) errors.push(...linkErrors(request, loginLink));
  for (const field of ['prompt', 'max_age'] as const) {
    if (request[field] !== undefined && request.authenticator !== 'page') errors.push({ field, code: 'not_supported' });
  }
  const described = { device: describeDevice(request.device), keyThumbprint: readKey(request.device, errors) };
  if (authenticator !== undefined && identifiesUser(authenticator)) {
    throwIfErrors(errors);
    return { authenticator, identity: undefined, ...described };
  }
  if (authenticator === undefined) {
    const allowed = [...authenticators.keys()].join(', ');
    errors.push({ field: 'authenticator', code: 'unknown_authenticator', params: { allowed } });
  }
  if (authenticator?.steps === 1 && request.secret === undefined) errors.push({ field: 'secret', code: 'required' });
  const identity = readIdentity(request, defaultRegion, errors);
  throwIfErrors(errors);
  if (request.link_to !== undefined) requireListed(loginLink.redirectUris, 'link_to', request.link_to);
  if (authenticator === undefined || identity === undefined) throw new Error('unreachable: the error was thrown above');
  return { authenticator, identity, signsUp, ...described };
}

function linkErrors({ authenticator }: TokenRequest, { isOn }: RequestRules['loginLink']): FieldError[] {
  if (!isOn) return [{ field: 'link_to', code: 'login_link_off' }];
  return authenticator === 'email' ? [] : [{ field: 'link_to', code: 'not_supported' }];
}

/** The errors of a request to sign up. They do not depend on whether the address has an account. */
function signUpErrors({ authenticator, identity }: TokenRequest, registrationIsOn: boolean): FieldError[] {
  if (!registrationIsOn) return [{ field: 'sign_up', code: 'registration_off' }];
  if (authenticator !== 'sms' && authenticator !== 'email') return [{ field: 'sign_up', code: 'not_supported' }];
  const allowed = addressTypeOf(authenticator);
  return identity === undefined || identity.type === allowed ? [] : [choiceError('identity.type', [allowed])];
}

function readIdentity(
  { identity: requested }: TokenRequest,
  defaultRegion: string | undefined,
  errors: FieldError[],
): Identity | undefined {
  if (requested === undefined) {
    errors.push({ field: 'identity', code: 'required' });
    return undefined;
  }
  const { type, value } = requested;
  const identity = canonicalIdentity(type, value, defaultRegion);
  if (identity === undefined) errors.push({ field: 'identity.value', code: 'invalid_identity', params: { type } });
  return identity;
}

/** The thumbprint of the key that the token will be bound to. */
export function readKey({ jwk }: TokenRequest['device'], errors: FieldError[]): string | undefined {
  if (jwk === undefined) return undefined;
  const thumbprint = readClientKey(jwk)?.thumbprint;
  if (thumbprint === undefined) errors.push({ field: 'device.jwk', code: 'invalid_key' });
  return thumbprint;
}

/** The known members of the client's device that have a value. A missing id is created. */
export function describeDevice(device: TokenRequest['device']): NewAuthentication['device'] {
  const { id: givenId, make, model, os_name, os_version, sdk_version, apn_device_token, gcm_device_token } = device;
  const { screen_width, screen_height } = device;
  const id = (givenId == null ? undefined : parseId(givenId)) ?? newId();
  const members = {
    make,
    model,
    os_name,
    os_version,
    sdk_version,
    apn_device_token: apn_device_token == null ? apn_device_token : canonicalApnsToken(apn_device_token),
    gcm_device_token: gcm_device_token == null ? gcm_device_token : canonicalFcmToken(gcm_device_token),
    screen_width,
    screen_height,
  };
  return { id, ...Object.fromEntries(Object.entries(members).filter(([, value]) => value != null)) };
}

/**
 * Refuses a wrong, expired, used-up or unknown authentication. The response is the same in all cases, so that it does
 * not show the reason.
 */
export function rejection(
  id: string,
  options: Pick<ProblemOptions, 'errors'> = {},
  errorCode: AuthenticationErrorCode = 'authorization_rejected',
): Problem {
  return new Problem('authorization_rejected', {
    ...options,
    members: { authentication: { id: parseId(id) ?? id, status: 'rejected', error_code: errorCode } },
  });
}
