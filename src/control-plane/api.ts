/**
 * The API of a store: the watch cache and the API server on it, called within this process. A role that
 * listens for external clients passes them to `server.app`.
 */
import type { SystemObjects } from '../api/core/v1/system-objects.ts';
import type { Kinds } from '../apimachinery/kind-set.ts';
import type { Authenticator } from '../apiserver/authentication/authenticator.ts';
import type { Document } from '../apiserver/options.ts';
import { systemUser, type UserInfo } from '../apiserver/request/user.ts';
import type { DirectServe } from '../apiserver/transport/listen-options.ts';
import { aborted, unlessAborted } from '../base/abort.ts';
import { inTurns } from '../base/event-loop/pieces.ts';
import { inBackground } from '../base/in-background.ts';
import type { Logger } from '../base/log.ts';
import type { Client } from '../client/client.ts';
import { inProcessTransport } from '../client/in-process-transport.ts';
import { createClient } from '../client/rest-client.ts';
import { tracedTransport } from '../client/traced-transport.ts';
import type { PlacedCalls } from '../features/functions/api/placed-calls.ts';
import { bootstrapObjects } from '../kube-apiserver/bootstrap.ts';
import { createKubeApiServer, type KubeApiServer } from '../kube-apiserver/kube-apiserver.ts';
import type { NodeConnection } from '../kube-apiserver/node-connection.ts';
import type { KubeApiServerOptions } from '../kube-apiserver/options.ts';
import type { Cache } from '../storage/cache.ts';
import type { HistoryLimits } from '../storage/event-history.ts';
import type { Store } from '../storage/store.ts';
import { createWatchCache } from '../storage/watch-cache.ts';
import { reconcilePolicy } from './reconcile-policy.ts';
import { type FeatureOptions, featureObjectMetrics, policySources, serverParts } from './server-features.ts';

export interface ApiOptions
  extends Omit<
      KubeApiServerOptions,
      'cache' | 'authenticate' | 'nodeConnection' | 'documents' | 'features' | 'objectMetrics'
    >,
    FeatureOptions {
  /** Authenticates external callers; it reads only the cache, not the store. */
  readonly authenticate: (cache: Cache) => Authenticator;
  /** Connection to the agents of nodes; without it, logs and streams answer 503. */
  readonly nodeConnection?: (cache: Cache) => NodeConnection;
  readonly documents?: (cache: Cache) => ReadonlyMap<string, Document>;
  /** Objects that exist before the first request is served; default none. */
  readonly objects?: SystemObjects;
  /** Limits of the events that the cache keeps. */
  readonly history?: HistoryLimits;
}

export interface Api {
  readonly server: KubeApiServer;
  readonly cache: Cache;
  readonly store: Store;
  readonly kinds: Kinds;
  /** Calls of functions for runs of workflows; undefined if functions cannot be called. */
  readonly placedCalls: PlacedCalls | undefined;
  /** Serves calls of functions at the port of the gateway; undefined if functions cannot be called. */
  readonly directCalls: DirectServe | undefined;
  /**
   * Returns the client of a part of the control plane, which reads and writes as `user`, through `store` if
   * given. `agent` is the manager of the fields that it sets.
   */
  clientOf(user: UserInfo, agent?: string, store?: Store): Client;
  /**
   * Starts the parts of the API, calls `serve` once the API can answer, and ends after `serve`: when `serve`
   * ends, or the signal aborts. May be called once. Rejects when a part fails, and with the signal's reason
   * if it aborts before `serve` is called.
   */
  run(serve: (until: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void>;
}

export function createApi({
  authenticate,
  nodeConnection,
  documents,
  objects,
  history,
  ...options
}: ApiOptions): Api {
  const { store, kinds, clock, random, log, loopMeter, tracer } = options;
  const watchCache = createWatchCache({
    store,
    prefix: '/registry/',
    clock,
    log,
    ...(history && { history }),
    ...(loopMeter && { loopMeter }),
  });
  const { cache } = watchCache;
  const nodes = nodeConnection?.(cache);
  const parts = serverParts(options, {
    ...{ cache, clock, random, log },
    metrics: options.metrics,
    nodeConnection: nodes,
    handler: (request) => server.handlerFor(systemUser('apiserver'))(request),
  });
  const server = createKubeApiServer({
    ...options,
    cache,
    features: parts.map(({ feature }) => feature),
    objectMetrics: featureObjectMetrics(options.features),
    authenticate: authenticate(cache),
    ...(nodes && { nodeConnection: nodes }),
    ...(documents && { documents: documents(cache) }),
  });
  const nextPiece = inTurns(clock, loopMeter);
  const clientOf: Api['clientOf'] = (user, agent, through) => {
    const handle = server.handlerFor(user, through);
    // Informers and controllers send a hundred requests at once, too many for one turn of the event loop.
    const transport = inProcessTransport(async (request) => {
      await nextPiece();
      return handle(request);
    }, agent);
    return createClient(tracer ? tracedTransport(transport, 'writes') : transport, { clock, random });
  };

  return {
    server,
    cache,
    store,
    kinds,
    placedCalls: parts.find((part) => part.placedCalls)?.placedCalls,
    directCalls: parts.find((part) => part.directCallsOf)?.directCallsOf?.(server),
    clientOf,
    async run(serve, signal) {
      const started = new AsyncDisposableStack();
      try {
        const caching = inBackground(started, (until) => watchCache.run(until));
        await unlessAborted(signal, watchCache.synced);
        server.definitions.start();
        started.defer(() => server.definitions.stop());
        await unlessAborted(signal, server.accountKeys.open());
        const keeping = inBackground(started, (until) => server.accountKeys.run(until));
        const following = inBackground(started, (until) => server.followExtensionServers(until));
        if (objects) {
          const client = clientOf(systemUser('apiserver'), 'kube-apiserver');
          await prepare({ server, client, cache, store, log }, objects, options.features, signal);
        }
        for (const part of parts) {
          part.start?.();
          started.defer(() => part.stop?.());
        }
        signal.throwIfAborted();
        const serving = inBackground(started, (until) => serve(AbortSignal.any([signal, until])));
        await Promise.race([aborted(signal), caching, keeping, following, serving]);
      } finally {
        await started.disposeAsync();
      }
    },
  };
}

/** Creates the initial objects and waits until the cache has them, because authorization reads the cache. */
async function prepare(
  { server, client, cache, store, log }: Pick<Api, 'server' | 'cache' | 'store'> & Reporting,
  objects: SystemObjects,
  features: FeatureOptions['features'],
  signal: AbortSignal,
): Promise<void> {
  await bootstrapObjects(server, objects);
  const unwritten = await reconcilePolicy(client, cache, policySources(features));
  if (unwritten.length > 0)
    log.error('the store has no room for roles of the system: delete objects and start this master again', {
      unwritten,
    });
  await cache.waitUntil(await store.currentRevision(), signal);
}

interface Reporting {
  readonly client: Client;
  readonly log: Logger;
}
