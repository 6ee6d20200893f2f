import { requestConsole } from './client.js';
import type { DeviceInput } from './schema.js';
import type { GrantedSession } from './session.js';

/** A set-up link: its role and its rules. */
export interface SetUpLink {
  readonly role: 'operator' | 'support';
  readonly expires_at: string;
  readonly app_name: string;
  readonly password_min: number;
}

/** The new operator, as the form has it. */
export interface NewOperator {
  readonly secret: string;
  readonly name: string;
  readonly username?: string;
  readonly email?: string;
  readonly password: string;
  readonly locale?: string;
}

/** A second factor to enrol. It has the member of its kind. */
export interface SetUpFactor {
  readonly id: string;
  readonly expires_at: string;
  readonly totp?: { readonly secret: string; readonly uri: string };
  readonly passkey?: { readonly options: unknown };
}

export interface SetUpResult {
  readonly session: GrantedSession;
  readonly recovery_codes: readonly string[];
}

/** @throws ProblemError `setup_link_unknown`, `setup_link_used`, `setup_link_expired` */
export const describeLink = (secret: string): Promise<SetUpLink> =>
  requestConsole('POST', '/console/setup/link', { secret });

/** Checks the form, and starts the enrolment of a factor. The link can still be used. */
export const startFactor = (operator: NewOperator, factor: 'totp' | 'passkey'): Promise<SetUpFactor> =>
  requestConsole('POST', '/console/setup/factor', { ...operator, factor });

/** Creates the operator and signs them in. The link cannot be used again. */
export const completeSetUp = (
  operator: NewOperator,
  proof: { readonly factor_id: string; readonly code?: string; readonly response?: Record<string, unknown> },
  device: DeviceInput,
): Promise<SetUpResult> => requestConsole('POST', '/console/setup', { ...operator, ...proof, device });
