/** Rules of a container's requests and limits (upstream: validateContainerResourceRequirements). */
import { invalidCause, requiredCause } from '../../../../apimachinery/field-error.ts';
import { tryParseQuantity, validateQuantity } from '../../../../apimachinery/quantity.ts';
import { maxCauses, type StatusCause } from '../../../../apimachinery/status-error.ts';
import type { Container } from '../types.gen.ts';
import { isExclusive, isExtended, validateContainerResourceName } from './resource-names.ts';

type Amounts = Readonly<Record<string, string>>;

export function validateResources({ limits = {}, requests = {} }: Container['resources'], path: string) {
  const wrong = validateAmounts(limits, `${path}.limits`);
  if (wrong.length >= maxCauses) return wrong;
  // A missing request equals its limit, and is valid if all limits are.
  const own = Object.entries(requests).filter(
    ([name, amount]) => wrong.length > 0 || limits[name] !== amount,
  );
  return [
    ...wrong,
    ...validateAmounts(Object.fromEntries(own), `${path}.requests`),
    ...requestsWithinLimits(requests, limits, path),
  ];
}

/** Validates amounts; stops when there are more causes than are reported. */
function validateAmounts(amounts: Amounts, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  for (const [name, amount] of Object.entries(amounts)) {
    const at = `${path}[${name}]`;
    causes.push(...validateContainerResourceName(name, at), ...validateQuantity(at, amount));
    if (isExtended(name)) causes.push(...wholeUnits(amount, at));
    if (causes.length > maxCauses) break;
  }
  return causes;
}

export function wholeUnits(amount: string, path: string): StatusCause[] {
  if (/^\d+$/.test(amount)) return [];
  const quantity = tryParseQuantity(amount);
  return quantity && quantity.nano % 1_000_000_000n !== 0n
    ? [invalidCause(path, amount, 'must be an integer')]
    : [];
}

function requestsWithinLimits(requests: Amounts, limits: Amounts, path: string): StatusCause[] {
  return Object.entries(requests).flatMap(([name, text]) => {
    const limit = limits[name];
    if (limit !== undefined) return requestWithinLimit(name, text, limit, `${path}.requests`);
    return isExclusive(name)
      ? [requiredCause(`${path}.limits`, 'Limit must be set for non overcommitable resources')]
      : [];
  });
}

function requestWithinLimit(name: string, text: string, limitText: string, at: string): StatusCause[] {
  if (text === limitText) return [];
  const [request, limit] = [tryParseQuantity(text), tryParseQuantity(limitText)];
  if (!request || !limit) return [];
  if (isExclusive(name) && request.nano !== limit.nano)
    return [invalidCause(at, text, `must be equal to ${name} limit of ${limitText}`)];
  if (request.nano > limit.nano)
    return [invalidCause(at, text, `must be less than or equal to ${name} limit of ${limitText}`)];
  return [];
}
