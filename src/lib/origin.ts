/** The origin of an action, for the audit events: who caused it, and from where. It is not the header `Origin` of a request. */
export interface Origin {
  /** `user`, `system`, `cli`, or `key:<id>`. */
  readonly actor: string;
  /** The client's IP address. Absent for actions without a connection. */
  readonly clientAddress?: string;
  readonly requestId?: string;
  /** The device of the session, for actions of users on their own accounts. */
  readonly deviceId?: string;
}
