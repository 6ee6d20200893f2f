import { useEffect, useMemo, useRef, useState } from 'react';
import { useSeen } from '../lib/seen.js';
import type { AuditEvent } from './schema.js';
import { openStream, type StreamState } from './stream.js';

/** Milliseconds that a hidden page keeps its stream. A browser opens few connections to a service, for all its tabs. */
const keptHidden = 60_000;
/** Milliseconds between two changes of the page, however many events arrive. */
const pace = 250;
/** Events beside the list. When there are more, the list is read again. */
const most = 100;

interface Listener {
  readonly onEvents: (events: readonly AuditEvent[]) => void;
  /** Events may be missing between the list and the next event: read the list again. */
  readonly onGap: () => void;
}

/**
 * Follows the audit events that match a filter, with one stream while the page is seen.
 */
function useEventStream(filter: string, isOn: boolean, listener: Listener): StreamState {
  const isSeen = useSeen(keptHidden);
  const [state, setState] = useState<StreamState>('connecting');
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    if (!isSeen || !isOn) return;
    let arrived: AuditEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isNew = true;
    const pass = () => {
      timer = undefined;
      latest.current.onEvents(arrived);
      arrived = [];
    };
    const stream = openStream('/admin/v1/events/stream', {
      ...(filter !== '' && { query: { filter } }),
      onEvent({ data }) {
        arrived.push(JSON.parse(data) as AuditEvent);
        timer ??= setTimeout(pass, pace);
      },
      onReset: () => latest.current.onGap(),
    });
    const look = () => {
      const now = stream.state.get();
      setState(now);
      // The stream starts now, and the list was read before. Later connections continue after the last event.
      if (now === 'live' && isNew) latest.current.onGap();
      if (now === 'live') isNew = false;
    };
    look();
    const unsubscribe = stream.state.subscribe(look);
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
  /** The list, the newest first. Undefined: it is not here yet. */
  readonly list: readonly AuditEvent[] | undefined;
  /** Reads the list again. */
  readonly refresh: () => void;
  /** New events are added to the list. Otherwise they are counted only. */
  readonly isFollowed: boolean;
}

/**
 * A list of audit events with those that have arrived since it was read. The stream starts when the list is here, and then the
 * list is read once more.
 */
export function useLiveEvents({ filter, list, refresh, isFollowed }: LiveOptions) {
  const [added, setAdded] = useState<readonly AuditEvent[]>([]);
  const [held, setHeld] = useState<readonly AuditEvent[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: events of another filter do not belong here
  useEffect(() => {
    setAdded([]);
    setHeld([]);
  }, [filter]);
  const state = useEventStream(filter, list !== undefined, {
    onEvents(events) {
      if (isFollowed) setAdded((before) => [...before, ...events]);
      else setHeld((before) => [...before, ...events]);
    },
    onGap: refresh,
  });
  useEffect(() => {
    if (!isFollowed || held.length === 0) return;
    setAdded((before) => [...before, ...held]);
    setHeld([]);
  }, [isFollowed, held]);

  const known = useMemo(() => new Set(list?.map(({ id }) => id)), [list]);
  const above = useMemo(() => added.filter(({ id }) => !known.has(id)), [added, known]);
  const isTooLong = above.length > most;
  useEffect(() => {
    if (isTooLong) refresh();
  }, [isTooLong, refresh]);
  useEffect(() => setAdded((before) => before.filter(({ id }) => !known.has(id))), [known]);
  useEffect(() => setHeld((before) => before.filter(({ id }) => !known.has(id))), [known]);
  const rows = useMemo(() => {
    if (list === undefined || above.length === 0) return list;
    // An event that was committed late belongs among those that are older.
    return [...[...above, ...list.slice(0, most)].sort(newestFirst), ...list.slice(most)];
  }, [above, list]);
  return {
    ...{ state, rows },
    /** The rows that the list does not have. */
    added: above.length,
    /** The events that are counted only. */
    newer: held.length,
    /** Adds them to the rows. */
    show() {
      setAdded((before) => [...before, ...held]);
      setHeld([]);
    },
  };
}

const newestFirst = (one: AuditEvent, other: AuditEvent) =>
  other.created_at.localeCompare(one.created_at) || other.id.localeCompare(one.id);
