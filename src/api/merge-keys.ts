/**
 * How lists and maps of Kubernetes' kinds merge, by `Type.field`; facts of Kubernetes' API (its patchStrategy and
 * list-type markers). A list that is not here is replaced by a strategic merge patch and is atomic for server-side
 * apply.
 */
import type { MergeRule } from '../apimachinery/field-types.ts';

/** Merged by one key, both by patches and by server-side apply. */
const by = (key: string): MergeRule => ({
  patchMerge: true,
  patchKey: key,
  listType: 'map',
  listKeys: [key],
});
/** Patches merge by the first key; server-side apply tells items apart by all of them. */
const byAll = (key: string, ...more: string[]): MergeRule => ({
  ...by(key),
  listKeys: [key, ...more],
});
const bySetOfPatches = (key: string): MergeRule => ({ patchMerge: true, patchKey: key });
const unionSet: MergeRule = { patchMerge: true, listType: 'set' };
const set: MergeRule = { listType: 'set' };
const appliedBy = (...keys: string[]): MergeRule => ({ listType: 'map', listKeys: keys });
const retaining = (key: string): MergeRule => ({ ...by(key), retainKeys: true });
const atomicMap: MergeRule = { mapType: 'atomic' };

const ofContainer = (type: string): Record<string, MergeRule> => ({
  [`${type}.env`]: by('name'),
  [`${type}.ports`]: byAll('containerPort', 'protocol'),
  [`${type}.volumeDevices`]: by('devicePath'),
  [`${type}.volumeMounts`]: by('mountPath'),
});

/** Statuses whose conditions merge by type in patches and in server-side apply. */
const withConditions = [
  'V1APIServiceStatus',
  'V1DaemonSetStatus',
  'V1DeploymentStatus',
  'V1FlowSchemaStatus',
  'V1NamespaceStatus',
  'V1NodeStatus',
  'V1PersistentVolumeClaimStatus',
  'V1PodDisruptionBudgetStatus',
  'V1PodStatus',
  'V1PriorityLevelConfigurationStatus',
  'V1ReplicaSetStatus',
  'V1ReplicationControllerStatus',
  'V1ServiceStatus',
  'V1StatefulSetStatus',
  'V2HorizontalPodAutoscalerStatus',
];

export const mergeRules: Readonly<Record<string, MergeRule>> = {
  ...Object.fromEntries(withConditions.map((type) => [`${type}.conditions`, by('type')])),
  ...ofContainer('V1Container'),
  ...ofContainer('V1EphemeralContainer'),
  'V1CSIDriverSpec.volumeLifecycleModes': set,
  'V1CSINodeSpec.drivers': by('name'),
  'V1CertificateSigningRequestStatus.conditions': appliedBy('type'),
  'V1ComponentStatus.conditions': by('type'),
  'V1ContainerStatus.allocatedResourcesStatus': by('name'),
  'V1ContainerStatus.volumeMounts': by('mountPath'),
  'V1CustomResourceDefinitionStatus.conditions': appliedBy('type'),
  'V1DeploymentSpec.strategy': { retainKeys: true },
  'V1Endpoint.addresses': set,
  'V1JobStatus.conditions': bySetOfPatches('type'),
  'V1JSONSchemaProps.x-kubernetes-validations': by('rule'),
  'V1MutatingWebhook.matchConditions': by('name'),
  'V1MutatingWebhookConfiguration.webhooks': by('name'),
  'V1NodeSpec.podCIDRs': unionSet,
  'V1NodeStatus.addresses': by('type'),
  'V1NonResourcePolicyRule.nonResourceURLs': set,
  'V1NonResourcePolicyRule.verbs': set,
  'V1ObjectMeta.finalizers': unionSet,
  'V1ObjectMeta.ownerReferences': by('uid'),
  'V1PodFailurePolicyOnExitCodesRequirement.values': set,
  'V1PodSpec.containers': by('name'),
  'V1PodSpec.ephemeralContainers': by('name'),
  'V1PodSpec.hostAliases': by('ip'),
  'V1PodSpec.imagePullSecrets': by('name'),
  'V1PodSpec.initContainers': by('name'),
  'V1PodSpec.nodeSelector': atomicMap,
  'V1PodSpec.resourceClaims': retaining('name'),
  'V1PodSpec.schedulingGates': by('name'),
  'V1PodSpec.topologySpreadConstraints': byAll('topologyKey', 'whenUnsatisfiable'),
  'V1PodSpec.volumes': retaining('name'),
  'V1PodStatus.hostIPs': bySetOfPatches('ip'),
  'V1PodStatus.podIPs': by('ip'),
  'V1PodStatus.resourceClaimStatuses': retaining('name'),
  'V1ReplicationControllerSpec.selector': atomicMap,
  'V1ResourcePolicyRule.apiGroups': set,
  'V1ResourcePolicyRule.namespaces': set,
  'V1ResourcePolicyRule.resources': set,
  'V1ResourcePolicyRule.verbs': set,
  'V1ResourceRequirements.claims': appliedBy('name'),
  'V1ResourceStatus.resources': appliedBy('resourceID'),
  'V1Scheduling.nodeSelector': atomicMap,
  'V1ServiceAccount.secrets': by('name'),
  'V1ServiceSpec.ports': byAll('port', 'protocol'),
  'V1ServiceSpec.selector': atomicMap,
  'V1UncountedTerminatedPods.failed': set,
  'V1UncountedTerminatedPods.succeeded': set,
  'V1ValidatingAdmissionPolicyBindingSpec.validationActions': set,
  'V1ValidatingAdmissionPolicySpec.matchConditions': by('name'),
  'V1ValidatingAdmissionPolicySpec.variables': by('name'),
  'V1ValidatingAdmissionPolicyStatus.conditions': appliedBy('type'),
  'V1ValidatingWebhook.matchConditions': by('name'),
  'V1ValidatingWebhookConfiguration.webhooks': by('name'),
};

/** Types whose values server-side apply owns as a whole. */
export const atomicTypes: ReadonlySet<string> = new Set([
  'CoreV1EndpointPort',
  'DiscoveryV1EndpointPort',
  'RbacV1Subject',
  'V1ConfigMapKeySelector',
  'V1CrossVersionObjectReference',
  'V1EndpointAddress',
  'V1LabelSelector',
  'V1LocalObjectReference',
  'V1MatchResources',
  'V1NamedRuleWithOperations',
  'V1NodeSelector',
  'V1NodeSelectorTerm',
  'V1ObjectFieldSelector',
  'V1ObjectReference',
  'V1OwnerReference',
  'V1ParamKind',
  'V1ParamRef',
  'V1ResourceFieldSelector',
  'V1RoleRef',
  'V1ScopeSelector',
  'V1SecretKeySelector',
  'V1SecretReference',
  'V1ServiceBackendPort',
  'V1TopologySelectorTerm',
  'V1TypedLocalObjectReference',
  'V1Variable',
]);
