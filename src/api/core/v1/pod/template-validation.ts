/** Rules of pod specs, shared by pods and by every kind with a template (upstream: ValidatePodSpec). */
import { forbiddenCause, invalidCause, notSupportedCause } from '../../../../apimachinery/field-error.ts';
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkLabelValue,
  checkQualifiedName,
  nameCauses,
} from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { validateAnnotations, validateLabels } from '../../../../apimachinery/validate-meta.ts';
import { ephemeralContainersOf } from '../container/ephemeral-containers.ts';
import { validateInitContainers } from '../container/init-container-validation.ts';
import { type PodRules, validateContainers } from '../container/validation.ts';
import { validateNodeAffinity } from '../node/affinity-validation.ts';
import type { PodSpec, PodTemplateSpec, Toleration } from '../types.gen.ts';
import { validateVolumes } from '../volume/validation.ts';
import { validatePodAffinity } from './affinity-validation.ts';
import { validateAppArmorAnnotations } from './annotations.ts';
import { validateHostAliases, validatePodDns } from './dns-validation.ts';
import { validatePodOS } from './os-validation.ts';
import { validatePodSecurity, validateSchedulingGates } from './security-validation.ts';
import { validateSelectionSize } from './selection-size.ts';
import { validateTopologySpread } from './topology-spread-validation.ts';

export function validatePodSpec(spec: PodSpec, path: string, rules: PodRules): StatusCause[] {
  const tooLarge = validateSelectionSize(spec, path);
  if (tooLarge.length > 0) return tooLarge;
  return [
    ...validateVolumes(spec.volumes ?? [], `${path}.volumes`, rules.template),
    ...validateContainers(spec, `${path}.containers`, rules),
    ...validateInitContainers(spec, `${path}.initContainers`),
    ...(spec.hostname ? nameCauses(`${path}.hostname`, spec.hostname, checkDns1123Label) : []),
    ...(spec.subdomain ? nameCauses(`${path}.subdomain`, spec.subdomain, checkDns1123Label) : []),
    ...validatePodDns(spec, path),
    ...validateHostAliases(spec.hostAliases ?? [], `${path}.hostAliases`),
    ...(spec.nodeName ? nameCauses(`${path}.nodeName`, spec.nodeName, checkDns1123Subdomain) : []),
    ...(spec.serviceAccountName
      ? nameCauses(`${path}.serviceAccountName`, spec.serviceAccountName, checkDns1123Subdomain)
      : []),
    ...validateLabels(spec.nodeSelector ?? {}, `${path}.nodeSelector`),
    ...validateNodeAffinity(spec, path),
    ...validatePodAffinity(spec, path),
    ...validateTopologySpread(spec, path),
    ...validatePodSecurity(spec, path),
    ...validatePodOS(spec, path),
    ...validateSchedulingGates(spec, path),
    ...(spec.readinessGates ?? []).flatMap(({ conditionType }, index) =>
      nameCauses(`${path}.readinessGates[${index}].conditionType`, conditionType, checkQualifiedName),
    ),
    ...(spec.tolerations ?? []).flatMap((toleration, index) =>
      validateToleration(toleration, `${path}.tolerations[${index}]`),
    ),
  ];
}

/**
 * Validates the template of a controller that keeps pods running: such pods must not end by themselves, so
 * the restart policy must be Always.
 */
export function validatePodTemplate(template: PodTemplateSpec, path: string): StatusCause[] {
  return [
    ...validateLabels(template.metadata.labels ?? {}, `${path}.metadata.labels`),
    ...validateAnnotations(template.metadata.annotations ?? {}, `${path}.metadata.annotations`),
    ...validateAppArmorAnnotations(template.metadata, template.spec, `${path}.metadata.annotations`),
    ...validatePodSpec(template.spec, `${path}.spec`, { template: true }),
    ...noEphemeralContainers(template.spec, `${path}.spec.ephemeralContainers`),
  ];
}

/** Validates the restart policy for a workload that keeps its pods running. */
export function validateRestarts({ spec }: PodTemplateSpec, path: string): StatusCause[] {
  if (spec.restartPolicy === 'Always') return [];
  return [notSupportedCause(`${path}.spec.restartPolicy`, spec.restartPolicy, ['Always'])];
}

/** Rejects ephemeral containers, which are only added to a running pod, by their subresource. */
function noEphemeralContainers(spec: PodSpec, path: string): StatusCause[] {
  if (ephemeralContainersOf(spec).length === 0) return [];
  return [forbiddenCause(path, 'ephemeral containers not allowed in pod template')];
}

export function nonNegative(value: number | undefined, path: string): StatusCause[] {
  return value === undefined || value >= 0
    ? []
    : [invalidCause(path, value, 'must be greater than or equal to 0')];
}

export function validateToleration(toleration: Toleration, path: string): StatusCause[] {
  const { key, operator, effect, tolerationSeconds } = toleration;
  const causes = key ? nameCauses(`${path}.key`, key, checkQualifiedName) : [];
  if (!key && operator !== 'Exists')
    causes.push(
      invalidCause(
        `${path}.operator`,
        operator ?? '',
        'operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ),
    );
  if (tolerationSeconds !== undefined && effect !== 'NoExecute')
    causes.push(
      invalidCause(
        `${path}.effect`,
        effect ?? '',
        "effect must be 'NoExecute' when `tolerationSeconds` is set",
      ),
    );
  return [...causes, ...validateTolerationValue(toleration, `${path}.operator`)];
}

function validateTolerationValue(toleration: Toleration, path: string): StatusCause[] {
  const { operator, value } = toleration;
  if (operator !== 'Exists') return nameCauses(path, value ?? '', checkLabelValue);
  return value ? [invalidCause(path, toleration, "value must be empty when `operator` is 'Exists'")] : [];
}
