import { queryOptions } from '@tanstack/react-query';
import { request, send } from '../../api/client.js';
import type {
  GetPublicationPageData,
  GetPublicationPageResponse,
  NewPublication,
  Publication,
  PublicationChange,
  PublicationEstimate,
  PublicationStatus,
  TryPublicationData,
} from '../../api/schema.js';

/** All queries of publications begin with this key, so that a change can read them again. */
export const publicationsKey = ['publications'] as const;

export const statuses = [
  'scheduled',
  'running',
  'paused',
  'done',
  'cancelled',
  'failed',
] as const satisfies readonly PublicationStatus[];

/** How often a publication is read while something happens, and otherwise, in milliseconds. */
const refresh = { moving: 1000, still: 15_000 };

/** Whether its numbers change by themselves. */
const isMoving = ({ status, recall }: Publication): boolean =>
  status === 'running' || (recall !== null && recall.finished_at === null);

/** A publication, and the tag of this state, for a conditional change. */
export interface TaggedPublication {
  readonly publication: Publication;
  readonly tag: string;
}

async function tagged(response: Response): Promise<TaggedPublication> {
  return { publication: (await response.json()) as Publication, tag: response.headers.get('ETag') ?? '' };
}

export const publicationQuery = (id: string) =>
  queryOptions({
    queryKey: [...publicationsKey, 'one', id],
    queryFn: async ({ signal }) => tagged(await send('GET', '/admin/v1/publications/{id}', { path: { id }, signal })),
    refetchInterval: ({ state: { data } }) => {
      if (data === undefined) return refresh.still;
      const { publication } = data;
      const isNear =
        publication.status === 'scheduled' &&
        Date.parse(publication.send_at ?? publication.created_at) < Date.now() + 60_000;
      return isMoving(publication) || isNear ? refresh.moving : refresh.still;
    },
  });

export const readPublications =
  (status: string | undefined, limit = 50) =>
  (cursor: string | undefined, signal: AbortSignal) => {
    const call = { query: { limit, filter: status && `status:${status}`, cursor }, signal };
    return request<GetPublicationPageData, GetPublicationPageResponse>('GET', '/admin/v1/publications/page', call);
  };

export const estimate = (body: NewPublication) =>
  request<TryPublicationData, PublicationEstimate>('POST', '/admin/v1/publications/dry-run', { body });

/** @param key the same for a repetition, so that it creates no second publication */
export const createPublication = async (body: NewPublication, key: string) =>
  tagged(await send('POST', '/admin/v1/publications', { body, headers: { 'Idempotency-Key': key } }));

export const changePublication = async (id: string, body: PublicationChange, tag: string) =>
  tagged(await send('PATCH', '/admin/v1/publications/{id}', { path: { id }, body, headers: { 'If-Match': tag } }));

export type Move = 'pause' | 'resume' | 'cancel' | 'recall';

export const movePublication = async (id: string, move: Move) =>
  tagged(await send('POST', `/admin/v1/publications/{id}/${move}`, { path: { id } }));
