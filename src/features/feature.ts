/** A feature that minik8s adds to Kubernetes: its parts on a master. kinds.ts lists its kinds. */
import type { ControllerEntry } from '../controller-runtime/definition.ts';
import type { ObjectMetrics } from '../kube-apiserver/object-metrics/family.ts';
import type { FeatureRoles } from '../kube-apiserver/rbac/bootstrap/feature-roles.ts';
import type { ServerFeatureFactory } from '../kube-apiserver/server-feature.ts';
import type { FeatureName } from './names.ts';

/** `Settings`: what the feature reads of the settings of a master. */
export interface Feature<Settings = object> {
  readonly name: FeatureName;
  readonly roles: FeatureRoles;
  /** Metrics of its objects, for /metrics/objects. */
  readonly objectMetrics?: readonly ObjectMetrics[];
  /** Its part of the API server, unless control-plane/server-features.ts connects it to other features. */
  server?(settings: Partial<Settings>): ServerFeatureFactory;
  /** Its controllers, with the rights of their accounts. */
  readonly controllers: readonly ControllerEntry<Settings>[];
}
