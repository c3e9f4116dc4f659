/** Sort of load that a request counts as. */
import type { Verb } from '../authorization/authorizer.ts';
import type { RequestInfo } from '../request/request-info.ts';
import { nodeNameOf, type UserInfo } from '../request/user.ts';
import type { LongRunning } from '../subresources/subresources.ts';
import type { Sort } from './in-flight.ts';

export interface LoadRequest {
  readonly user: UserInfo;
  readonly info: RequestInfo;
  /**
   * Undefined for a method that the API does not support, and for a path that is no resource unless it is
   * watched.
   */
  readonly verb: Verb | undefined;
  readonly follow: boolean;
  /** Undefined for a request that is not long-running, or that is a watch. */
  readonly longRunning: LongRunning | undefined;
}

/** Returns the sort of load that the request counts as. */
export function sortOf({ user, info, verb, follow, longRunning }: LoadRequest): Sort {
  const isNode = nodeNameOf(user) !== undefined;
  if (verb === 'watch') return isNode ? 'node watch' : 'watch';
  if (info.type !== 'resource') return isNode ? 'node request' : 'request';
  if (longRunning === 'call') return 'call';
  if (isStream(longRunning, follow)) return 'stream';
  if (!isNode) return 'request';
  return isHeartbeat(verb, info.group, info.plural) ? 'heartbeat' : 'node request';
}

const isStream = (longRunning: LongRunning | undefined, follow: boolean): boolean =>
  longRunning === 'stream' || (longRunning === 'log' && follow);

/** Returns true for requests that a node sends regularly: it renews its Lease and posts its status. */
const isHeartbeat = (verb: Verb | undefined, group: string, plural: string): boolean =>
  verb !== 'list' &&
  ((group === 'coordination.k8s.io' && plural === 'leases') || (group === '' && plural === 'nodes'));
