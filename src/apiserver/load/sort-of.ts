/** Sort of load that a request counts as. */
import type { Verb } from '../authorization/authorizer.ts';
import type { RequestInfo } from '../request-info.ts';
import { nodeNameOf, type UserInfo } from '../user.ts';
import type { Sort } from './in-flight.ts';

export interface LoadRequest {
  readonly user: UserInfo;
  readonly info: RequestInfo;
  /** Undefined for a method that the API does not support. */
  readonly verb: Verb | undefined;
  readonly follow: boolean;
}

const streams: readonly string[] = ['exec', 'attach', 'portforward', 'proxy'];

export function sortOf({ user, info, verb, follow }: LoadRequest): Sort {
  const isNode = nodeNameOf(user) !== undefined;
  if (info.type === 'resource') {
    if (verb === 'watch') return isNode ? 'node watch' : 'watch';
    if (info.subresource === 'invoke') return 'call';
    if (streams.includes(info.subresource) || (info.subresource === 'log' && follow)) return 'stream';
    if (isNode && verb !== 'list' && isHeartbeat(info.group, info.plural)) return 'heartbeat';
  }
  return isNode ? 'node request' : 'request';
}

/**
 * Returns whether the kind is one that nodes write regularly: a node renews its Lease and posts its status.
 */
const isHeartbeat = (group: string, plural: string) =>
  (group === 'coordination.k8s.io' && plural === 'leases') || (group === '' && plural === 'nodes');
