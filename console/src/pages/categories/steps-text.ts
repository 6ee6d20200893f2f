import type { Category } from '../../api/schema.js';
import type { Texts } from '../../text/texts.js';

/** The channels in the order of the steps, with what each waits for: "Push → Mail after 1h if it is not read". */
export function stepsText({ steps }: Pick<Category, 'steps'>, text: Texts['categories']): string {
  if (steps.length === 0) return text.inboxOnly;
  return steps
    .map(({ channel, after, if: condition }) => {
      const name = text.channels[channel];
      return `${after === '0s' ? name : text.stepAfter(name, after)} ${text.stepIf[condition]}`.trim();
    })
    .join(' → ');
}
