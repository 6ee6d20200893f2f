/**
 * Parts that the other packages of Postern share: how they send requests, classify answers, measure time and read lists. They
 * may change in any version, so apps import from `@postern/client` only.
 *
 * @packageDocumentation
 */

// Waiting and measuring time. A signal ends both.
export { anySignal } from './any-signal.js';
// The parts of a client that its features use.
export { coreOf } from './core.js';
// Apps narrow errors by `kind` and do not need the constructors.
export { ForeignAnswerError, NetworkError, UsageError } from './errors.js';
// Whether the user is a guest, for elements.
export { isGuest } from './guests.js';
// Streams of server-sent events.
export { readEvents } from './inbox/events.js';
// Filters of notifications as the service takes them.
export { filterText } from './inbox/filter.js';
// Lists that are read page by page.
export { listOf } from './lists.js';
// What a user typed as the name of an account.
export { identityOf } from './login/identity.js';
// What a user can do about an error.
export { issueOf } from './login/issues.js';
export { forCaller, throwIfAborted, wait } from './platform.js';
// A login that the app learns of after a question to the user.
export { holdLogin, type LoginHold } from './postern/hold-login.js';
// A page that was rendered without a login.
export { startSignedOut } from './postern/signed-out.js';
export { stopwatch } from './time.js';

// Requests to Postern, with their repetitions.
export { baseOf, type Call, createTransport, loadPart, type Transport } from './transport.js';
// What the service answers, as the OpenAPI document describes it.
export type * from './wire.js';
