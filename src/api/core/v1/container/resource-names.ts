/** Names of resources that are requested and counted (upstream: pkg/apis/core/helper). */
import { invalidCause } from '../../../../apimachinery/field-error.ts';
import { checkQualifiedName, nameCauses } from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';

const containerNames = /^(?:cpu|memory|ephemeral-storage|hugepages-.+)$/;

/** Names of object counts, which have no fractions. */
const countedNames: ReadonlySet<string> = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

const amountNames = /^(?:(?:requests\.|limits\.)?(?:cpu|memory|ephemeral-storage)|requests\.storage)$/;
const hugePages = /^(?:requests\.)?hugepages-/;

export const isQuotaName = (name: string) =>
  countedNames.has(name) || amountNames.test(name) || hugePages.test(name);

/** Returns true for extended resources such as devices, which cannot be split. */
export const isExtended = (name: string) =>
  name.includes('/') && !name.split('/')[0]?.endsWith('kubernetes.io');

/**
 * Returns true for resources that cannot be overcommitted (upstream: IsOvercommitAllowed is the opposite).
 */
export const isExclusive = (name: string) => isExtended(name) || name.startsWith('hugepages-');

/** Returns true for resources that are whole numbers. */
export const isWhole = (name: string) =>
  countedNames.has(name) || (isExtended(name) && !name.startsWith('requests.'));

/** Validates the name of any resource. */
export function validateResourceName(name: string, path: string): StatusCause[] {
  const causes = nameCauses(path, name, checkQualifiedName);
  if (causes.length > 0 || name.includes('/') || name === 'storage' || isQuotaName(name)) return causes;
  return [invalidCause(path, name, 'must be a standard resource type or fully qualified')];
}

/** Validates the name of a resource that a container can request. */
export function validateContainerResourceName(name: string, path: string): StatusCause[] {
  const causes = nameCauses(path, name, checkQualifiedName);
  if (causes.length > 0 || name.includes('/') || containerNames.test(name)) return causes;
  return [invalidCause(path, name, 'must be a standard resource for containers')];
}

/** Validates the name of a resource that a quota can limit. */
export function validateQuotaName(name: string, path: string): StatusCause[] {
  const causes = validateResourceName(name, path);
  if (name.includes('/') || isQuotaName(name)) return causes;
  return [...causes, invalidCause(path, name, 'must be a standard resource for quota')];
}
