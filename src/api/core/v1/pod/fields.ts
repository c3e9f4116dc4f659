/**
 * The support of minik8s for each field of a pod, in one place: the API server and the node agent read it,
 * and docs/pod-fields.md prints it. A field that protects, or that defines an order, is
 * honoured or the pod does not run; a field is ignored only where that does no harm. A field that is not in
 * this table keeps a pod from starting.
 */
import { isRecord } from '../../../../apimachinery/equality.ts';
import type { FieldType, ObjectType } from '../../../../apimachinery/field-types.ts';
import { kubernetesFields } from '../../../field-table.ts';
import type { PodSpec } from '../types.gen.ts';

export const treatments = {
  honoured: 'works as in Kubernetes; the fields inside it have entries of their own',
  refused: 'the API server refuses it and says why',
  held: 'no container of the pod is started: all wait with the reason NotSupported; an ephemeral container waits alone',
  warned: 'has no effect; the API server answers with a warning',
} as const;

export type Treatment = keyof typeof treatments;

/** Names of fields, separated by blanks, by treatment. */
type Fields = { readonly [T in Treatment]?: string };

/** Treatments by type, named as in the table of Kubernetes' fields. */
export const podFields: Readonly<Record<string, Fields>> = {
  'core.v1.PodSpec': {
    honoured:
      'activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy enableServiceLinks ephemeralContainers hostAliases hostIPC hostNetwork hostPID hostname imagePullSecrets initContainers nodeName nodeSelector os overhead preemptionPolicy priority priorityClassName readinessGates restartPolicy runtimeClassName schedulerName schedulingGates securityContext serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain terminationGracePeriodSeconds tolerations topologySpreadConstraints volumes',
    held: 'evictionResponders hostUsers hostnameOverride resourceClaims resources schedulingGroup',
  },
  'core.v1.LocalObjectReference': { honoured: 'name' },
  'core.v1.PodSecurityContext': {
    honoured:
      'appArmorProfile fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser seLinuxOptions seccompProfile supplementalGroups supplementalGroupsPolicy sysctls',
    warned: 'seLinuxChangePolicy windowsOptions',
  },
  'core.v1.Container': {
    honoured:
      'args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports readinessProbe resizePolicy resources restartPolicy securityContext startupProbe stdin stdinOnce terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir',
    held: 'restartPolicyRules',
  },
  'core.v1.ContainerResizePolicy': { honoured: 'resourceName restartPolicy' },
  'core.v1.Probe': {
    honoured:
      'exec failureThreshold grpc httpGet initialDelaySeconds periodSeconds successThreshold tcpSocket terminationGracePeriodSeconds timeoutSeconds',
  },
  'core.v1.Lifecycle': { honoured: 'postStart preStop stopSignal' },
  'core.v1.LifecycleHandler': { honoured: 'exec httpGet sleep tcpSocket' },
  'core.v1.SleepAction': { honoured: 'seconds' },
  'core.v1.ExecAction': { honoured: 'command' },
  'core.v1.HTTPGetAction': { honoured: 'host httpHeaders path port scheme', held: 'protocol' },
  'core.v1.HTTPHeader': { honoured: 'name value' },
  'core.v1.TCPSocketAction': { honoured: 'host port' },
  'core.v1.GRPCAction': { honoured: 'mode port service' },
  'core.v1.EphemeralContainer': {
    honoured:
      'args command env envFrom image imagePullPolicy name securityContext stdin stdinOnce targetContainerName terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir',
    refused:
      'lifecycle livenessProbe ports readinessProbe resizePolicy resources restartPolicy restartPolicyRules startupProbe',
  },
  'core.v1.SecurityContext': {
    honoured:
      'allowPrivilegeEscalation appArmorProfile capabilities privileged readOnlyRootFilesystem runAsGroup runAsNonRoot runAsUser seLinuxOptions seccompProfile',
    held: 'procMount',
    warned: 'windowsOptions',
  },
  'core.v1.SELinuxOptions': { honoured: 'level role type user' },
  'core.v1.SeccompProfile': { honoured: 'localhostProfile type' },
  'core.v1.AppArmorProfile': { honoured: 'localhostProfile type' },
  'core.v1.Capabilities': { honoured: 'add drop' },
  'core.v1.Sysctl': { honoured: 'name value' },
  'core.v1.PodOS': { held: 'name' },
  'core.v1.PodReadinessGate': { honoured: 'conditionType' },
  'core.v1.PodSchedulingGate': { honoured: 'name' },
  'core.v1.Toleration': { honoured: 'effect key operator tolerationSeconds value' },
  'core.v1.Affinity': { honoured: 'nodeAffinity podAffinity podAntiAffinity' },
  'core.v1.NodeAffinity': {
    honoured:
      'preferredDuringSchedulingIgnoredDuringExecution requiredDuringSchedulingIgnoredDuringExecution',
  },
  'core.v1.NodeSelector': { honoured: 'nodeSelectorTerms' },
  'core.v1.NodeSelectorTerm': { honoured: 'matchExpressions matchFields' },
  'core.v1.NodeSelectorRequirement': { honoured: 'key operator values' },
  'core.v1.PreferredSchedulingTerm': { honoured: 'preference weight' },
  'core.v1.PodAffinity': {
    honoured:
      'preferredDuringSchedulingIgnoredDuringExecution requiredDuringSchedulingIgnoredDuringExecution',
  },
  'core.v1.PodAntiAffinity': {
    honoured:
      'preferredDuringSchedulingIgnoredDuringExecution requiredDuringSchedulingIgnoredDuringExecution',
  },
  'core.v1.WeightedPodAffinityTerm': { honoured: 'podAffinityTerm weight' },
  'core.v1.PodAffinityTerm': {
    honoured: 'labelSelector matchLabelKeys mismatchLabelKeys namespaceSelector namespaces topologyKey',
  },
  'meta.v1.LabelSelector': { honoured: 'matchExpressions matchLabels' },
  'meta.v1.LabelSelectorRequirement': { honoured: 'key operator values' },
  'core.v1.TopologySpreadConstraint': {
    honoured:
      'labelSelector matchLabelKeys maxSkew minDomains nodeAffinityPolicy nodeTaintsPolicy topologyKey whenUnsatisfiable',
  },
  'core.v1.HostAlias': { honoured: 'hostnames ip' },
  'core.v1.PodDNSConfig': { honoured: 'nameservers options searches' },
  'core.v1.PodDNSConfigOption': { honoured: 'name value' },
  'core.v1.ContainerPort': { honoured: 'containerPort hostIP hostPort name protocol' },
  'core.v1.EnvVar': { honoured: 'name value valueFrom' },
  'core.v1.EnvVarSource': {
    honoured: 'configMapKeyRef fieldRef resourceFieldRef secretKeyRef',
    held: 'fileKeyRef',
  },
  'core.v1.ResourceFieldSelector': { honoured: 'containerName divisor resource' },
  'core.v1.ConfigMapKeySelector': { honoured: 'key name optional' },
  'core.v1.SecretKeySelector': { honoured: 'key name optional' },
  'core.v1.ObjectFieldSelector': { honoured: 'apiVersion fieldPath' },
  'core.v1.EnvFromSource': { honoured: 'configMapRef prefix secretRef' },
  'core.v1.ConfigMapEnvSource': { honoured: 'name optional' },
  'core.v1.SecretEnvSource': { honoured: 'name optional' },
  'core.v1.ResourceRequirements': { honoured: 'limits requests', held: 'claims' },
  'core.v1.VolumeMount': {
    honoured: 'mountPath mountPropagation name readOnly recursiveReadOnly subPath subPathExpr',
    held: 'bindMountOptions',
  },
  'core.v1.Volume': {
    honoured:
      'configMap downwardAPI emptyDir ephemeral hostPath image name nfs persistentVolumeClaim projected secret',
    held: 'awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume flocker gcePersistentDisk gitRepo glusterfs iscsi photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume',
  },
  'core.v1.VolumeDevice': { honoured: 'devicePath name' },
  'core.v1.PersistentVolumeClaimVolumeSource': { honoured: 'claimName readOnly' },
  'core.v1.NFSVolumeSource': { honoured: 'path readOnly server' },
  'core.v1.EphemeralVolumeSource': { honoured: 'volumeClaimTemplate' },
  'core.v1.PersistentVolumeClaimTemplate': { honoured: 'metadata spec' },
  'meta.v1.ObjectMeta': {
    honoured: 'annotations labels',
    warned:
      'creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName generation managedFields name namespace ownerReferences resourceVersion selfLink uid',
  },
  'core.v1.PersistentVolumeClaimSpec': {
    honoured: 'accessModes resources selector storageClassName volumeMode volumeName',
    held: 'dataSource dataSourceRef volumeAttributesClassName',
  },
  'core.v1.VolumeResourceRequirements': { honoured: 'limits requests' },
  'core.v1.EmptyDirVolumeSource': { honoured: 'sizeLimit', held: 'medium mode' },
  'core.v1.HostPathVolumeSource': { honoured: 'path type' },
  'core.v1.ImageVolumeSource': { honoured: 'pullPolicy reference' },
  'core.v1.ConfigMapVolumeSource': { honoured: 'defaultMode items name optional', held: 'defaultUser' },
  'core.v1.SecretVolumeSource': { honoured: 'defaultMode items optional secretName', held: 'defaultUser' },
  'core.v1.DownwardAPIVolumeSource': { honoured: 'defaultMode items', held: 'defaultUser' },
  'core.v1.ProjectedVolumeSource': { honoured: 'defaultMode sources', held: 'defaultUser' },
  'core.v1.VolumeProjection': {
    honoured: 'clusterTrustBundle configMap downwardAPI podCertificate secret serviceAccountToken',
  },
  'core.v1.ClusterTrustBundleProjection': {
    honoured: 'labelSelector name optional path signerName',
    held: 'user',
  },
  'core.v1.PodCertificateProjection': {
    honoured:
      'certificateChainPath credentialBundlePath keyPath keyType maxExpirationSeconds signerName userAnnotations',
    held: 'user',
  },
  'core.v1.ConfigMapProjection': { honoured: 'items name optional' },
  'core.v1.SecretProjection': { honoured: 'items name optional' },
  'core.v1.DownwardAPIProjection': { honoured: 'items' },
  'core.v1.ServiceAccountTokenProjection': { honoured: 'audience expirationSeconds path', held: 'user' },
  'core.v1.KeyToPath': { honoured: 'key mode path', held: 'user' },
  'core.v1.DownwardAPIVolumeFile': { honoured: 'fieldRef mode path resourceFieldRef', held: 'user' },
};

/** Values of a field that have no effect. */
export const ordinaryValues: Readonly<Record<string, readonly unknown[]>> = {
  'core.v1.PodSpec.hostUsers': [true],
  'core.v1.SecurityContext.procMount': ['Default'],
  'core.v1.PodOS.name': ['linux'],
  'core.v1.HTTPGetAction.protocol': ['HTTP1'],
  'core.v1.EmptyDirVolumeSource.medium': ['Memory'],
};

/** Returns the paths of the fields of a pod with this treatment, such as `spec.containers[0].lifecycle`. */
export function fieldsTreated(spec: PodSpec, treatment: Treatment): readonly string[] {
  const found: string[] = [];
  visitFields(spec, podSpecType, 'spec', (path, treated) => {
    if (treated === treatment) found.push(path);
  });
  return found;
}

/** Returns the treatment of a field; `held` for a field that is not in the table. */
export function treatmentOf(type: string, field: string): Treatment {
  return byField.get(`${type}.${field}`) ?? 'held';
}

/** Returns a short text of a list of paths: the first ones and the number of further ones. */
export function listPaths(paths: readonly string[]): string {
  const shown = paths.slice(0, maxShown).join(', ');
  return paths.length > maxShown ? `${shown} and ${paths.length - maxShown} more` : shown;
}

const maxShown = 8;

const podSpecType = ((): ObjectType => {
  const type = kubernetesFields.typeOf('core.v1.PodSpec');
  if (!type) throw new Error('the table of types has no core.v1.PodSpec');
  return type;
})();

const byField: ReadonlyMap<string, Treatment> = new Map(
  Object.entries(podFields).flatMap(([type, fields]) =>
    (Object.keys(treatments) as Treatment[]).flatMap((treatment) =>
      (fields[treatment] ?? '')
        .split(' ')
        .filter((name) => name !== '')
        .map((name) => [`${type}.${name}`, treatment] as const),
    ),
  ),
);

type Visit = (path: string, treatment: Treatment) => void;

function visitFields(value: object, type: ObjectType, path: string, visit: Visit): void {
  for (const [name, inner] of Object.entries(value)) {
    const field = type.fields.get(name);
    const at = `${path}.${name}`;
    const treatment = treatmentOf(type.name, name);
    if (asksNothing(`${type.name}.${name}`, inner)) continue;
    visit(at, treatment);
    if (treatment === 'honoured' && field) visitInside(inner, field.type, at, visit);
  }
}

function visitInside(value: unknown, type: FieldType, path: string, visit: Visit): void {
  if (type.kind === 'object' && isRecord(value)) visitFields(value, type.object, path, visit);
  if (type.kind === 'list' && Array.isArray(value)) {
    for (const [index, item] of value.entries()) visitInside(item, type.items, `${path}[${index}]`, visit);
  }
}

/** Returns true for an empty value, which counts as absent, and for a value without effect. */
function asksNothing(field: string, value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  // hostUsers: false is the protecting value.
  if (value === false) return field !== 'core.v1.PodSpec.hostUsers';
  if (Array.isArray(value) && value.length === 0) return true;
  // A volume has a type as soon as the type's key exists.
  if (isRecord(value) && Object.keys(value).length === 0) return !field.startsWith('core.v1.Volume.');
  return ordinaryValues[field]?.includes(value) ?? false;
}
