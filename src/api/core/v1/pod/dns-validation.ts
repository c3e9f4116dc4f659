/** Rules of dnsPolicy, dnsConfig and hostAliases (upstream: validatePodDNSConfig, ValidateHostAliases). */
import { invalidCause, requiredCause } from '../../../../apimachinery/field-error.ts';
import { checkDns1123Subdomain, nameCauses } from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { checkIPAddress } from '../../../ip.ts';
import type { PodSpec } from '../types.gen.ts';

/** Limits of a resolv.conf that every C library can read. */
export const maxNameservers = 3;
export const maxSearches = 32;
/** Maximum length of all search domains, with the blanks between them. */
export const maxSearchCharacters = 2048;

export function validatePodDns({ dnsPolicy, dnsConfig = {} }: PodSpec, specPath: string): StatusCause[] {
  const { nameservers = [], searches = [], options = [] } = dnsConfig;
  const path = `${specPath}.dnsConfig`;
  const isRequired = dnsPolicy === 'None';
  return [
    ...validateNameservers(nameservers, isRequired, `${path}.nameservers`),
    ...validateSearches(searches, `${path}.searches`),
    ...options.flatMap(({ name }, index) =>
      name ? [] : [requiredCause(`${path}.options[${index}]`, 'must not be empty')],
    ),
  ];
}

function validateNameservers(
  nameservers: readonly string[],
  isRequired: boolean,
  path: string,
): StatusCause[] {
  const causes: StatusCause[] = [];
  if (isRequired && nameservers.length === 0)
    causes.push(requiredCause(path, 'must provide at least one DNS nameserver when `dnsPolicy` is None'));
  if (nameservers.length > maxNameservers)
    causes.push(invalidCause(path, nameservers, `must not have more than ${maxNameservers} nameservers`));
  for (const [index, address] of nameservers.entries())
    causes.push(...nameCauses(`${path}[${index}]`, address, checkIPAddress));
  return causes;
}

function validateSearches(searches: readonly string[], path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  if (searches.length > maxSearches)
    causes.push(invalidCause(path, searches, `must not have more than ${maxSearches} search paths`));
  if (searches.join(' ').length > maxSearchCharacters) {
    const detail = `must not have more than ${maxSearchCharacters} characters (including spaces) in the search list`;
    causes.push(invalidCause(path, searches, detail));
  }
  for (const [index, search] of searches.entries()) {
    const name = search === '.' ? 'root' : search.replace(/\.$/, '');
    causes.push(...nameCauses(`${path}[${index}]`, name, checkDns1123Subdomain));
  }
  return causes;
}

export function validateHostAliases(
  aliases: NonNullable<PodSpec['hostAliases']>,
  path: string,
): StatusCause[] {
  return aliases.flatMap(({ ip, hostnames = [] }, index) => [
    ...nameCauses(`${path}[${index}].ip`, ip, checkIPAddress),
    ...hostnames.flatMap((name, n) =>
      nameCauses(`${path}[${index}].hostnames[${n}]`, name, checkDns1123Subdomain),
    ),
  ]);
}
