import type pg from 'pg';
import { createServers, type ServerFields, type Servers } from './servers.js';

/** The database: a connection string, the fields of an embedded server, or servers that a process watches. */
export type DatabaseTarget = string | ServerFields | Servers;

/** The servers of a target. */
export function serversOf(target: DatabaseTarget): Servers {
  return typeof target === 'object' && 'locate' in target ? target : createServers(target);
}

/** The target as fields for a client of `pg`. */
export function connectionFields(target: DatabaseTarget): pg.ClientConfig {
  return serversOf(target).fields();
}
