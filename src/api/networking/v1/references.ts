import { requiredCause } from '../../../apimachinery/field-error.ts';
import { checkDns1123Subdomain, checkPathSegment, nameCauses } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';

interface Reference {
  apiGroup?: string | undefined;
  kind: string;
  name: string;
}

/**
 * Validates a reference to an object of any kind, by name (upstream:
 * validateIngressTypedLocalObjectReference).
 */
export function validateReference({ apiGroup, kind, name }: Reference, path: string): StatusCause[] {
  const causes =
    apiGroup === undefined ? [] : nameCauses(`${path}.apiGroup`, apiGroup, checkDns1123Subdomain);
  if (kind === '') causes.push(requiredCause(`${path}.kind`, 'kind is required'));
  else causes.push(...nameCauses(`${path}.kind`, kind, checkPathSegment));
  if (name === '') causes.push(requiredCause(`${path}.name`, 'name is required'));
  else causes.push(...nameCauses(`${path}.name`, name, checkPathSegment));
  return causes;
}
