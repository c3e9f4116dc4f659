/** Every kind the server knows; a new kind is one file and one line here. */

import type { FieldTable } from '../apimachinery/field-types.ts';
import { storedOf } from '../apimachinery/kind-set.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import { createTypeTable } from '../apimachinery/type-table.ts';
import { controllerRevisionResource } from './apps/v1/controller-revision.ts';
import { daemonSetResource } from './apps/v1/daemon-set.ts';
import { deploymentResource } from './apps/v1/deployment.ts';
import { replicaSetResource } from './apps/v1/replica-set.ts';
import { statefulSetResource } from './apps/v1/stateful-set.ts';
import { selfSubjectReviewResource } from './authentication/v1/self-subject-review.ts';
import { tokenReviewResource } from './authentication/v1/token-review.ts';
import { selfSubjectAccessReviewResource } from './authorization/v1/self-subject-access-review.ts';
import { selfSubjectRulesReviewResource } from './authorization/v1/self-subject-rules-review.ts';
import {
  localSubjectAccessReviewResource,
  subjectAccessReviewResource,
} from './authorization/v1/subject-access-review.ts';
import { horizontalPodAutoscalerV1Resource } from './autoscaling/v1/horizontal-pod-autoscaler.ts';
import { horizontalPodAutoscalerResource } from './autoscaling/v2/horizontal-pod-autoscaler.ts';
import { cronJobResource } from './batch/v1/cron-job.ts';
import { jobResource } from './batch/v1/job.ts';
import { certificateSigningRequestResource } from './certificates/v1/certificate-signing-request.ts';
import { leaseResource } from './coordination/v1/lease.ts';
import { configMapResource } from './core/v1/config-map.ts';
import { endpointsResource } from './core/v1/endpoints.ts';
import { eventResource } from './core/v1/event.ts';
import { limitRangeResource } from './core/v1/limit-range.ts';
import { namespaceResource } from './core/v1/namespace.ts';
import { nodeResource } from './core/v1/node.ts';
import { persistentVolumeResource } from './core/v1/persistent-volume.ts';
import { persistentVolumeClaimResource } from './core/v1/persistent-volume-claim.ts';
import { podResource } from './core/v1/pod.ts';
import { podTemplateResource } from './core/v1/pod-template.ts';
import { replicationControllerResource } from './core/v1/replication-controller.ts';
import { resourceQuotaResource } from './core/v1/resource-quota.ts';
import { secretResource } from './core/v1/secret.ts';
import { serviceResource } from './core/v1/service.ts';
import { serviceAccountResource } from './core/v1/service-account.ts';
import { endpointSliceResource } from './discovery/v1/endpoint-slice.ts';
import { eventsV1Resource } from './events/v1/event.ts';
import { flowSchemaResource } from './flowcontrol/v1/flow-schema.ts';
import { priorityLevelConfigurationResource } from './flowcontrol/v1/priority-level-configuration.ts';
import { choiceLines, typeLines } from './kubernetes-types.gen.ts';
import { dnsResource } from './minik8s/v1/dns.ts';
import { ingressResource } from './networking/v1/ingress.ts';
import { ingressClassResource } from './networking/v1/ingress-class.ts';
import { networkPolicyResource } from './networking/v1/network-policy.ts';
import { runtimeClassResource } from './node/v1/runtime-class.ts';
import { podDisruptionBudgetResource } from './policy/v1/pod-disruption-budget.ts';
import { clusterRoleResource } from './rbac/v1/cluster-role.ts';
import { clusterRoleBindingResource } from './rbac/v1/cluster-role-binding.ts';
import { roleResource } from './rbac/v1/role.ts';
import { roleBindingResource } from './rbac/v1/role-binding.ts';
import { priorityClassResource } from './scheduling/v1/priority-class.ts';
import { sharedRules } from './shared-rules.ts';
import { csiDriverResource } from './storage/v1/csi-driver.ts';
import { csiNodeResource } from './storage/v1/csi-node.ts';
import { csiStorageCapacityResource } from './storage/v1/csi-storage-capacity.ts';
import { storageClassResource } from './storage/v1/storage-class.ts';
import { volumeAttachmentResource } from './storage/v1/volume-attachment.ts';

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
  daemonSetResource,
  statefulSetResource,
  controllerRevisionResource,
  replicationControllerResource,
  jobResource,
  cronJobResource,
  podDisruptionBudgetResource,
  resourceQuotaResource,
  limitRangeResource,
  ingressResource,
  ingressClassResource,
  networkPolicyResource,
  priorityClassResource,
  runtimeClassResource,
  horizontalPodAutoscalerResource,
  horizontalPodAutoscalerV1Resource,
  certificateSigningRequestResource,
  selfSubjectAccessReviewResource,
  roleResource,
  clusterRoleResource,
  roleBindingResource,
  clusterRoleBindingResource,
  persistentVolumeResource,
  persistentVolumeClaimResource,
  storageClassResource,
  csiDriverResource,
  csiNodeResource,
  csiStorageCapacityResource,
  volumeAttachmentResource,
  flowSchemaResource,
  priorityLevelConfigurationResource,
  subjectAccessReviewResource,
  localSubjectAccessReviewResource,
  selfSubjectRulesReviewResource,
  tokenReviewResource,
  selfSubjectReviewResource,
  dnsResource,
];

/** The fields of all kinds, with what minik8s adds to them. */
export const kindFields: FieldTable = createTypeTable(
  typeLines,
  choiceLines,
  Object.assign({}, sharedRules, ...registry.map(({ rules }) => rules)),
);

/** Those whose objects are stored, and so can be listed and watched. */
export const storedKinds: readonly ResourceDefinition[] = storedOf(registry);
