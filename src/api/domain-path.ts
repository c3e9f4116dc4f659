/** Names of controllers, such as `example.com/controller` (upstream: IsDomainPrefixedPath). */
import { invalidCause, requiredCause } from '../apimachinery/field-error.ts';
import { checkDns1123Subdomain, nameCauses } from '../apimachinery/names.ts';
import type { StatusCause } from '../apimachinery/status-error.ts';

const urlPath = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

export function validateDomainPath(text: string, path: string): StatusCause[] {
  if (text === '') return [requiredCause(path)];
  const slash = text.indexOf('/');
  const [host, rest] = [text.slice(0, slash), text.slice(slash + 1)];
  if (slash < 1 || rest === '')
    return [invalidCause(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const causes = nameCauses(path, host, checkDns1123Subdomain);
  if (!urlPath.test(rest))
    causes.push(invalidCause(path, rest, `Invalid path (it has to match '${urlPath.source.slice(1, -1)}')`));
  return causes;
}
