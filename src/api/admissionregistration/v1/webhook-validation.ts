/** Validation of webhooks, mutating and validating (upstream: pkg/apis/admissionregistration/validation). */
import {
  duplicateCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import { checkDns1035Label, checkDns1123Subdomain } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validateLabelSelector } from '../../meta/v1/label-selector.ts';
import { clientCauses } from '../../webhook-client.ts';
import { lengthCauses } from './expressions/length.ts';
import { validateMatchConditions } from './match-conditions.ts';
import type { MutatingWebhook, ValidatingWebhook } from './types.gen.ts';
import { validateRule } from './webhook-rules.ts';

export type Webhook = MutatingWebhook | ValidatingWebhook;

/** Versions of AdmissionReview that this server sends. */
export const reviewVersions = ['v1', 'v1beta1'] as const;

const safeOnDryRun = ['None', 'NoneOnDryRun'];

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
    ...clientCauses(webhook.clientConfig ?? {}, `${path}.clientConfig`),
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
