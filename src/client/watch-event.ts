/** Reads an event of a watch, however the watch is transported; browsers use it too. */
import type { KubeObject } from '../apimachinery/meta.ts';
import type { WatchEvent } from './client.ts';
import { watchError } from './response-error.ts';

/**
 * Returns the event of a line of a watch. Throws the StatusError of an ERROR event. `what` names the request
 * in errors.
 */
export function watchEventOf<T extends KubeObject>(line: string, what: string): WatchEvent<T> {
  const { type, object } = parse(line, what);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
    case 'BOOKMARK':
      return { type, object: object as T };
    case 'ERROR':
      throw watchError(what, object);
    default:
      throw new Error(`${what} sent an event of unknown type ${JSON.stringify(type)}`);
  }
}

function parse(line: string, what: string): { type: unknown; object: unknown } {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (error) {
    throw new Error(`${what} sent an event that is not JSON`, { cause: error });
  }
  if (typeof event !== 'object' || event === null || !('type' in event) || !('object' in event)) {
    throw new Error(`${what} sent something that is not a watch event`);
  }
  return { type: event.type, object: event.object };
}
