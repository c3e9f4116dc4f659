/** The features of minik8s on one master, as its API server has them. */
import { controllers } from '../controllers/index.ts';
import type { FeaturePart } from '../features/feature.ts';
import { type FeatureSettings, features } from '../features/index.ts';
import { type FeatureName, featureNames } from '../features/names.ts';
import type { ResultListener } from '../kube-apiserver/forwarding/result-listener.ts';
import type { ObjectMetrics } from '../kube-apiserver/object-metrics/family.ts';
import type { PolicySources } from '../kube-apiserver/rbac/bootstrap/policy-objects.ts';
import type { ServerPartContext } from '../kube-apiserver/server-part.ts';

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

/** Settings of the features' parts in the API server. */
export interface FeatureOptions
  extends Partial<Omit<FeatureSettings, 'clusterDomain' | 'placedCalls' | 'triggers'>> {
  /** Features of this master; default all. Their kinds must be among those of the server. */
  readonly features?: Chosen;
}

/** Returns the parts of the chosen features, in the order of the features. */
export function serverParts(
  options: FeatureOptions,
  context: Omit<ServerPartContext, 'results'>,
): readonly FeaturePart[] {
  const parts: FeaturePart[] = [];
  const whole = { ...context, results: listenersOf(parts) };
  for (const feature of featuresOf(options.features)) {
    const part = feature.server?.(options, whole);
    if (part) parts.push(part);
  }
  return parts;
}

/** Joins the listeners of all parts, also of parts that are added later. */
const listenersOf = (parts: readonly FeaturePart[]): ResultListener => ({
  listens: (namespace, name) => parts.some(({ results }) => results?.listens(namespace, name)),
  around: (call) => {
    let wrapped: typeof call | undefined;
    return (scope) => {
      wrapped ??= parts.reduce((inner, { results }) => results?.around(inner) ?? inner, call);
      return wrapped(scope);
    };
  },
});
