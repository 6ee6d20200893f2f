import { useEffect, useMemo, useRef, useState } from 'react';
import { useIsVisible } from '../lib/visibility.js';
import type { AuditEvent } from './schema.js';
import { openStream, type StreamState } from './stream.js';

/**
 * The time in milliseconds for which a hidden page keeps its stream. A browser opens few connections to a service, for
 * all its tabs.
 */
const hiddenStreamMs = 60_000;
/** The least time in milliseconds between two changes of the page, however many events arrive. */
const batchMs = 250;
/** The number of new events that are kept. If there are more, the list is read again. */
const maxAdded = 100;

interface Listener {
  readonly onEvents: (events: readonly AuditEvent[]) => void;
  /** Events may be missing between the list and the next event: read the list again. */
  readonly onGap: () => void;
}

/** Follows the audit events that match a filter, with one stream while the page is visible. */
function useEventStream(filter: string, isOn: boolean, listener: Listener): StreamState {
  const isSeen = useIsVisible(hiddenStreamMs);
  const [state, setState] = useState<StreamState>('connecting');
  const latestListener = useRef(listener);
  latestListener.current = listener;
  useEffect(() => {
    if (!isSeen || !isOn) return;
    let newEvents: AuditEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isFirstConnection = true;
    const deliver = () => {
      timer = undefined;
      latestListener.current.onEvents(newEvents);
      newEvents = [];
    };
    const stream = openStream('/admin/v1/events/stream', {
      ...(filter !== '' && { query: { filter } }),
      onEvent({ data }) {
        newEvents.push(JSON.parse(data) as AuditEvent);
        timer ??= setTimeout(deliver, batchMs);
      },
      onReset: () => latestListener.current.onGap(),
    });
    const onState = () => {
      const nextState = stream.state.get();
      setState(nextState);
      // The stream starts now, and the list was read before. Later connections continue after the last event.
      if (nextState === 'live' && isFirstConnection) latestListener.current.onGap();
      if (nextState === 'live') isFirstConnection = false;
    };
    onState();
    const unsubscribe = stream.state.subscribe(onState);
    return () => {
      unsubscribe();
      stream.stop();
      clearTimeout(timer);
      setState('connecting');
    };
  }, [filter, isSeen, isOn]);
  return state;
}

interface LiveOptions {
  readonly filter: string;
  /** The list, newest first. Undefined until it is loaded. */
  readonly list: readonly AuditEvent[] | undefined;
  /** Reads the list again. */
  readonly refresh: () => void;
  /** New events are added to the list. Otherwise they are only counted. */
  readonly isFollowed: boolean;
}

/**
 * A list of audit events, with the events that have arrived since it was read. The stream starts when the list is
 * loaded. Then the list is read once more.
 */
export function useLiveEvents({ filter, list, refresh, isFollowed }: LiveOptions) {
  const [added, setAdded] = useState<readonly AuditEvent[]>([]);
  const [waiting, setWaiting] = useState<readonly AuditEvent[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: events of another filter do not belong here
  useEffect(() => {
    setAdded([]);
    setWaiting([]);
  }, [filter]);
  const state = useEventStream(filter, list !== undefined, {
    onEvents(events) {
      if (isFollowed) setAdded((before) => [...before, ...events]);
      else setWaiting((before) => [...before, ...events]);
    },
    onGap: refresh,
  });
  useEffect(() => {
    if (!isFollowed || waiting.length === 0) return;
    setAdded((before) => [...before, ...waiting]);
    setWaiting([]);
  }, [isFollowed, waiting]);

  const listIds = useMemo(() => new Set(list?.map(({ id }) => id)), [list]);
  const addedRows = useMemo(() => added.filter(({ id }) => !listIds.has(id)), [added, listIds]);
  const isTooLong = addedRows.length > maxAdded;
  useEffect(() => {
    if (isTooLong) refresh();
  }, [isTooLong, refresh]);
  useEffect(() => setAdded((before) => before.filter(({ id }) => !listIds.has(id))), [listIds]);
  useEffect(() => setWaiting((before) => before.filter(({ id }) => !listIds.has(id))), [listIds]);
  const rows = useMemo(() => {
    if (list === undefined || addedRows.length === 0) return list;
    // An event that was committed late can be older than events of the list.
    return [...[...addedRows, ...list.slice(0, maxAdded)].sort(newestFirst), ...list.slice(maxAdded)];
  }, [addedRows, list]);
  return {
    state,
    rows,
    /** The rows that the list does not have. */
    added: addedRows.length,
    /** The events that are only counted. */
    newer: waiting.length,
    /** Adds the events that are only counted to the rows. */
    show() {
      setAdded((before) => [...before, ...waiting]);
      setWaiting([]);
    },
  };
}

const newestFirst = (one: AuditEvent, other: AuditEvent) =>
  other.created_at.localeCompare(one.created_at) || other.id.localeCompare(one.id);
