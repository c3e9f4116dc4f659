/** A feature that minik8s adds to Kubernetes: its parts on a master. kinds.ts lists its kinds. */
import type { ApiServer } from '../apiserver/app.ts';
import type { DirectServe } from '../apiserver/transport/listen-options.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../base/metrics/registry.ts';
import type { Random } from '../base/random.ts';
import type { ControllerEntry } from '../controller-runtime/definition.ts';
import type { ResultListener } from '../kube-apiserver/forwarding/result-listener.ts';
import type { NodeConnection } from '../kube-apiserver/node-connection.ts';
import type { ObjectMetrics } from '../kube-apiserver/object-metrics/family.ts';
import type { FeatureRoles } from '../kube-apiserver/rbac/bootstrap/feature-roles.ts';
import type { ServerFeatureFactory } from '../kube-apiserver/server-feature.ts';
import type { Cache } from '../storage/cache.ts';
import type { PlacedCalls } from './functions/api/placed-calls.ts';
import type { FeatureName } from './names.ts';

/** `Settings`: what the feature reads of the settings of a master. */
export interface Feature<Settings = object> {
  readonly name: FeatureName;
  readonly roles: FeatureRoles;
  /** Metrics of its objects, for /metrics/objects. */
  readonly objectMetrics?: readonly ObjectMetrics[];
  /** Creates its part of the API server. */
  server?(settings: Partial<Settings>, context: FeatureContext): ServerPart;
  /** Its controllers, with the rights of their accounts. */
  readonly controllers: readonly ControllerEntry<Settings>[];
}

/** Dependencies of the parts of the API server. */
export interface FeatureContext {
  readonly cache: Cache;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Registry | undefined;
  readonly nodeConnection: NodeConnection | undefined;
  /** Handler of this server, as a user who may do everything. */
  readonly handler: (request: Request) => Promise<Response>;
  /** The listeners of all features together. They are complete before the first request. */
  readonly results: ResultListener;
}

/** Part of a feature in the API server of one master. */
export interface ServerPart {
  readonly feature: ServerFeatureFactory;
  /** Receives the results of function calls before their callers do. */
  readonly results?: ResultListener;
  /** Calls of functions for runs of workflows. */
  readonly placedCalls?: PlacedCalls;
  /** Returns the handler of the gateway's port for requests that it serves without the app. */
  directCallsOf?(server: Pick<ApiServer, 'admit' | 'refuse'>): DirectServe;
  /** Called before the first request is served. */
  start?(): void;
  /** Called after the last request. */
  stop?(): void;
}
