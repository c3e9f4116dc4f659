/** A subresource whose backend, not the API server, interprets the method of a request. */
import type { Handler } from '../../apiserver/request/request-scope.ts';
import type { LongRunning, Subresource } from '../../apiserver/subresources/subresources.ts';

/**
 * Serves all methods. `kind` is the kind of the subresource in discovery, in the version v1 of the core
 * group.
 */
export const serveEveryMethod = (handler: Handler, kind: string, longRunning: LongRunning): Subresource => ({
  methods: {
    GET: handler,
    POST: handler,
    PUT: handler,
    PATCH: handler,
    DELETE: handler,
    OPTIONS: handler,
  },
  kind: { group: '', version: 'v1', kind },
  longRunning,
  answersBytes: true,
});
