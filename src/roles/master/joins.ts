/** Handles requests of other masters to join, before any other request reaches the app of the API server. */
import type { ApiServer } from '../../apiserver/app.ts';
import { respondText } from '../../apiserver/respond.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { masterTokenId } from '../../kube-apiserver/authentication/bootstrap-token.ts';
import { JoinRefusedError } from '../../masters/grant.ts';
import { joinPath } from '../../masters/join-messages.ts';
import { joinServer } from '../../masters/join-server.ts';
import type { Credentials } from '../../pki/credentials.ts';
import type { Cache } from '../../storage/cache.ts';
import type { Store } from '../../storage/store.ts';
import type { Membership } from './membership.ts';

type App = Pick<ApiServer['app'], 'fetch'>;

export type Joins = ReturnType<typeof joinServer>;

export interface JoinsOptions {
  readonly store: Store;
  readonly credentials: Credentials;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Returns the handler of the requests. Without a membership (an external etcd), it refuses all of them. */
export function joinsOf(
  membership: Membership | undefined,
  { store, credentials, cache, clock, log }: JoinsOptions,
): Joins {
  const now = () => clock.now();
  return joinServer({
    tokenId: (authorization) => masterTokenId(authorization, { cache, now }),
    async grant(asked) {
      if (membership) return membership.grant(store, credentials.authorities.value.server, asked);
      throw new JoinRefusedError(
        'the masters share an external etcd: start the new one with --etcd-endpoints, and without --join',
      );
    },
    now,
    log: log.named('masters'),
  });
}

/** Returns the app with an additional path, for the requests to join. */
export const withJoins = (app: App, joins: Joins): App => ({
  fetch: (request, env) =>
    request.url.includes(joinPath)
      ? joins(request).then((answer) =>
          answer ? respondText(answer.status, answer.body, {}) : app.fetch(request, env),
        )
      : app.fetch(request, env),
});
