import { type Core, coreOf } from '../core.js';
import { EnrolmentRequiredError, SignedOutError } from '../errors.js';
import { findReturn, forget } from '../login/redirects.js';
import { type Abortable, forCaller, platform, throwIfAborted } from '../platform.js';
import { createTabs } from '../postern/tabs.js';
import type { HeldSession, Postern } from '../types.js';
import type { ProofType, Session } from '../wire.js';
import { proofOf } from './proof.js';
import { createProofCalls } from './proof-calls.js';
import type { Prover } from './proofs.js';

export interface StepUpOptions extends Abortable {
  /** Asks the user for a proof, like `prove` of `createAccount`. */
  readonly prove: Prover;
  /**
   * True: the login and its proofs must together have two factors (`mfa`), one of them an authenticator app or a passkey. False (default):
   * any proof is enough.
   */
  readonly factor?: boolean | undefined;
}

/** The answer to a proof of the session. */
interface RecordedProof {
  /** The token of a session that replaces the one of the request. */
  readonly token: string;
}
const proofCall = { method: 'PUT', path: '/v1/account/session-proof' } as const;
const checkCall = { method: 'POST', path: '/v1/sessions/verify', expects: 'user_id' } as const;

/** The proof that runs at present, for each client. */
const current = new WeakMap<Core, { readonly factor: boolean; readonly done: Promise<void> }>();

/**
 * Asks the user to prove again who they are, before something important. It calls `prove` until the proof is right. Then checks of this
 * login's sessions show the proof (`proven_at`, `amr`), in all tabs. Parallel calls share one proof. A proof in another tab ends the
 * question here.
 *
 * Rejects with an EnrolmentRequiredError if the user has no suitable proof, with a CancelledError if the user refuses, and with a
 * SignedOutError if nobody is signed in or another user has signed in meanwhile.
 *
 * @example
 * ```ts
 * import { type Postern, type Prover, stepUp } from '@postern/client';
 * declare const postern: Postern;
 * declare const askUser: Prover;
 *
 * await stepUp(postern, { prove: askUser, factor: true });
 * await postern.fetch('/api/payments', { method: 'POST' });
 * ```
 */
export async function stepUp(postern: Postern, { prove, factor = false, signal }: StepUpOptions): Promise<void> {
  const core = coreOf(postern);
  throwIfAborted(signal);
  for (;;) {
    const running = current.get(core);
    if (running === undefined) {
      const done = proveAgain(core, prove, factor).finally(() => current.delete(core));
      current.set(core, { factor, done });
      return forCaller(done, signal);
    }
    await forCaller(running.done, signal);
    if (running.factor || !factor) return;
  }
}

/**
 * Completes a proof at a provider, after the browser has come back. Call it when the page loads. Returns false if the address contains no
 * answer for a step-up of this browser. The user must then start the interrupted action again, because the page was left. Rejects with a
 * ProviderError or CancelledError if the proof failed.
 *
 * @example
 * ```ts
 * import { type Postern, resumeStepUp } from '@postern/client';
 * declare const postern: Postern;
 *
 * if (await resumeStepUp(postern)) console.log('You can pay now.');
 * ```
 * @param address in an app: the address with which the browser came back
 */
export async function resumeStepUp(postern: Postern, address = platform().location?.href ?? ''): Promise<boolean> {
  const core = coreOf(postern);
  const found = await findReturn(core, 'step_up', address);
  if (found === undefined) return false;
  await forget(core, found.id);
  const proof = proofOf('provider', found.secret(), found.id);
  const { token } = await createProofCalls(core, undefined)<RecordedProof>('step_up', proofCall, { proof });
  await takeSession(core, token);
  return true;
}

/** Asks the user until the login has the necessary proof, or until another tab has it. */
async function proveAgain(core: Core, prove: Prover, factor: boolean): Promise<void> {
  const owner = {};
  const before = await core.call<Session>({ ...checkCall, owner });
  const isEnough = ({ proven_at, amr }: Session) => proven_at !== before.proven_at && (!factor || hasFactor(amr));
  const controller = new AbortController();
  const { signal } = controller;
  let noticeProof = () => {};
  const isProvenElsewhere = new Promise<void>((resolve) => {
    noticeProof = resolve;
  });
  const tabs = createTabs(`postern ${core.base} step-up`, core.tabs.isOn, () => {
    // The other tab may have another login.
    core.call<Session>(checkCall).then(
      (session) => isEnough(session) && noticeProof(),
      () => {},
    );
  });
  tabs.open();
  async function askUntilEnough(): Promise<void> {
    for (let session: Session | undefined = before; session && !isEnough(session); ) {
      const { amr }: Session = session;
      const ask: Prover = (request) => {
        const choices = request.choices.filter(({ type }) => !factor || hasFactor(amr) || adds(type, amr));
        if (choices.length === 0) throw new EnrolmentRequiredError();
        return prove({ ...request, choices, signal });
      };
      const { token } = await createProofCalls(core, ask)<RecordedProof>('step_up', proofCall, { signal, owner });
      session = await takeSession(core, token);
      // Another proof of the same kinds would not help: the service decides whether this is enough.
      if (session?.amr.length === amr.length) break;
    }
    tabs.notify('token');
  }
  const asked = askUntilEnough();
  // Another tab may end the question first, so an error here must not be unhandled.
  asked.catch(() => {});
  try {
    await Promise.race([asked, isProvenElsewhere]);
  } finally {
    controller.abort();
    tabs.close();
  }
  // An action of one user must not continue as another user.
  if (core.held.login?.user_id !== before.user_id) throw new SignedOutError();
}

const isDevice = (method: string) => method === 'otp' || method === 'hwk';
const hasFactor = (amr: Session['amr']) => amr.includes('mfa') && amr.some(isDevice);

/** Whether a proof of this type gives a login with these methods a second factor, or one of two missing factors. */
function adds(type: ProofType, amr: Session['amr']): boolean {
  // A passkey that verifies its user is two factors.
  return type === 'passkey' || (type === 'totp') !== amr.some(isDevice);
}

/**
 * Takes the session that a proof has created. This check is its first use, which ends the token of the former session. Both sessions expire
 * at the same time. Returns undefined if the check fails: the proof counts anyway, and the next request gets a new session.
 */
async function takeSession({ held, send }: Core, token: string): Promise<Session | undefined> {
  const { cached, version } = held;
  const session = await send<Session>({ ...checkCall, authorization: `Bearer ${token}` }).catch(() => undefined);
  if (version === held.version && cached !== undefined && held.cached === cached) {
    held.cached = session && { ...cached, session: sessionOf(session, token) };
  }
  return session;
}

function sessionOf(checked: Session, token: string): HeldSession {
  const { id, user_id, device_id, created_at, expires_at, updated_at } = checked;
  return { id, token, user_id, device_id, created_at, expires_at, updated_at };
}
