import type { DialogTexts } from '../account/dialog-texts.js';
import type { ProofTexts } from '../account/prove.js';
import { english as formTexts } from '../base/form-texts.js';

export const english = { ...formTexts, provider_cancelled: 'You have cancelled. Try again.' };

/** The texts that the element has at its start. Those of the dialog load with it, unless the page has its own. */
export type StartTexts = ProofTexts & Partial<DialogTexts>;

/** The keys of the texts of `<postern-step-up>`. */
export type StepUpTexts = ProofTexts & DialogTexts;
