/**
 * Parts that a feature of minik8s adds to the API server. The server serves them like the parts of
 * Kubernetes' own kinds, and names no feature.
 */
import type { AdmissionPlugin } from '../apiserver/admission/plugin.ts';
import type { Authorizer } from '../apiserver/authorization/authorizer.ts';
import type { ClaimPlanner } from '../apiserver/registry/claim-planner.ts';
import type { Subresources } from '../apiserver/subresources/subresources.ts';
import type { NodeAccess } from './authorization/node-access.ts';
import type { KubeContext } from './context.ts';

export interface ServerFeature {
  /** Subresources of the feature's kinds, by `GROUP/PLURAL`. */
  readonly subresources?: Readonly<Record<string, Subresources>>;
  /** Planners of the kinds whose objects claim unique names, by `GROUP/PLURAL`. */
  readonly claims?: Readonly<Record<string, ClaimPlanner>>;
  readonly nodeAccess?: NodeAccess;
  /** Called after the plugins that set fields, and before those that count the object. */
  readonly admission?: readonly AdmissionPlugin[];
  /** Each allows requests besides those that roles allow. */
  readonly authorizers?: readonly Authorizer[];
}

/** Called once for a server, before its first request. */
export type ServerFeatureFactory = (server: KubeContext) => ServerFeature;

export const nodeAccessOf = (features: readonly ServerFeature[]): readonly NodeAccess[] =>
  features.flatMap(({ nodeAccess }) => nodeAccess ?? []);
