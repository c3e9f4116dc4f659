/** The features of minik8s on one master, as its API server has them. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../base/metrics/registry.ts';
import type { Random } from '../base/random.ts';
import { functionsFeature } from '../features/functions/server/functions-feature.ts';
import {
  type FunctionCallOptions,
  type FunctionsServer,
  functionsServer,
} from '../features/functions/server/functions-server.ts';
import { features } from '../features/index.ts';
import { triggersServer } from '../features/triggers/server/triggers-server.ts';
import type { RunClient } from '../features/workflows/server/invoke.ts';
import { workflowsServer } from '../features/workflows/server/workflows-server.ts';
import type { NodeConnection } from '../kube-apiserver/node-connection.ts';
import type { ObjectMetrics } from '../kube-apiserver/object-metrics/family.ts';
import type { FeatureRoles } from '../kube-apiserver/rbac/bootstrap/feature-roles.ts';
import type { ServerFeatureFactory } from '../kube-apiserver/server-feature.ts';
import type { Cache } from '../storage/cache.ts';

export const featureRoles: readonly FeatureRoles[] = features.map(({ roles }) => roles);

export const featureObjectMetrics: readonly ObjectMetrics[] = features.flatMap(
  ({ objectMetrics = [] }) => objectMetrics,
);

/** Settings of the features. */
export interface FeatureOptions {
  /** Domains below which hosts of Dns objects are allowed; default `example` and `test`. */
  readonly dnsDomains?: readonly string[];
  /** Creates runs of called workflows; if absent, workflows cannot be called. */
  readonly workflowCalls?: RunClient;
  /** Options of function calls; if absent, functions cannot be called. */
  readonly functionCalls?: FunctionCallOptions;
}

export interface FeatureContext {
  readonly cache: Cache;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Registry | undefined;
  readonly nodeConnection: NodeConnection | undefined;
  /** Handler of this server, as a user who may do everything. */
  readonly handler: (request: Request) => Promise<Response>;
}

export interface ServerFeatures {
  readonly list: readonly ServerFeatureFactory[];
  readonly functions: FunctionsServer | undefined;
}

export function serverFeatures(
  { dnsDomains, workflowCalls, functionCalls }: FeatureOptions,
  context: FeatureContext,
): ServerFeatures {
  const triggers = triggersServer(context);
  const functions =
    functionCalls && functionsServer({ ...context, ...functionCalls, results: triggers.results });
  const list = [
    ...features.flatMap((feature) => feature.server?.({ dnsDomains }) ?? []),
    functionsFeature(functions?.call),
    triggers.feature,
    workflowsServer(workflowCalls),
  ];
  return { list, functions };
}
