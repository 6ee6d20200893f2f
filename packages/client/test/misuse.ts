// Calls that must not compile. The type check fails if one of them does.
import {
  type AuthState,
  createAccount,
  createInbox,
  createLogin,
  createPostern,
  type InboxEvent,
  isProblem,
  type LoginState,
  memoryStorage,
  type Notification,
  type PosternError,
  type Proof,
  passwordProof,
  pinProof,
  type Snapshot,
  startRecovery,
  totpProof,
  webStorage,
} from '../src/index.js';

declare const state: LoginState;
declare const auth: AuthState;
declare const error: PosternError;
declare const event: InboxEvent;
declare const code: Proof<'code'>;
declare const snapshot: Snapshot;
const postern = createPostern({ url: 'https://auth.example.com', storage: memoryStorage() });
const login = createLogin(postern);
const inbox = createInbox(postern);
const account = createAccount(postern);

// @ts-expect-error where the token is kept is a decision, not a default
createPostern({ url: 'https://auth.example.com' });
// @ts-expect-error a misspelled option
createPostern({ url: '/auth', storage: 'backend', timeOut: 5 });
// @ts-expect-error cookies are no storage of scripts
webStorage('cookie');

// @ts-expect-error nothing can be submitted before the step is known
state.submit({ code: '123456' });
// @ts-expect-error nothing was started
login.start().submit({ code: '123456' });
// @ts-expect-error a password login without a password
login.start().password({ identity: 'ada' });
// @ts-expect-error there are three types of identity
login.start().sms({ identity: { type: 'pigeon', value: 'ada' } });
// @ts-expect-error the user is known when the login is done
state.user_id;
if (state.step === 'code') {
  // @ts-expect-error a code is awaited, not a password
  state.password({ identity: 'ada', password: 'x' });
  // @ts-expect-error the code is missing
  state.submit({ pin: '2468' });
  // @ts-expect-error a recovery code replaces a second factor, not a message
  state.recoveryCode('x');
}
if (state.step === 'totp') {
  // @ts-expect-error a second factor takes no PIN
  state.submit({ code: '123456', pin: '2468' });
  // @ts-expect-error perhaps this user has no passkey
  state.passkey();
}
if (state.step === 'locked') {
  // @ts-expect-error a permanent lock has no end to count down to
  state.countdown();
}

/** The compiler finds a step that was forgotten. */
export function titleOf(all: LoginState): string {
  switch (all.step) {
    case 'start':
    case 'code':
    case 'totp':
    case 'passkey':
    case 'oidc':
    case 'secret':
    case 'locked':
      return all.step;
    default:
      // @ts-expect-error `done` was forgotten
      return all satisfies never;
  }
}

// @ts-expect-error there may be no session
postern.getSession().then((session) => session.token);
// @ts-expect-error nobody may be signed in
auth.user_id;
// @ts-expect-error no such code
isProblem(error, 'identity_token');
if (isProblem(error, 'identity_taken')) {
  // @ts-expect-error its status is 409
  if (error.status === 404) login.start();
}
// @ts-expect-error a lost network has no code
if (error.kind === 'network') error.code;
startRecovery(postern, { identity: 'ada@example.com', purpose: 'password' }).then((pending) =>
  // @ts-expect-error a PIN does not complete the recovery of a password
  pending.complete({ code: '123456', pin: '2468' }),
);

// @ts-expect-error `like` is for text
inbox.list({ filter: { sequence: { like: '4' } } });
// @ts-expect-error no such field
inbox.list({ filter: { acter: 'Ada' } });
// @ts-expect-error no such type, unless the installation registers it
inbox.list({ filter: { notification_type: 'party' } });
// @ts-expect-error no such direction
inbox.list({ sort: 'created_at:down' });
// @ts-expect-error a deletion has no notification
if (event.type === 'delete') event.notification;
// @ts-expect-error notifications have no states: one marker says what was read
inbox.markUnread({ id: 'a' });
// @ts-expect-error what Postern sent is not changed in place
((item: Notification) => { item.description = ''; })({} as Notification); // biome-ignore format: one line for the directive

// @ts-expect-error a change needs a proof
account.setPassword('the moon and back again');
// @ts-expect-error the current password alone is no proof without `prove`
account.setPassword('the moon and back again', { currentPassword: 'x' });
// @ts-expect-error the PIN proves changes of the PIN only
account.setPassword('the moon and back again', { proof: pinProof('2468') });
// @ts-expect-error a code does not remove the PIN
account.removePin({ proof: code });
// @ts-expect-error a code does not remove the authenticator app
account.removeTotp({ proof: code });
// @ts-expect-error a proof cannot be written by hand
account.removePin({ proof: { type: 'password', secret: 'x' } });
account.removePin({ proof: passwordProof('x') });
account.removeTotp({ proof: totpProof('123456') });
account.setPin('1357', {
  proof: async ({ choices }) => (choices[0]?.type === 'pin' ? choices[0].prove('2468') : null),
});
createAccount(postern, { prove: async () => null }).setPassword('the moon and back again');

// @ts-expect-error nobody may be signed in
snapshot.inbox.page;
