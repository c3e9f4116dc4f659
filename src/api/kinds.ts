/** All kinds of the server: a new kind requires a file, and a line here. */

export { mutatingAdmissionPolicyResource } from './admissionregistration/v1/mutating-admission-policy.ts';
export { mutatingAdmissionPolicyBindingResource } from './admissionregistration/v1/mutating-admission-policy-binding.ts';
export { mutatingWebhookConfigurationResource } from './admissionregistration/v1/mutating-webhook-configuration.ts';
export { validatingAdmissionPolicyResource } from './admissionregistration/v1/validating-admission-policy.ts';
export { validatingAdmissionPolicyBindingResource } from './admissionregistration/v1/validating-admission-policy-binding.ts';
export { validatingWebhookConfigurationResource } from './admissionregistration/v1/validating-webhook-configuration.ts';
export {
  mutatingAdmissionPolicyBindingV1alpha1Resource,
  mutatingAdmissionPolicyV1alpha1Resource,
} from './admissionregistration/v1alpha1/mutating-policies.ts';
export {
  mutatingAdmissionPolicyBindingV1beta1Resource,
  mutatingAdmissionPolicyV1beta1Resource,
} from './admissionregistration/v1beta1/mutating-policies.ts';
export { customResourceDefinitionResource } from './apiextensions/v1/custom-resource-definition.ts';
export { apiServiceResource } from './apiregistration/v1/api-service.ts';
export { controllerRevisionResource } from './apps/v1/controller-revision.ts';
export { daemonSetResource } from './apps/v1/daemon-set.ts';
export { deploymentResource } from './apps/v1/deployment.ts';
export { replicaSetResource } from './apps/v1/replica-set.ts';
export { statefulSetResource } from './apps/v1/stateful-set.ts';
export { selfSubjectReviewResource } from './authentication/v1/self-subject-review.ts';
export { tokenReviewResource } from './authentication/v1/token-review.ts';
export { selfSubjectAccessReviewResource } from './authorization/v1/self-subject-access-review.ts';
export { selfSubjectRulesReviewResource } from './authorization/v1/self-subject-rules-review.ts';
export {
  localSubjectAccessReviewResource,
  subjectAccessReviewResource,
} from './authorization/v1/subject-access-review.ts';
export { horizontalPodAutoscalerV1Resource } from './autoscaling/v1/horizontal-pod-autoscaler.ts';
export { horizontalPodAutoscalerResource } from './autoscaling/v2/horizontal-pod-autoscaler.ts';
export { cronJobResource } from './batch/v1/cron-job.ts';
export { jobResource } from './batch/v1/job.ts';
export { certificateSigningRequestResource } from './certificates/v1/certificate-signing-request.ts';
export { clusterTrustBundleResource } from './certificates/v1/cluster-trust-bundle.ts';
export { podCertificateRequestResource } from './certificates/v1/pod-certificate-request.ts';
export { leaseResource } from './coordination/v1/lease.ts';
export { componentStatusResource } from './core/v1/component-status.ts';
export { configMapResource } from './core/v1/config-map.ts';
export { eventResource } from './core/v1/event/event.ts';
export { limitRangeResource } from './core/v1/limit-range.ts';
export { namespaceResource } from './core/v1/namespace.ts';
export { nodeResource } from './core/v1/node/node.ts';
export { podResource } from './core/v1/pod/pod.ts';
export { podTemplateResource } from './core/v1/pod-template.ts';
export { replicationControllerResource } from './core/v1/replication-controller.ts';
export { resourceQuotaResource } from './core/v1/resource-quota.ts';
export { secretResource } from './core/v1/secret.ts';
export { endpointsResource } from './core/v1/service/endpoints.ts';
export { serviceResource } from './core/v1/service/service.ts';
export { serviceAccountResource } from './core/v1/service-account/service-account.ts';
export { persistentVolumeResource } from './core/v1/volume/persistent-volume.ts';
export { persistentVolumeClaimResource } from './core/v1/volume/persistent-volume-claim.ts';
export { endpointSliceResource } from './discovery/v1/endpoint-slice.ts';
export { eventsV1Resource } from './events/v1/event.ts';
export { flowSchemaResource } from './flowcontrol/v1/flow-schema.ts';
export { priorityLevelConfigurationResource } from './flowcontrol/v1/priority-level-configuration.ts';
export { nodeMetricsResource } from './metrics/v1beta1/node-metrics.ts';
export { podMetricsResource } from './metrics/v1beta1/pod-metrics.ts';
export { ingressResource } from './networking/v1/ingress.ts';
export { ingressClassResource } from './networking/v1/ingress-class.ts';
export { ipAddressResource } from './networking/v1/ip-address.ts';
export { networkPolicyResource } from './networking/v1/network-policy.ts';
export { serviceCIDRResource } from './networking/v1/service-cidr.ts';
export { runtimeClassResource } from './node/v1/runtime-class.ts';
export { podDisruptionBudgetResource } from './policy/v1/pod-disruption-budget.ts';
export { clusterRoleResource } from './rbac/v1/cluster-role.ts';
export { clusterRoleBindingResource } from './rbac/v1/cluster-role-binding.ts';
export { roleResource } from './rbac/v1/role.ts';
export { roleBindingResource } from './rbac/v1/role-binding.ts';
export { priorityClassResource } from './scheduling/v1/priority-class.ts';
export { csiDriverResource } from './storage/v1/csi-driver.ts';
export { csiNodeResource } from './storage/v1/csi-node.ts';
export { csiStorageCapacityResource } from './storage/v1/csi-storage-capacity.ts';
export { storageClassResource } from './storage/v1/storage-class.ts';
export { volumeAttachmentResource } from './storage/v1/volume-attachment.ts';
export { volumeAttributesClassResource } from './storage/v1/volume-attributes-class.ts';
export { storageVersionMigrationResource } from './storagemigration/v1/storage-version-migration.ts';
export { serviceTrafficResource } from './traffic/v1/service-traffic.ts';
