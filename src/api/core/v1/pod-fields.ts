/**
 * What minik8s does with each field of a pod, in one place: the API server, the scheduler and the node agent read it,
 * and docs/decisions/0022-pods-not-started.md prints it. A field that protects, or that says what comes before what,
 * is honoured or the pod does not run; a field is passed over only where that does no harm. A field that is not in
 * this table keeps a pod from starting.
 */
import { isRecord } from '../../../apimachinery/equality.ts';
import type { FieldType, ObjectType } from '../../../apimachinery/field-types.ts';
import { kubernetesFields } from '../../field-table.ts';
import type { PodSpec } from './pod-spec.ts';

export const treatments = {
  honoured: 'works as in Kubernetes; the fields inside it have entries of their own',
  refused: 'the API server refuses the pod and says why',
  unscheduled: 'the pod stays Pending: the scheduler gives it no node and says why',
  held: 'no container of the pod is started: all wait with the reason NotSupported',
  warned: 'has no effect; the API server answers with a warning',
} as const;

export type Treatment = keyof typeof treatments;

/** Names of fields, separated by blanks, by what is done with them. */
type Fields = { readonly [T in Treatment]?: string };

/** By type, as in the table of Kubernetes' fields. */
export const podFields: Readonly<Record<string, Fields>> = {
  V1PodSpec: {
    honoured:
      'activeDeadlineSeconds affinity containers dnsConfig dnsPolicy enableServiceLinks hostAliases hostIPC hostNetwork hostPID hostname nodeName nodeSelector os readinessGates restartPolicy schedulerName schedulingGates securityContext serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain terminationGracePeriodSeconds tolerations topologySpreadConstraints volumes',
    refused: 'ephemeralContainers overhead priority priorityClassName runtimeClassName',
    held: 'hostUsers hostnameOverride initContainers resourceClaims resources schedulingGroup',
    warned: 'automountServiceAccountToken imagePullSecrets preemptionPolicy',
  },
  V1PodSecurityContext: {
    honoured:
      'appArmorProfile fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser seLinuxOptions seccompProfile supplementalGroups sysctls',
    held: 'supplementalGroupsPolicy',
    warned: 'seLinuxChangePolicy windowsOptions',
  },
  V1Container: {
    honoured:
      'args command env envFrom image imagePullPolicy name ports resources securityContext stdin stdinOnce terminationMessagePath terminationMessagePolicy tty volumeMounts workingDir',
    held: 'lifecycle restartPolicy restartPolicyRules volumeDevices',
    warned: 'livenessProbe readinessProbe resizePolicy startupProbe',
  },
  V1SecurityContext: {
    honoured:
      'allowPrivilegeEscalation appArmorProfile capabilities privileged readOnlyRootFilesystem runAsGroup runAsNonRoot runAsUser seLinuxOptions seccompProfile',
    warned: 'procMount windowsOptions',
  },
  V1SELinuxOptions: { honoured: 'level role type user' },
  V1SeccompProfile: { held: 'localhostProfile type' },
  V1AppArmorProfile: { held: 'localhostProfile type' },
  V1Capabilities: { honoured: 'add drop' },
  V1Sysctl: { honoured: 'name value' },
  V1PodOS: { held: 'name' },
  V1PodReadinessGate: { honoured: 'conditionType' },
  V1PodSchedulingGate: { honoured: 'name' },
  V1Toleration: { honoured: 'effect key operator tolerationSeconds value' },
  V1Affinity: { honoured: 'nodeAffinity podAffinity podAntiAffinity' },
  V1NodeAffinity: {
    honoured:
      'preferredDuringSchedulingIgnoredDuringExecution requiredDuringSchedulingIgnoredDuringExecution',
  },
  V1NodeSelector: { honoured: 'nodeSelectorTerms' },
  V1NodeSelectorTerm: { honoured: 'matchExpressions matchFields' },
  V1NodeSelectorRequirement: { honoured: 'key operator values' },
  V1PreferredSchedulingTerm: { honoured: 'preference weight' },
  V1PodAffinity: {
    unscheduled: 'requiredDuringSchedulingIgnoredDuringExecution',
    warned: 'preferredDuringSchedulingIgnoredDuringExecution',
  },
  V1PodAntiAffinity: {
    unscheduled: 'requiredDuringSchedulingIgnoredDuringExecution',
    warned: 'preferredDuringSchedulingIgnoredDuringExecution',
  },
  V1TopologySpreadConstraint: {
    unscheduled: 'whenUnsatisfiable',
    warned: 'labelSelector matchLabelKeys maxSkew minDomains nodeAffinityPolicy nodeTaintsPolicy topologyKey',
  },
  V1HostAlias: { honoured: 'hostnames ip' },
  V1PodDNSConfig: { honoured: 'nameservers options searches' },
  V1PodDNSConfigOption: { honoured: 'name value' },
  V1ContainerPort: { honoured: 'containerPort hostIP hostPort name protocol' },
  V1EnvVar: { honoured: 'name value valueFrom' },
  V1EnvVarSource: {
    honoured: 'configMapKeyRef fieldRef resourceFieldRef secretKeyRef',
    held: 'fileKeyRef',
  },
  V1ResourceFieldSelector: { honoured: 'containerName divisor resource' },
  V1ConfigMapKeySelector: { honoured: 'key name optional' },
  V1SecretKeySelector: { honoured: 'key name optional' },
  V1ObjectFieldSelector: { honoured: 'apiVersion fieldPath' },
  V1EnvFromSource: { honoured: 'configMapRef prefix secretRef' },
  V1ConfigMapEnvSource: { honoured: 'name optional' },
  V1SecretEnvSource: { honoured: 'name optional' },
  V1ResourceRequirements: { honoured: 'limits requests', held: 'claims' },
  V1VolumeMount: {
    honoured: 'mountPath name readOnly subPath subPathExpr',
    held: 'mountPropagation recursiveReadOnly',
  },
  V1Volume: {
    honoured: 'emptyDir hostPath name',
    held: 'awsElasticBlockStore azureDisk azureFile cephfs cinder configMap csi downwardAPI ephemeral fc flexVolume flocker gcePersistentDisk gitRepo glusterfs image iscsi nfs persistentVolumeClaim photonPersistentDisk portworxVolume projected quobyte rbd scaleIO secret storageos vsphereVolume',
  },
  V1EmptyDirVolumeSource: { honoured: 'sizeLimit', held: 'medium' },
  V1HostPathVolumeSource: { honoured: 'path type' },
};

/** Values of a field that change nothing. */
export const ordinaryValues: Readonly<Record<string, readonly unknown[]>> = {
  'V1PodSpec.hostUsers': [true],
  'V1PodSpec.priority': [0],
  'V1PodSecurityContext.supplementalGroupsPolicy': ['Merge'],
  'V1SecurityContext.procMount': ['Default'],
  'V1SeccompProfile.type': ['RuntimeDefault', 'Unconfined'],
  'V1AppArmorProfile.type': ['RuntimeDefault', 'Unconfined'],
  'V1PodOS.name': ['linux'],
  'V1TopologySpreadConstraint.whenUnsatisfiable': ['ScheduleAnyway'],
  'V1VolumeMount.mountPropagation': ['None'],
  'V1VolumeMount.recursiveReadOnly': ['Disabled', 'IfPossible'],
  'V1EmptyDirVolumeSource.medium': ['Memory'],
};

/** The paths of the fields of a pod with this treatment, such as `spec.containers[0].lifecycle`. */
export function fieldsTreated(spec: PodSpec, treatment: Treatment): readonly string[] {
  const found: string[] = [];
  visitFields(spec, podSpecType, 'spec', (path, treated) => {
    if (treated === treatment) found.push(path);
  });
  return found;
}

/** How a field is treated; `held` for a field that is not in the table. */
export function treatmentOf(type: string, field: string): Treatment {
  return byField.get(`${type}.${field}`) ?? 'held';
}

/** As much of a list of paths as a person reads. */
export function listPaths(paths: readonly string[]): string {
  const shown = paths.slice(0, mostShown).join(', ');
  return paths.length > mostShown ? `${shown} and ${paths.length - mostShown} more` : shown;
}

const mostShown = 8;

const podSpecType = ((): ObjectType => {
  const type = kubernetesFields.typeOf('V1PodSpec');
  if (!type) throw new Error('the table of fields has no V1PodSpec');
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

/** An empty value counts as absent. */
function asksNothing(field: string, value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  // hostUsers: false is the value that protects.
  if (value === false) return field !== 'V1PodSpec.hostUsers';
  if (Array.isArray(value) && value.length === 0) return true;
  // A volume has a type as soon as the key of the type is there.
  if (isRecord(value) && Object.keys(value).length === 0) return !field.startsWith('V1Volume.');
  return ordinaryValues[field]?.includes(value) ?? false;
}
