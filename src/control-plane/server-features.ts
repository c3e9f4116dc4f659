/** The features of minik8s on one master, as its API server has them. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../base/metrics/registry.ts';
import type { Random } from '../base/random.ts';
import { controllers } from '../controllers/index.ts';
import { functionsFeature } from '../features/functions/server/functions-feature.ts';
import {
  type FunctionCallOptions,
  type FunctionsServer,
  functionsServer,
} from '../features/functions/server/functions-server.ts';
import { features } from '../features/index.ts';
import { type FeatureName, featureNames } from '../features/names.ts';
import { triggersServer } from '../features/triggers/server/triggers-server.ts';
import type { RunClient } from '../features/workflows/server/invoke.ts';
import { workflowsServer } from '../features/workflows/server/workflows-server.ts';
import type { ResultListener } from '../kube-apiserver/forwarding/result-listener.ts';
import type { NodeConnection } from '../kube-apiserver/node-connection.ts';
import type { ObjectMetrics } from '../kube-apiserver/object-metrics/family.ts';
import type { PolicySources } from '../kube-apiserver/rbac/bootstrap/policy-objects.ts';
import type { ServerFeatureFactory } from '../kube-apiserver/server-feature.ts';
import type { Cache } from '../storage/cache.ts';

type Chosen = readonly FeatureName[];

/** Returns the features that a master runs: those of `names`, by default all. */
export const featuresOf = (names: Chosen = featureNames) =>
  features.filter(({ name }) => names.includes(name));

/** Returns what the roles of every cluster are derived from: rights of all controllers, roles of features. */
export function policySources(names?: Chosen): PolicySources {
  const chosen = featuresOf(names);
  return {
    controllers: [...controllers, ...chosen.flatMap((feature) => feature.controllers)],
    features: chosen.map(({ roles }) => roles),
  };
}

export const featureObjectMetrics = (names?: Chosen): readonly ObjectMetrics[] =>
  featuresOf(names).flatMap(({ objectMetrics = [] }) => objectMetrics);

/** Settings of the features. */
export interface FeatureOptions {
  /** Features of this master; default all. Their kinds must be among those of the server. */
  readonly features?: Chosen;
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
  { features: names = featureNames, dnsDomains, workflowCalls, functionCalls }: FeatureOptions,
  context: FeatureContext,
): ServerFeatures {
  const triggers = names.includes('triggers') ? triggersServer(context) : undefined;
  const results = triggers?.results ?? noListener;
  const hasFunctions = names.includes('functions');
  const functions =
    hasFunctions && functionCalls ? functionsServer({ ...context, ...functionCalls, results }) : undefined;
  const list = [
    ...featuresOf(names).flatMap((feature) => feature.server?.({ dnsDomains }) ?? []),
    ...(hasFunctions ? [functionsFeature(functions?.call)] : []),
    ...(triggers ? [triggers.feature] : []),
    ...(names.includes('workflows') ? [workflowsServer(workflowCalls)] : []),
  ];
  return { list, functions };
}

const noListener: ResultListener = { listens: () => false, around: (call) => call };
