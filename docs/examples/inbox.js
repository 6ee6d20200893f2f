// A live inbox in a page, with the backend docs/examples/web-app.js: see docs/web-apps.md.

/** Calls onChange with the newest notifications, now and after each change. Returns a function that ends it. */
export function openInbox(onChange, onLoggedOut) {
  const inbox = new Map();
  let source;
  let timer;
  let waiting; // events that arrive before the list

  function open() {
    source = new EventSource('/api/notifications/stream');
    source.onopen = read;
    source.onmessage = receive;
    source.addEventListener('deleted', receive);
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return; // the browser reconnects
      timer = setTimeout(open, 5000);
      read(); // finds out whether the login has ended
    };
  }

  function receive({ type, data }) {
    const event = { type, notification: JSON.parse(data) };
    if (waiting !== undefined) waiting.push(event);
    else show([event]);
  }

  async function read() {
    const events = [];
    waiting = events;
    const answer = await fetch('/api/notifications?limit=100').catch(() => undefined);
    const list = answer?.ok ? await answer.json().catch(() => undefined) : undefined;
    if (waiting !== events) return; // closed, or the stream was opened again
    waiting = undefined;
    if (answer?.status === 401) {
      close();
      onLoggedOut();
      return;
    }
    if (list !== undefined) inbox.clear();
    show([...(list ?? []).map((notification) => ({ type: 'message', notification })), ...events]);
    if (list === undefined) retry();
  }

  function show(events) {
    for (const { type, notification } of events) {
      if (type === 'deleted') inbox.delete(notification.id);
      else inbox.set(notification.id, notification);
    }
    onChange([...inbox.values()].sort((a, b) => b.sequence - a.sequence));
  }

  function retry() {
    close();
    timer = setTimeout(open, 5000);
  }

  function close() {
    source.close();
    clearTimeout(timer);
    waiting = undefined;
  }

  open();
  return close;
}
