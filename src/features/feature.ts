/**
 * A feature that minik8s adds to Kubernetes: its parts on a master. kinds.ts lists its kinds, settings.ts its
 * settings.
 */
import type { ControllerEntry } from '../controller-runtime/definition.ts';
import type { ObjectMetrics } from '../kube-apiserver/object-metrics/family.ts';
import type { FeatureRoles } from '../kube-apiserver/rbac/bootstrap/feature-roles.ts';
import type { ServerPart, ServerPartContext } from '../kube-apiserver/server-part.ts';
import type { PlacedCalls } from './functions/api/placed-calls.ts';
import type { FeatureName } from './names.ts';

/** `Settings`: the settings of a master that the feature reads. */
export interface Feature<Settings = object> {
  readonly name: FeatureName;
  readonly roles: FeatureRoles;
  /** Metrics of the feature's objects, for /metrics/objects. */
  readonly objectMetrics?: readonly ObjectMetrics[];
  /** Creates the feature's part of the API server. */
  server?(settings: Partial<Settings>, context: ServerPartContext): FeaturePart;
  /** Controllers of the feature, with the rights of their accounts. */
  readonly controllers: readonly ControllerEntry<Settings>[];
}

export interface FeaturePart extends ServerPart {
  /** Calls of functions for runs of workflows. */
  readonly placedCalls?: PlacedCalls;
}
