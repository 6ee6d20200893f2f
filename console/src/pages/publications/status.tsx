import type { Publication } from '../../api/schema.js';
import { Badge, type BadgeKind } from '../../components/badge/badge.js';
import { useFormats, useText } from '../../text/text.js';

const looks = {
  scheduled: undefined,
  running: 'running',
  paused: 'paused',
  done: undefined,
  cancelled: 'off',
  failed: 'bad',
} as const satisfies Record<Publication['status'], BadgeKind | undefined>;

/** Its status, with what happens at the same time: a recall, or a step that is repeated. */
export function Status({ publication }: { publication: Publication }) {
  const { publications: text } = useText();
  const { status, recall, error_code: errorCode } = publication;
  if (recall !== null) return <Badge kind="off">{recall.finished_at === null ? text.recalling : text.recalled}</Badge>;
  const isStuck = errorCode !== null && (status === 'running' || status === 'scheduled');
  if (isStuck) return <Badge kind="bad">{text.repeats}</Badge>;
  const kind = looks[status];
  return kind === undefined ? <span>{text.statuses[status]}</span> : <Badge kind={kind}>{text.statuses[status]}</Badge>;
}

/** To whom it goes, as words. */
export function useTargetText(): (to: Publication['to']) => string {
  const { publications: text } = useText();
  const { number } = useFormats();
  return (to) => {
    const { topic, users, everyone, count } = to as {
      readonly topic?: string;
      readonly users?: string | null;
      readonly everyone?: boolean;
      readonly count?: number;
    };
    if (topic !== undefined) return text.toTopic(topic);
    if (everyone === true) return text.toEveryone;
    if (count !== undefined) return text.toUsers(count, number(count));
    return users == null ? text.toHiddenFilter : text.toFilter(users);
  };
}

/** The description of its notification. */
export const descriptionOf = ({ notification }: Publication): string =>
  String((notification as { readonly description?: unknown }).description ?? '');
