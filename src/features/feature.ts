/** A feature that minik8s adds to Kubernetes: its parts on a master. kinds.ts lists its kinds. */
import type { AccountedController } from '../controller-runtime/definition.ts';
import type { ObjectMetrics } from '../kube-apiserver/object-metrics/family.ts';
import type { FeatureRoles } from '../kube-apiserver/rbac/bootstrap/feature-roles.ts';
import type { ServerFeatureFactory } from '../kube-apiserver/server-feature.ts';

/** Settings of a master that features read. */
export interface MasterSettings {
  /** Domain of the cluster, such as `cluster.local`. */
  readonly clusterDomain: string;
  /** Domains below which hosts of Dns objects are allowed; default `example` and `test`. */
  readonly dnsDomains?: readonly string[];
}

export interface Feature {
  readonly roles: FeatureRoles;
  /** Metrics of its objects, for /metrics/objects. */
  readonly objectMetrics?: readonly ObjectMetrics[];
  server?(settings: Pick<MasterSettings, 'dnsDomains'>): ServerFeatureFactory;
  controllers(settings: MasterSettings): readonly AccountedController[];
}
