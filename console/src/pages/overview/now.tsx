import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { request } from '../../api/client.js';
import { useLiveEvents } from '../../api/live-events.js';
import type { AuditEvent, GetEventPageData, GetEventPageResponse } from '../../api/schema.js';
import { Button } from '../../components/button/button.js';
import { EventRow } from '../../components/event/event.js';
import { Panel, Rows } from '../../components/panel/panel.js';
import { Empty, Loaded } from '../../components/state/state.js';
import { useText } from '../../text/text.js';

const maxEvents = 8;

function useLatest(isAllowed: boolean, every: number | false = false) {
  return useQuery({
    queryKey: ['events', 'latest'],
    queryFn: ({ signal }) => {
      const call = { query: { limit: 100 }, signal };
      return request<GetEventPageData, GetEventPageResponse>('GET', '/admin/v1/events/page', call);
    },
    select: ({ data }) => data,
    refetchInterval: every,
    enabled: isAllowed,
  });
}

/** Whether the last events are still on their way for the first time. A failed read counts as an answer. */
export function useAwaitsLatest(isAllowed: boolean): boolean {
  const { isFetched } = useLatest(isAllowed);
  return isAllowed && !isFetched;
}

/** The last events. New ones are added until the operator pauses; then a button adds them. */
export function Now() {
  const { overview } = useText();
  /** While the list is paused, the events that it shows. */
  const [pausedEvents, setPausedEvents] = useState<readonly AuditEvent[]>();
  const [isStreamed, setStreamed] = useState(false);
  const query = useLatest(true, !isStreamed && 5000);
  const { refetch } = query;
  const { state, rows } = useLiveEvents({
    filter: '',
    list: query.data,
    isFollowed: true,
    refresh: useCallback(() => void refetch(), [refetch]),
  });
  useEffect(() => setStreamed(state === 'live'), [state]);
  const events = (pausedEvents ?? rows ?? []).slice(0, maxEvents);
  const newer = pausedEvents === undefined ? 0 : (rows ?? []).findIndex(({ id }) => id === pausedEvents[0]?.id);
  return (
    <Panel
      hasNoPadding
      title={overview.now}
      footer={<Link to="/audit">{overview.allEvents}</Link>}
      actions={
        <>
          {newer > 0 && (
            <Button small kind="ghost" onClick={() => setPausedEvents(rows)}>
              {overview.waitingEvents(newer)}
            </Button>
          )}
          <Button
            small
            kind="ghost"
            icon={pausedEvents === undefined ? 'pause' : 'play'}
            onClick={() => setPausedEvents(pausedEvents === undefined ? rows : undefined)}
          >
            {pausedEvents === undefined ? overview.pause : overview.resume}
          </Button>
        </>
      }
    >
      <Loaded query={query} what={overview.eventsFailed} rows={8}>
        {() =>
          events.length === 0 ? (
            <Empty title={overview.nothingYet}>{overview.nothingYetWhy}</Empty>
          ) : (
            <Rows>
              {events.map((event) => (
                <EventRow key={event.id} event={event} />
              ))}
            </Rows>
          )
        }
      </Loaded>
    </Panel>
  );
}
