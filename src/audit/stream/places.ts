import { mainShard } from '../../database/database.js';
import { type Position, parsePosition, positionText } from './position.js';

/** The place of a client in the streams of all servers: its position on each, by the name of the server. */
export type Places = ReadonlyMap<string, Position>;

const separators = { servers: ';', name: '=' };
/** More than any installation has. */
const maxServers = 100;

/** The text of places, as the id of a server-sent event. Without SHARDS it is that of the position. */
export function placesText(places: Places): string {
  const texts = [...places].map(([server, position]) =>
    server === mainShard ? positionText(position) : `${server}${separators.name}${positionText(position)}`,
  );
  return texts.join(separators.servers);
}

/** Reads the text of places. Undefined: `placesText` did not write it. */
export function parsePlaces(text: string): Places | undefined {
  const parts = text.split(separators.servers, maxServers);
  const places = new Map<string, Position>();
  for (const part of parts) {
    const [first = '', second] = part.split(separators.name, 2);
    const position = parsePosition(second ?? first);
    if (position === undefined) return undefined;
    places.set(second === undefined ? mainShard : first, position);
  }
  return places;
}
