import { queryOptions } from '@tanstack/react-query';
import { request } from '../../api/client.js';
import type { GetSystemData, GetSystemResponse } from '../../api/schema.js';

/** How the service runs. Only operators may read it. */
export const systemQuery = queryOptions({
  queryKey: ['system'],
  queryFn: ({ signal }) => request<GetSystemData, GetSystemResponse>('GET', '/admin/v1/system', { signal }),
  refetchInterval: 30_000,
});
