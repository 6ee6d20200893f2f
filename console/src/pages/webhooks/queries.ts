import { queryOptions } from '@tanstack/react-query';
import { request } from '../../api/client.js';
import type {
  ChangeWebhookData,
  GetWebhookData,
  GetWebhookDeliveryPageData,
  GetWebhookDeliveryPageResponse,
  GetWebhookPageData,
  GetWebhookPageResponse,
  ReplayWebhookData,
  Webhook,
  WebhookChange,
  WebhookReplay,
  WebhookReplayRequest,
} from '../../api/schema.js';

/** The maximum number of webhooks in a page. The service allows 50 webhooks, so one page has all of them. */
const pageLimit = 100;

export const readWebhooks = (cursor: string | undefined, signal: AbortSignal) =>
  request<GetWebhookPageData, GetWebhookPageResponse>('GET', '/admin/v1/webhooks/page', {
    query: { limit: pageLimit, cursor },
    signal,
  });

/** All queries of webhooks begin with this key, so that a change can read them again. */
export const webhooksKey = ['webhooks'] as const;

/** All webhooks, with their health. */
export const webhooksQuery = queryOptions({
  queryKey: [...webhooksKey, 'all'],
  queryFn: ({ signal }) => readWebhooks(undefined, signal),
  refetchInterval: 10_000,
});

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: [...webhooksKey, 'one', id],
    queryFn: ({ signal }) =>
      request<GetWebhookData, Webhook>('GET', '/admin/v1/webhooks/{id}', { path: { id }, signal }),
    refetchInterval: 5000,
  });

export const changeWebhook = (id: string, body: WebhookChange) =>
  request<ChangeWebhookData, Webhook>('PATCH', '/admin/v1/webhooks/{id}', { path: { id }, body });

export const replayWebhook = (id: string, body: WebhookReplayRequest) =>
  request<ReplayWebhookData, WebhookReplay>('POST', '/admin/v1/webhooks/{id}/replay', { path: { id }, body });

/** Which deliveries are shown, and the filter of the API for each. */
export const views = {
  all: '',
  waiting: 'state:pending',
  failed: 'state:failed',
  delivered: 'state:delivered',
} as const;
export type View = keyof typeof views;
export const viewOf = (text: string | undefined): View =>
  Object.keys(views).includes(text ?? '') ? (text as View) : 'all';

/** Reads deliveries of a webhook, the latest first. */
export const readDeliveries =
  (id: string, filter: string, limit: number) => (cursor: string | undefined, signal: AbortSignal) =>
    request<GetWebhookDeliveryPageData, GetWebhookDeliveryPageResponse>(
      'GET',
      '/admin/v1/webhooks/{id}/deliveries/page',
      {
        path: { id },
        query: {
          limit,
          sort: 'created_at:desc',
          filter,
          cursor,
        },
        signal,
      },
    );

/** The latest deliveries, for the strip of their outcomes. */
export const latestQuery = (id: string) =>
  queryOptions({
    queryKey: [...webhooksKey, 'latest', id],
    queryFn: ({ signal }) => readDeliveries(id, '', 90)(undefined, signal),
    refetchInterval: 10_000,
  });

/** The maximum number of deliveries that one request can replay. */
const maxReplayed = 1000;

/** The latest deliveries that failed, up to the number that one request can replay. */
export async function failedDeliveries(id: string, signal: AbortSignal): Promise<string[]> {
  const read = readDeliveries(id, views.failed, 100);
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const { data, page } = await read(cursor, signal);
    ids.push(...data.map((delivery) => delivery.id));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && ids.length < maxReplayed);
  return ids;
}

/** The host of the URL: its path may be a secret, and is long. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** The displayed name of a webhook: its description, or the host of its URL. */
export const webhookName = ({ description, url }: Pick<Webhook, 'description' | 'url'>): string =>
  description.trim() === '' ? hostOf(url) : description.trim();

export type WebhookState = 'paused' | 'disabled' | 'failing' | 'delivering' | 'unused';

export function stateOf(webhook: Webhook): WebhookState {
  if (!webhook.enabled) return webhook.disabled_reason === 'operator' ? 'paused' : 'disabled';
  if (webhook.failing_since !== null) return 'failing';
  return webhook.last_success_at === null ? 'unused' : 'delivering';
}
