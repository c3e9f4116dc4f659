/** What a container asks for and may take (upstream: validateContainerResourceRequirements). */
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { checkQualifiedName, nameCauses } from '../../../apimachinery/names.ts';
import { tryParseQuantity, validateQuantity } from '../../../apimachinery/quantity.ts';
import { maxCauses, type StatusCause } from '../../../apimachinery/status-error.ts';
import type { Container } from './types.gen.ts';

type Amounts = Readonly<Record<string, string>>;

const standardNames = /^(?:cpu|memory|ephemeral-storage|hugepages-.+)$/;

export function validateResources({ limits = {}, requests = {} }: Container['resources'], path: string) {
  const wrong = validateAmounts(limits, `${path}.limits`);
  if (wrong.length >= maxCauses) return wrong;
  // A request that was left out is its limit, and good when all limits are.
  const own = Object.entries(requests).filter(
    ([name, amount]) => wrong.length > 0 || limits[name] !== amount,
  );
  return [
    ...wrong,
    ...validateAmounts(Object.fromEntries(own), `${path}.requests`),
    ...requestsWithinLimits(requests, limits, path),
  ];
}

/** Stops once there are more faults than an answer names. */
function validateAmounts(amounts: Amounts, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const [name, amount] of Object.entries(amounts)) {
    causes.push(...validateResourceName(name, path), ...validateQuantity(`${path}[${name}]`, amount));
    if (isExtended(name)) causes.push(...wholeUnits(amount, `${path}[${name}]`));
    if (causes.length > maxCauses) break;
  }
  return causes;
}

/** Of what a container asks for. */
export function validateResourceName(name: string, path: string): StatusCause[] {
  const causes = nameCauses(path, name, checkQualifiedName);
  if (causes.length > 0) return causes;
  if (name.includes('/') || standardNames.test(name)) return [];
  return [invalidCause(path, name, 'must be a standard resource for containers')];
}

/** Devices cannot be split. */
const isExtended = (name: string) => name.includes('/') && !name.split('/')[0]?.endsWith('kubernetes.io');

/** Resources that cannot be overcommitted (upstream: IsOvercommitAllowed says the opposite). */
const isExclusive = (name: string) => isExtended(name) || name.startsWith('hugepages-');

function wholeUnits(amount: string, path: string): StatusCause[] {
  if (/^\d+$/.test(amount)) return [];
  const quantity = tryParseQuantity(amount);
  return quantity && quantity.nano % 1_000_000_000n !== 0n
    ? [invalidCause(path, amount, 'must be an integer')]
    : [];
}

function requestsWithinLimits(requests: Amounts, limits: Amounts, path: string): StatusCause[] {
  return Object.entries(requests).flatMap(([name, text]) => {
    const at = `${path}.requests`;
    const limitText = limits[name];
    if (text === limitText) return [];
    if (limitText === undefined && isExclusive(name))
      return [requiredCause(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
    const request = tryParseQuantity(text);
    const limit = limitText === undefined ? undefined : tryParseQuantity(limitText);
    if (!request || !limit) return [];
    if (isExclusive(name) && request.nano !== limit.nano)
      return [invalidCause(at, text, `must be equal to ${name} limit of ${limitText}`)];
    if (request.nano > limit.nano)
      return [invalidCause(at, text, `must be less than or equal to ${name} limit of ${limitText}`)];
    return [];
  });
}
