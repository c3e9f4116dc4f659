/** What a container asks for and may take (upstream: validateContainerResourceRequirements). */
import { invalidCause } from '../../../apimachinery/field-error.ts';
import { checkQualifiedName, nameCauses } from '../../../apimachinery/names.ts';
import { tryParseQuantity, validateQuantity } from '../../../apimachinery/quantity.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { Container } from './pod-spec.ts';

type Amounts = Readonly<Record<string, string>>;

const standardNames = /^(?:cpu|memory|ephemeral-storage|hugepages-.+)$/;

export function validateResources({ limits = {}, requests = {} }: Container['resources'], path: string) {
  return [
    ...validateAmounts(limits, `${path}.limits`),
    ...validateAmounts(requests, `${path}.requests`),
    ...requestsWithinLimits(requests, limits, `${path}.requests`),
  ];
}

function validateAmounts(amounts: Amounts, path: string): StatusCause[] {
  return Object.entries(amounts).flatMap(([name, amount]) => [
    ...validateResourceName(name, path),
    ...validateQuantity(`${path}[${name}]`, amount),
    ...wholeUnits(name, amount, `${path}[${name}]`),
  ]);
}

function validateResourceName(name: string, path: string): StatusCause[] {
  const causes = nameCauses(path, name, checkQualifiedName);
  if (causes.length > 0) return causes;
  if (name.includes('/') || standardNames.test(name)) return [];
  return [invalidCause(path, name, 'must be a standard resource for containers')];
}

/** Devices cannot be split, and cannot be promised to two. */
const isExtended = (name: string) => name.includes('/') && !name.split('/')[0]?.endsWith('kubernetes.io');

function wholeUnits(name: string, amount: string, path: string): StatusCause[] {
  if (!isExtended(name)) return [];
  const quantity = tryParseQuantity(amount);
  return quantity && quantity.nano % 1_000_000_000n !== 0n
    ? [invalidCause(path, amount, 'must be an integer')]
    : [];
}

function requestsWithinLimits(requests: Amounts, limits: Amounts, path: string): StatusCause[] {
  return Object.entries(requests).flatMap(([name, text]) => {
    const limitText = limits[name];
    const request = tryParseQuantity(text);
    const limit = limitText === undefined ? undefined : tryParseQuantity(limitText);
    if (!request || !limit) return [];
    if (isExtended(name) && request.nano !== limit.nano)
      return [invalidCause(path, text, `must be equal to ${name} limit of ${limitText}`)];
    if (request.nano > limit.nano)
      return [invalidCause(path, text, `must be less than or equal to ${name} limit of ${limitText}`)];
    return [];
  });
}
