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
  const causes: StatusCause[] = [];
  if (dnsPolicy === 'None' && nameservers.length === 0) {
    const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
    causes.push(requiredCause(`${path}.nameservers`, detail));
  }
  if (nameservers.length > maxNameservers) {
    const detail = `must not have more than ${maxNameservers} nameservers`;
    causes.push(invalidCause(`${path}.nameservers`, nameservers, detail));
  }
  for (const [index, address] of nameservers.entries()) {
    causes.push(...nameCauses(`${path}.nameservers[${index}]`, address, checkIPAddress));
  }
  if (searches.length > maxSearches) {
    causes.push(
      invalidCause(`${path}.searches`, searches, `must not have more than ${maxSearches} search paths`),
    );
  }
  if (searches.join(' ').length > maxSearchCharacters) {
    const detail = `must not have more than ${maxSearchCharacters} characters (including spaces) in the search list`;
    causes.push(invalidCause(`${path}.searches`, searches, detail));
  }
  for (const [index, search] of searches.entries()) {
    const name = search === '.' ? 'root' : search.replace(/\.$/, '');
    causes.push(...nameCauses(`${path}.searches[${index}]`, name, checkDns1123Subdomain));
  }
  for (const [index, { name }] of options.entries()) {
    if (!name) causes.push(requiredCause(`${path}.options[${index}]`, 'must not be empty'));
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
