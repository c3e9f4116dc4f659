/** Part of a feature in the API server of one master: what it adds to the server, and what runs beside it. */
import type { ApiServer } from '../apiserver/app.ts';
import type { DirectServe } from '../apiserver/transport/listen-options.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../base/metrics/registry.ts';
import type { Random } from '../base/random.ts';
import type { Cache } from '../storage/cache.ts';
import type { ResultListener } from './forwarding/result-listener.ts';
import type { NodeConnection } from './node-connection.ts';
import type { ServerFeatureFactory } from './server-feature.ts';

export interface ServerPart {
  readonly feature: ServerFeatureFactory;
  /** Receives the results of function calls before their callers do. */
  readonly results?: ResultListener;
  /** Returns the handler of the gateway's port for requests that it serves without the app. */
  directCallsOf?(server: Pick<ApiServer, 'admit' | 'refuse'>): DirectServe;
  /** Called before the first request is served. */
  start?(): void;
  /** Called after the last request. */
  stop?(): void;
}

/** Dependencies of the parts. */
export interface ServerPartContext {
  readonly cache: Cache;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Registry | undefined;
  readonly nodeConnection: NodeConnection | undefined;
  /** Handler of this server, as a user who may do everything. */
  readonly handler: (request: Request) => Promise<Response>;
  /** The listeners of all parts together. They are complete before the first request. */
  readonly results: ResultListener;
}
