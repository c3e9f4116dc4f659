/**
 * Validation of `spec.conversion`, in upstream's words, which name the webhook by its fields of an earlier
 * version: `spec.conversion.webhookClientConfig`. Pure.
 */
import {
  forbiddenCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import { checkDns1035Label } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { caBundleCauses, clientCauses } from '../../webhook-client.ts';
import { isDefinitionTrue } from './definition-conditions.ts';
import type { CustomResourceConversion, CustomResourceDefinition } from './types.gen.ts';

/** Versions of ConversionReview that this server sends. */
export const conversionReviewVersions = ['v1', 'v1beta1'] as const;
export type ConversionReviewVersion = (typeof conversionReviewVersions)[number];

const path = 'spec.conversion';
const clientPath = `${path}.webhookClientConfig`;
const versionsPath = `${path}.conversionReviewVersions`;

/** Returns the causes of a definition; `preserves` is true if it preserves unknown fields. */
export function conversionCauses(
  conversion: CustomResourceConversion | undefined,
  preserves: boolean,
): StatusCause[] {
  if (!conversion?.strategy) return [requiredCause(`${path}.strategy`)];
  const { strategy, webhook } = conversion;
  const causes: StatusCause[] = [];
  if (strategy !== 'None' && preserves)
    causes.push(
      invalidCause(`${path}.strategy`, strategy, 'must be None if spec.preserveUnknownFields is true'),
    );
  if (strategy === 'Webhook') return [...causes, ...webhookCauses(webhook)];
  if (strategy !== 'None') causes.push(notSupportedCause(`${path}.strategy`, strategy, ['None', 'Webhook']));
  const why = 'should not be set when strategy is not set to Webhook';
  if (webhook?.clientConfig) causes.push(forbiddenCause(clientPath, why));
  if (webhook && webhook.conversionReviewVersions.length > 0) causes.push(forbiddenCause(versionsPath, why));
  return causes;
}

function webhookCauses(webhook: CustomResourceConversion['webhook']): StatusCause[] {
  const { clientConfig, conversionReviewVersions: versions = [] } = webhook ?? {};
  return [
    ...(clientConfig
      ? clientCauses(clientConfig, clientPath)
      : [requiredCause(clientPath, 'required when strategy is set to Webhook')]),
    ...reviewVersionCauses(versions),
  ];
}

function reviewVersionCauses(versions: readonly string[]): StatusCause[] {
  if (versions.length === 0) return [requiredCause(versionsPath)];
  const known: readonly string[] = conversionReviewVersions;
  const seen = new Set<string>();
  const causes = versions.flatMap((version, index) => {
    const at = `${versionsPath}[${index}]`;
    if (seen.has(version)) return [invalidCause(at, version, 'duplicate version')];
    seen.add(version);
    return checkDns1035Label(version).map((why) => invalidCause(at, version, why));
  });
  if (!versions.some((version) => known.includes(version)))
    causes.push(invalidCause(versionsPath, versions, `must include at least one of ${known.join(', ')}`));
  return causes;
}

/**
 * Returns the causes of a changed caBundle. One that cannot be read is only rejected in a definition that is
 * established and had a readable one.
 */
export function changedBundleCauses(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition,
): StatusCause[] {
  if (!isDefinitionTrue(old, 'Established') || hasUnreadableBundle(old)) return [];
  return bundleCauses(definition);
}

/** Returns whether the webhook has a caBundle without certificates: then it cannot be called. */
export const hasUnreadableBundle = (definition: CustomResourceDefinition): boolean =>
  bundleCauses(definition).length > 0;

const bundleCauses = ({ spec: { conversion } }: CustomResourceDefinition) =>
  conversion?.strategy === 'Webhook'
    ? caBundleCauses(conversion.webhook?.clientConfig ?? {}, `${clientPath}.caBundle`)
    : [];
