/** The origin of an action, for the audit events. */
export interface Origin {
  /** `user`, `system`, `cli`, or `key:<id>`. */
  readonly actor: string;
  /** The client's address. Absent for actions without a connection. */
  readonly address?: string;
  readonly requestId?: string;
  /** The device of the session, for actions of users on their own accounts. */
  readonly deviceId?: string;
}
