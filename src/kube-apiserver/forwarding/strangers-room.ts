/**
 * Limits unfinished work of anonymous users, which is stored, and may wait for a year: a limit for each
 * object that everybody may call, and one for its namespace.
 */
import { newStatusError } from '../../apimachinery/status-error.ts';
import type { Cache, IndexDeclaration } from '../../storage/cache.ts';

interface Room {
  readonly count: number;
  /** Size of the stored objects. */
  readonly mebibytes: number;
}

/** Limit of one object that is called, such as a workflow. */
export const ownRoom: Room = { count: 1000, mebibytes: 16 };
/** Limit of a whole namespace. */
export const namespaceRoom: Room = { count: 4000, mebibytes: 32 };
const mebibyte = 1024 * 1024;
const retryAfterSeconds = 5;

/** Returns the keys in an index: `NAMESPACE/NAME` of the called object, and the namespace. */
export const roomKeys = (namespace: string | undefined, name: string) => [
  `${namespace}/${name}`,
  `${namespace}`,
];

/**
 * Throws 429 if the index has as much as the limits permit. The keys of the index are `roomKeys`; `what`
 * names its objects, in the plural.
 */
export function checkRoom(
  cache: Cache,
  index: IndexDeclaration,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  what: string,
): void {
  const places: readonly (readonly [key: string, room: Room, of: string])[] = [
    [`${namespace}/${name}`, ownRoom, name],
    [namespace, namespaceRoom, `the namespace ${namespace}`],
  ];
  for (const [key, { count, mebibytes }, of] of places) {
    const found = cache.index(index).get(key);
    const bytes = () => found.reduce((sum, object) => sum + object.bytes.length, 0);
    if (found.length < count && bytes() < mebibytes * mebibyte) continue;
    throw newStatusError(
      'TooManyRequests',
      `${what} of ${of} are ${count} or ${mebibytes} MiB already: anonymous users can add more only after some have finished`,
      { retryAfterSeconds },
    );
  }
}
