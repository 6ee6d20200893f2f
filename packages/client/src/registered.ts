/**
 * The names that your installation adds. Declare them once, and the types of all packages know them.
 *
 * @example
 * ```ts
 * declare module '@postern/client' {
 *   interface Register {
 *     notificationType: 'payment' | 'order';
 *     oidcProvider: 'google';
 *   }
 * }
 * export {};
 * ```
 */
// biome-ignore lint/suspicious/noEmptyInterface: apps add members to it
export interface Register {}

type Registered<Name extends string, Default> = Register extends Readonly<Record<Name, infer Names>> ? Names : Default;

/** `NOTIFICATION_TYPES` of the service, and `security` for notices about the account. */
export type NotificationType = Registered<'notificationType', 'payment' | 'pool' | 'request'> | 'security';
export type NotificationKey = Registered<'notificationKey', string>;
/** The names in `OIDC_PROVIDERS`. */
export type OidcProvider = Registered<'oidcProvider', string>;
/** The names of your own authenticators, as `POST /v1/tokens` takes them. */
export type CustomAuthenticator = Registered<'customAuthenticator', string>;
