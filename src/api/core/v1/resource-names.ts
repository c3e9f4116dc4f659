/** Names of resources: what pods ask for, and what is counted (upstream: pkg/apis/core/helper). */
import { invalidCause } from '../../../apimachinery/field-error.ts';
import { checkQualifiedName, nameCauses } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';

const containerNames = /^(?:cpu|memory|ephemeral-storage|hugepages-.+)$/;

/** Objects are counted, so that there are no fractions of them. */
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

/** Devices and the like, which cannot be split. */
export const isExtended = (name: string) =>
  name.includes('/') && !name.split('/')[0]?.endsWith('kubernetes.io');

/** Resources that cannot be overcommitted (upstream: IsOvercommitAllowed says the opposite). */
export const isExclusive = (name: string) => isExtended(name) || name.startsWith('hugepages-');

/** Counted in whole ones. */
export const isWhole = (name: string) =>
  countedNames.has(name) || (isExtended(name) && !name.startsWith('requests.'));

/** Of anything that has amounts. */
export function validateResourceName(name: string, path: string): StatusCause[] {
  const causes = nameCauses(path, name, checkQualifiedName);
  if (causes.length > 0 || name.includes('/') || name === 'storage' || isQuotaName(name)) return causes;
  return [invalidCause(path, name, 'must be a standard resource type or fully qualified')];
}

/** Of what a container can ask for. */
export function validateContainerResourceName(name: string, path: string): StatusCause[] {
  const causes = nameCauses(path, name, checkQualifiedName);
  if (causes.length > 0 || name.includes('/') || containerNames.test(name)) return causes;
  return [invalidCause(path, name, 'must be a standard resource for containers')];
}

/** Of what a quota can count. */
export function validateQuotaName(name: string, path: string): StatusCause[] {
  const causes = validateResourceName(name, path);
  if (name.includes('/') || isQuotaName(name)) return causes;
  return [...causes, invalidCause(path, name, 'must be a standard resource for quota')];
}
