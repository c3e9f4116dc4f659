/** Rules of Dns. Accepted values are safe in a web server's configuration. */
import {
  duplicateCause,
  invalidCause,
  requiredCause,
  tooManyCause,
} from '../../../apimachinery/field-error.ts';
import { checkDns1035Label, checkDns1123Subdomain, nameCauses } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { isAddress } from '../../../base/addresses.ts';
import { withoutTrailing } from '../../../base/trailing.ts';
import type { Dns, DnsSpecPaths as DnsPath } from './types.gen.ts';

const maxPaths = 100;
const maxPathLength = 1024;

/** Normalizes paths: `/api/` means the same as `/api`, and is stored as `/api`. */
export function normalizePaths({ spec }: Dns): void {
  for (const entry of spec.paths) entry.path = withoutTrailing(entry.path, '/') || '/';
}

export function validateDns({ spec }: Dns): StatusCause[] {
  const { host, paths } = spec;
  const causes = validateHost(host);
  if (paths.length === 0) causes.push(requiredCause('spec.paths', 'must have at least one path'));
  if (paths.length > maxPaths) causes.push(tooManyCause('spec.paths', paths.length, maxPaths));
  const seen = new Set<string>();
  for (const [index, entry] of paths.entries()) {
    const at = `spec.paths[${index}]`;
    causes.push(...validatePath(entry, at));
    if (seen.has(entry.path)) causes.push(duplicateCause(`${at}.path`, entry.path));
    seen.add(entry.path);
  }
  return causes;
}

function validateHost(host: string): StatusCause[] {
  const causes = nameCauses('spec.host', host, checkDns1123Subdomain);
  if (causes.length > 0) return causes;
  if (isAddress(host)) return [invalidCause('spec.host', host, 'must be a name, not an address')];
  if (host === 'localhost') return [invalidCause('spec.host', host, 'must not be localhost')];
  if (host.split('.').some((label) => label.length > 63)) {
    return [invalidCause('spec.host', host, 'must have no more than 63 characters between two dots')];
  }
  return [];
}

function validatePath({ path, serviceName, servicePort }: DnsPath, at: string): StatusCause[] {
  const causes: StatusCause[] = [];
  if (!/^\/[A-Za-z0-9._~/-]*$/.test(path)) {
    const detail = "must begin with '/' and consist of letters, digits, '-', '.', '_', '~' and '/'";
    causes.push(invalidCause(`${at}.path`, path, detail));
  } else if (path.split('/').some((element) => element === '.' || element === '..') || path.includes('//')) {
    causes.push(invalidCause(`${at}.path`, path, "must not contain '//', '/./' or '/../'"));
  } else if (path.length > maxPathLength) {
    causes.push(invalidCause(`${at}.path`, path, `must have no more than ${maxPathLength} characters`));
  }
  causes.push(...nameCauses(`${at}.serviceName`, serviceName, checkDns1035Label));
  if (servicePort < 1 || servicePort > 65_535) {
    causes.push(invalidCause(`${at}.servicePort`, servicePort, 'must be between 1 and 65535, inclusive'));
  }
  return causes;
}
