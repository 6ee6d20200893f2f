import { enableStepUp, type Postern, resumeStepUp } from '@postern/client';
import { loadPart } from '@postern/client/internal';
import { PosternElement } from '../base/element.js';
import type { ProofDialog } from './dialog.js';
import { english, type StartTexts } from './texts.js';

/** Events of `<postern-step-up>`. */
export interface StepUpEvents {
  /** The browser has come back from a provider with the proof. The user can start the interrupted action again. */
  readonly 'postern-proven': CustomEvent<null>;
}

/**
 * `<postern-step-up>`: asks users to confirm that it is them if the app's API wants a fresh proof (RFC 9470), in a dialog. Then
 * `postern.fetch` repeats the request. Put it once into each page that uses `postern.fetch`. It shows nothing until it asks.
 *
 * Parts: `dialog`, `heading`, `form`, `field`, `label`, `input`, `code`, `hint`, `button`, `button-primary`, `button-reveal`, `link`,
 * `issue`.
 *
 * @example
 * ```ts
 * import { createPostern, indexedDbStorage } from '@postern/client';
 * import { defineStepUp } from '@postern/elements/step-up';
 *
 * const postern = createPostern({ url: 'https://auth.example.com', storage: indexedDbStorage() });
 * defineStepUp({ postern });
 * document.body.append(document.createElement('postern-step-up'));
 * await postern.fetch('/api/payments', { method: 'POST' });
 * ```
 */
export class PosternStepUp extends PosternElement<StepUpEvents, StartTexts> {
  /** @internal */
  static readonly tag = 'postern-step-up';
  /** @internal */
  static readonly style = ':host { display: contents; }';
  /** @internal */
  static readonly observedAttributes = ['lang'];

  constructor() {
    super(english, { es: async () => (await import('../account/es.js')).spanish });
  }

  /** @internal */
  protected override options(): readonly unknown[] {
    return [];
  }

  /** @internal What is typed into the open dialog stays: other texts come after it. */
  protected override whenReplaceable(): Promise<unknown> {
    const dialog = this.root.querySelector('dialog[open]');
    return dialog ? new Promise((resolve) => dialog.addEventListener('close', resolve)) : Promise.resolve();
  }

  /** @internal */
  protected override start(postern: Postern, signal: AbortSignal): void {
    const { words } = this;
    const report = (error: unknown) => void this.report(error);
    this.root.replaceChildren();
    let loaded: Promise<ProofDialog> | undefined;
    const dialog = () =>
      (loaded ??= loadPart(() => import('./dialog.js'))
        .then(({ createProofDialog }) => {
          const made = createProofDialog({ postern, words, signal, report });
          this.adoptStyle(made.style);
          this.root.append(made.node);
          return made;
        })
        .catch((error) => {
          loaded = undefined;
          throw error;
        }));
    const end = enableStepUp(postern, { prove: async (request) => (await dialog()).prove(request) });
    signal.addEventListener('abort', end);
    // Only a browser that comes back from a provider loads more.
    if (!/[?&]authentication_id=/.test(location.search)) return;
    resumeStepUp(postern).then((isProven) => isProven && !signal.aborted && this.emit('postern-proven', null), report);
  }
}
