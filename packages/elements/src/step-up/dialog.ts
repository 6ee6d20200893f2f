import { type OfferedLogins, offeredLogins, type Postern, type Prover } from '@postern/client';
import { dialogStyle } from '../account/dialog-style.js';
import { withDialogTexts } from '../account/dialog-texts.js';
import { createFrame } from '../account/frame.js';
import { prove } from '../account/prove.js';
import type { StartTexts } from './texts.js';

/** The dialog that asks for a proof. This module is loaded when the app's API first wants one. */
export interface ProofDialog {
  readonly node: HTMLDialogElement;
  readonly style: string;
  readonly prove: Prover;
}

export function createProofDialog(options: {
  readonly postern: Postern;
  readonly words: StartTexts;
  readonly signal: AbortSignal;
  readonly report: (error: unknown) => void;
}): ProofDialog {
  const { postern, signal, report } = options;
  const words = withDialogTexts(options.words);
  const frame = createFrame(words.cancel, signal);
  let offered: OfferedLogins | undefined;

  async function ask(request: Parameters<Prover>[0]): ReturnType<Prover> {
    // Only providers have titles.
    if (request.choices.some(({ type }) => type === 'provider')) offered ??= await offeredLogins(postern, { signal });
    request.signal?.addEventListener('abort', () => frame.node.close());
    frame.body.inert = false;
    const providers = offered?.logins ?? [];
    const proof = await prove(request, { words, dialog: frame, signal, report, providers, onLeave: () => undefined });
    // It stays open until the service has accepted the proof.
    frame.body.inert = true;
    return proof as never;
  }
  return { node: frame.node, style: dialogStyle, prove: ask };
}
