import type { MessageChannel } from '../contract/administration.js';
import type { Identity } from '../identities/identity.js';
import type { Origin } from '../lib/origin.js';

/** What a two-step authenticator stores between its steps: JSON, never the secret itself. */
export type ChallengeState = Readonly<Record<string, string>>;

export interface Challenge {
  /** Stored until the answer arrives. */
  readonly state: ChallengeState;
  /** Seconds until an answer is no longer accepted. */
  readonly lifetime: number;
  /** Sent to the client, as `challenge` of the authentication. */
  readonly clientChallenge?: ClientChallenge;
  /** Whether the client also gets the time at which the login expires, as `expires_at` of the challenge. */
  readonly showsExpiry?: boolean;
  /** A code to send through the durable queue. */
  readonly message?: CodeMessage;
}

/** What a client needs to answer. `type` names the kind of answer, such as `totp` or `passkey`. */
export type ClientChallenge = Readonly<Record<string, unknown>> & { readonly type: string };

export interface ChallengeAnswer {
  readonly state: ChallengeState;
  /** The id of the authentication, or of another challenge that is answered in the same way. */
  readonly authenticationId: string;
  readonly secret: string;
  /** For the audit events. */
  readonly origin: Origin;
  /** `human_check` of the request, and the device of the login: a further step may send a code. */
  readonly humanCheck?: string | undefined;
  readonly deviceId?: string | undefined;
}

/** A further answer that a login needs before its user is known. */
export interface NextChallenge {
  readonly next: Challenge;
  /** Whose message the challenge sends: the limits of this user and this address apply. */
  readonly recipient?: { readonly userId: string; readonly identity: Identity };
  /** Whether it is the same step as before: the guesses at it go on counting. */
  readonly isSameStep: boolean;
}

export interface CodeMessage {
  readonly channel: MessageChannel;
  readonly recipient: string | undefined;
  readonly code: string;
  /** The kind of a message that is no login code. With `registration_unproven`, it holds no code. */
  readonly kind?: 'registration_code' | 'registration_unproven';
  /** Whether the message is counted and queued as any other, but dropped: the address is a test identity. */
  readonly isDropped?: boolean;
}
