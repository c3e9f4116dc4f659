/** Every kind the server knows; a new kind is one file and one line here. */

import type { FieldTable } from '../apimachinery/field-types.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import { createTypeTable } from '../apimachinery/type-table.ts';
import { deploymentResource } from './apps/v1/deployment.ts';
import { replicaSetResource } from './apps/v1/replica-set.ts';
import { selfSubjectAccessReviewResource } from './authorization/v1/self-subject-access-review.ts';
import { horizontalPodAutoscalerV1Resource } from './autoscaling/v1/horizontal-pod-autoscaler.ts';
import { horizontalPodAutoscalerResource } from './autoscaling/v2/horizontal-pod-autoscaler.ts';
import { certificateSigningRequestResource } from './certificates/v1/certificate-signing-request.ts';
import { leaseResource } from './coordination/v1/lease.ts';
import { configMapResource } from './core/v1/config-map.ts';
import { endpointsResource } from './core/v1/endpoints.ts';
import { eventResource } from './core/v1/event.ts';
import { namespaceResource } from './core/v1/namespace.ts';
import { nodeResource } from './core/v1/node.ts';
import { podResource } from './core/v1/pod.ts';
import { podTemplateResource } from './core/v1/pod-template.ts';
import { secretResource } from './core/v1/secret.ts';
import { serviceResource } from './core/v1/service.ts';
import { serviceAccountResource } from './core/v1/service-account.ts';
import { endpointSliceResource } from './discovery/v1/endpoint-slice.ts';
import { eventsV1Resource } from './events/v1/event.ts';
import { choiceLines, typeLines } from './kubernetes-types.gen.ts';
import { dnsResource } from './minik8s/v1/dns.ts';
import { sharedRules } from './shared-rules.ts';

export const registry: readonly ResourceDefinition[] = [
  podResource,
  namespaceResource,
  nodeResource,
  serviceResource,
  endpointsResource,
  configMapResource,
  secretResource,
  serviceAccountResource,
  podTemplateResource,
  eventResource,
  eventsV1Resource,
  endpointSliceResource,
  leaseResource,
  replicaSetResource,
  deploymentResource,
  horizontalPodAutoscalerResource,
  horizontalPodAutoscalerV1Resource,
  certificateSigningRequestResource,
  selfSubjectAccessReviewResource,
  dnsResource,
];

/** The fields of all kinds, with what minik8s adds to them. */
export const kindFields: FieldTable = createTypeTable(
  typeLines,
  choiceLines,
  Object.assign({}, sharedRules, ...registry.map(({ rules }) => rules)),
);

/** Those whose objects are stored, and so can be listed and watched. */
export const storedKinds: readonly ResourceDefinition[] = registry.filter(
  ({ conversion, isReview }) => !conversion && !isReview,
);
