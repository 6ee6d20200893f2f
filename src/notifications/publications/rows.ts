import type { Publication, PublicationStatus, PublishedNotification } from '../../contract/publication.js';
import { sql } from '../../database/sql.js';
import type { Target } from './recipients.js';

/** A row of `notification_publications`. */
export interface PublicationRow {
  readonly id: string;
  readonly status: PublicationStatus;
  readonly target: Target;
  readonly topic_id: string | null;
  readonly notification: PublishedNotification;
  readonly send_at: string | null;
  readonly rate: number | null;
  readonly recipients: number | null;
  readonly created: number;
  readonly skipped: number;
  readonly position: string | null;
  readonly error_code: string | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly recall_requested_at: string | null;
  readonly recall_finished_at: string | null;
  readonly removed: number;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** SQL: the columns of a `PublicationRow`. */
export const publicationColumns = sql`id, status, target, topic_id, notification, send_at, rate, recipients, created, skipped,
    position, error_code, started_at, ended_at, recall_requested_at, recall_finished_at, removed, version, created_at, updated_at`;

/** A publication as the API shows it. */
export function toPublication(row: PublicationRow): Publication {
  const { id, status, target, notification, send_at, rate, recipients, created, skipped, error_code } = row;
  const { recall_requested_at: requestedAt, recall_finished_at: finished_at, removed } = row;
  const { started_at, ended_at, created_at, updated_at } = row;
  return {
    id,
    status,
    to: { ...target },
    notification: { ...notification },
    send_at,
    rate,
    recipients,
    created,
    skipped,
    error_code,
    recall: requestedAt === null ? null : { removed, finished_at },
    started_at,
    ended_at,
    created_at,
    updated_at,
  };
}
