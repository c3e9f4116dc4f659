/** Validation of webhooks, mutating and validating (upstream: pkg/apis/admissionregistration/validation). */
import {
  duplicateCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import { checkDns1035Label, checkDns1123Subdomain, checkPortNumber } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validateLabelSelector } from '../../meta/v1/label-selector.ts';
import { lengthCauses } from './expressions/length.ts';
import { validateMatchConditions } from './match-conditions.ts';
import type { MutatingWebhook, ServiceReference, ValidatingWebhook } from './types.gen.ts';
import { validateRule } from './webhook-rules.ts';

export type Webhook = MutatingWebhook | ValidatingWebhook;

/** Versions of AdmissionReview that this server sends. */
export const reviewVersions = ['v1', 'v1beta1'] as const;

const safeOnDryRun = ['None', 'NoneOnDryRun'];
const urlForm = '; desired format: https://host[/path]';

/** Validates the webhooks of a configuration; their names are unique in it. */
export function validateWebhooks(webhooks: readonly Webhook[]): StatusCause[] {
  const expressions = webhooks.flatMap(({ matchConditions = [] }) =>
    matchConditions.map(({ expression }) => expression),
  );
  const tooLong = lengthCauses(expressions, 'webhooks');
  if (tooLong.length > 0) return tooLong;
  const names = new Set<string>();
  return webhooks.flatMap((webhook, index) => {
    const path = `webhooks[${index}]`;
    const causes = [
      ...validateWebhook(webhook, path),
      ...validateReviewVersions(webhook.admissionReviewVersions ?? [], `${path}.admissionReviewVersions`),
    ];
    if (webhook.name && names.has(webhook.name)) causes.push(duplicateCause(`${path}.name`, webhook.name));
    names.add(webhook.name ?? '');
    return causes;
  });
}

function validateWebhook(webhook: Webhook, path: string): StatusCause[] {
  const { name = '', rules = [], sideEffects, timeoutSeconds = 10 } = webhook;
  const { namespaceSelector, objectSelector, matchConditions = [] } = webhook;
  const causes = [
    ...validateQualifiedName(name, `${path}.name`),
    ...rules.flatMap((rule, index) => validateRule(rule, `${path}.rules[${index}]`)),
  ];
  if (!sideEffects)
    causes.push(requiredCause(`${path}.sideEffects`, `must specify one of ${safeOnDryRun.join(', ')}`));
  else if (!safeOnDryRun.includes(sideEffects))
    causes.push(notSupportedCause(`${path}.sideEffects`, sideEffects, safeOnDryRun));
  if (timeoutSeconds < 1 || timeoutSeconds > 30) {
    const why = 'the timeout value must be between 1 and 30 seconds';
    causes.push(invalidCause(`${path}.timeoutSeconds`, timeoutSeconds, why));
  }
  return [
    ...causes,
    ...(namespaceSelector ? validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`) : []),
    ...(objectSelector ? validateLabelSelector(objectSelector, `${path}.objectSelector`) : []),
    ...validateClient(webhook, `${path}.clientConfig`),
    ...validateMatchConditions(matchConditions, `${path}.matchConditions`),
  ];
}

function validateQualifiedName(name: string, path: string): StatusCause[] {
  if (name === '') return [requiredCause(path)];
  const problems = checkDns1123Subdomain(name);
  if (problems.length > 0) return [invalidCause(path, name, problems.join(','))];
  if (name.split('.').length >= 3) return [];
  return [invalidCause(path, name, 'should be a domain with at least three segments separated by dots')];
}

function validateReviewVersions(versions: readonly string[], path: string): StatusCause[] {
  const known: readonly string[] = reviewVersions;
  if (versions.length === 0) return [requiredCause(path, `must specify one of ${known.join(', ')}`)];
  const seen = new Set<string>();
  const causes = versions.flatMap((version, index) => {
    const at = `${path}[${index}]`;
    if (seen.has(version)) return [invalidCause(at, version, 'duplicate version')];
    seen.add(version);
    return checkDns1035Label(version).map((why) => invalidCause(at, version, why));
  });
  if (!versions.some((version) => known.includes(version)))
    causes.push(invalidCause(path, versions, `must include at least one of ${known.join(', ')}`));
  return causes;
}

function validateClient({ clientConfig }: Webhook, path: string): StatusCause[] {
  const { url, service } = clientConfig ?? {};
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
