/** Where an act came from, for the audit trail. */
export interface Origin {
  /** `user`, `system`, `cli`, or `key:<id>`. */
  readonly actor: string;
  /** The client's address; absent for acts that came over no connection. */
  readonly address?: string;
  readonly requestId?: string;
  /** The device of the session, for acts of a user on the own account. */
  readonly deviceId?: string;
}
