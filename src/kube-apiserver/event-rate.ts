/**
 * How many events a node may write: each is stored, and nodes write them as they like. Upstream has an admission plugin
 * for it (EventRateLimit); here it comes before the body is read, and each master counts for itself.
 */
import { eventResource } from '../api/core/v1/event.ts';
import { newStatusError } from '../apimachinery/status-error.ts';
import { nodeNameOf, type UserInfo } from '../apiserver/user.ts';
import type { Clock } from '../base/clock.ts';
import { TokenBuckets } from '../base/token-buckets.ts';

/** A full node whose pods all start at once tells of 110 pods with four or five events each. */
export const eventBurst = 500;
export const eventsPerSecond = 10;

const writing: readonly string[] = ['create', 'update', 'patch'];

export interface EventRequest {
  readonly user: UserInfo;
  readonly verb: string;
  /** With its subresource. */
  readonly resource: string;
}

/** What it returns throws 429, with the seconds to wait, for a node that writes more. */
export function limitEvents(clock: Clock): (request: EventRequest) => void {
  const buckets = new TokenBuckets({ burst: eventBurst, refillMs: 1000 / eventsPerSecond, keys: 10_000 });
  return ({ user, verb, resource }) => {
    const node = nodeNameOf(user);
    if (node === undefined || resource !== eventResource.plural || !writing.includes(verb)) return;
    const waitMs = buckets.take(node, clock.now());
    if (waitMs === 0) return;
    const retryAfterSeconds = Math.ceil(waitMs / 1000);
    const message = `node ${JSON.stringify(node)} writes too many events: ${eventsPerSecond} a second are accepted; wait ${retryAfterSeconds} s`;
    throw newStatusError('TooManyRequests', message, { retryAfterSeconds });
  };
}
