/**
 * Rejects fields for Linux in a pod for Windows, and the other way round (upstream: validateLinux,
 * validateWindows).
 */
import { forbiddenCause, notSupportedCause, requiredCause } from '../../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import type { PodSpec } from '../types.gen.ts';

const systems = ['linux', 'windows'];

const ofLinuxPod = ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace'] as const;
const ofLinuxContext = [
  ...['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'fsGroup', 'fsGroupChangePolicy', 'sysctls'],
  ...['runAsUser', 'runAsGroup', 'supplementalGroups', 'supplementalGroupsPolicy', 'seLinuxChangePolicy'],
];
const ofLinuxContainer = [
  ...['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'capabilities', 'readOnlyRootFilesystem'],
  ...['privileged', 'allowPrivilegeEscalation', 'procMount', 'runAsUser', 'runAsGroup'],
];

const notOnWindows = 'cannot be set for a windows pod';
const notOnLinux = 'windows options cannot be set for a linux pod';

export function validatePodOS(spec: PodSpec, path: string): StatusCause[] {
  const { os } = spec;
  if (!os) return [];
  if (os.name === '') return [requiredCause(`${path}.os.name`, 'cannot be empty')];
  if (!systems.includes(os.name)) return [notSupportedCause(`${path}.os`, os.name, systems)];
  if (os.name === 'linux') return found(spec, path, [], ['windowsOptions'], ['windowsOptions'], notOnLinux);
  return found(spec, path, ofLinuxPod, ofLinuxContext, ofLinuxContainer, notOnWindows);
}

/**
 * Returns a cause for each of the fields of the pod, of its context and of its containers' contexts that is
 * set.
 */
function found(
  spec: PodSpec,
  path: string,
  ofPod: readonly (keyof PodSpec)[],
  ofContext: readonly string[],
  ofContainers: readonly string[],
  why: string,
): StatusCause[] {
  const set = (value: object | undefined, fields: readonly string[], at: string) =>
    fields
      .filter((field) => isSet(field, (value as Record<string, unknown> | undefined)?.[field]))
      .map((field) => forbiddenCause(`${at}.${field}`, why));
  const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const;
  return [
    ...set(spec, ofPod, path),
    ...set(spec.securityContext, ofContext, `${path}.securityContext`),
    ...lists.flatMap((list) =>
      (spec[list] ?? []).flatMap(({ securityContext }, index) =>
        set(securityContext, ofContainers, `${path}.${list}[${index}].securityContext`),
      ),
    ),
  ];
}

/**
 * Returns true if the field counts as set. False does not count for hostPID and hostIPC, an empty list not
 * for sysctls; for other fields, any value counts.
 */
const isSet = (field: string, value: unknown): boolean => {
  if (field === 'hostPID' || field === 'hostIPC') return value === true;
  if (field === 'sysctls') return Array.isArray(value) && value.length > 0;
  return value !== undefined;
};
