/**
 * The shared worker that holds one event stream for all tabs. Its file needs no other file, so an app can serve it from any path of
 * its origin: see `workerUrl` of `createInbox`.
 *
 * @packageDocumentation
 */
import { createHub, type Port } from './hub.js';

/** A tab has connected. The types of this package need no library of workers, so they name what is used. */
export interface ConnectEvent {
  readonly ports: readonly Port[];
}

const hub = createHub();
(globalThis as { onconnect?: (event: ConnectEvent) => void }).onconnect = ({ ports }) => {
  for (const port of ports) hub.connect(port);
};
