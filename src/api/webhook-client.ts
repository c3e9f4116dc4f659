/** Addresses of webhooks: a URL or a Service (upstream: apiserver/pkg/util/webhook). */
import { invalidCause, requiredCause } from '../apimachinery/field-error.ts';
import { checkDns1123Subdomain, checkPortNumber } from '../apimachinery/names.ts';
import type { StatusCause } from '../apimachinery/status-error.ts';

interface ServiceReference {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly port?: number | undefined;
}

export interface WebhookClient {
  readonly url?: string | undefined;
  readonly service?: ServiceReference | undefined;
  /** PEM in base64. */
  readonly caBundle?: string | undefined;
}

const urlForm = '; desired format: https://host[/path]';

/** Returns the problems of the address of a webhook. */
export function clientCauses({ url, service }: WebhookClient, path: string): StatusCause[] {
  if ((url === undefined) === (service === undefined))
    return [requiredCause(path, 'exactly one of url or service is required')];
  return service ? validateService(service, `${path}.service`) : validateUrl(url ?? '', `${path}.url`);
}

/** Reads `SCHEME://AUTHORITY/PATH?QUERY#FRAGMENT`, each part as it was written. */
const urlParts = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;

function validateUrl(url: string, path: string): StatusCause[] {
  const [, scheme = '', authority = '', , query = '', fragment = ''] = urlParts.exec(url) ?? [];
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  const causes: StatusCause[] = [];
  if (scheme.toLowerCase() !== 'https')
    causes.push(invalidCause(path, scheme, `'https' is the only allowed URL scheme${urlForm}`));
  if (host === '') causes.push(invalidCause(path, host, `host must be specified${urlForm}`));
  if (at >= 0)
    causes.push(invalidCause(path, authority.slice(0, at), 'user information is not permitted in the URL'));
  if (fragment) causes.push(invalidCause(path, fragment, 'fragments are not permitted in the URL'));
  if (query) causes.push(invalidCause(path, query, 'query parameters are not permitted in the URL'));
  if (causes.length === 0 && !URL.canParse(url))
    causes.push(requiredCause(path, `url must be a valid URL: parse ${JSON.stringify(url)}${urlForm}`));
  return causes;
}

function validateService({ name, namespace, path: at, port = 443 }: ServiceReference, path: string) {
  const causes: StatusCause[] = [];
  if (!name) causes.push(requiredCause(`${path}.name`, 'service name is required'));
  if (!namespace) causes.push(requiredCause(`${path}.namespace`, 'service namespace is required'));
  const problems = checkPortNumber(port);
  if (problems.length > 0)
    causes.push(invalidCause(`${path}.port`, port, `port is not valid: ${problems.join(', ')}`));
  return [...causes, ...validatePath(at ?? '', `${path}.path`)];
}

function validatePath(value: string, path: string): StatusCause[] {
  if (value === '' || value === '/') return [];
  if (value === '//') return [invalidCause(path, value, 'segment[0] may not be empty')];
  const causes = value.startsWith('/') ? [] : [invalidCause(path, value, "must start with a '/'")];
  const segments = value.slice(1).replace(/\/$/, '').split('/', maxSegments);
  const problems = segments.flatMap((segment, index) => {
    if (segment === '') return [`segment[${index}] may not be empty`];
    return checkDns1123Subdomain(segment).map((why) => `segment[${index}]: ${why}`);
  });
  if (segments.length === maxSegments) problems.push(`must have less than ${maxSegments} segments`);
  const shown = problems.slice(0, maxPathCauses);
  return [...causes, ...shown.map((why) => invalidCause(path, value, why))];
}

/** Maximum length of a valid path in segments; a URL of a webhook has a few. */
const maxSegments = 1000;
/** Maximum causes for one path, each of which repeats the path. */
const maxPathCauses = 20;

const certificateBlock = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/;

/** Returns the problems of a bundle of authorities. Its certificates themselves are read in a call. */
export function caBundleCauses({ caBundle = '' }: WebhookClient, path: string): StatusCause[] {
  if (caBundle === '' || certificateBlock.test(decoded(caBundle))) return [];
  const why = 'data does not contain any valid RSA or ECDSA certificates';
  return [invalidCause(path, caBundle, `unable to load root certificates: ${why}`)];
}

/** Returns '' for a text that is not base64. */
function decoded(base64: string): string {
  try {
    return atob(base64);
  } catch {
    return '';
  }
}
