/** LimitRanges and ResourceQuotas. */
import { type LimitRange, limitRangeResource } from '../../../api/core/v1/limit-range.ts';
import { type ResourceQuota, resourceQuotaResource } from '../../../api/core/v1/resource-quota.ts';
import type { Labels } from '../../../base/metrics/exposition.ts';
import { gauges, objectMetrics } from '../family.ts';
import { created, namespaced } from '../metadata-families.ts';
import { unitsOf } from '../resource-units.ts';

const constraints = ['min', 'max', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const;

/** Returns a sample for each amount, labeled with its resource as written. */
const amountSamples = (amounts: Readonly<Record<string, string>> | undefined, labels: Labels) =>
  Object.entries(amounts ?? {}).flatMap(([resource, text]) => {
    const value = unitsOf(text);
    return value === undefined ? [] : [{ labels: { resource, ...labels }, value }];
  });

export const limitRanges = objectMetrics<LimitRange>({
  ref: limitRangeResource,
  labelsOf: namespaced('limitrange'),
  families: [
    gauges('kube_limitrange', 'Limits of the requests of containers, pods and claims.', ({ spec }) =>
      (spec?.limits ?? []).flatMap((limit) =>
        constraints.flatMap((constraint) =>
          amountSamples(limit[constraint], { type: limit.type, constraint }),
        ),
      ),
    ),
    created('kube_limitrange'),
  ],
});

export const resourceQuotas = objectMetrics<ResourceQuota>({
  ref: resourceQuotaResource,
  labelsOf: namespaced('resourcequota'),
  families: [
    gauges('kube_resourcequota', 'Hard limit and usage of each resource.', ({ status }) => [
      ...amountSamples(status?.hard, { type: 'hard' }),
      ...amountSamples(status?.used, { type: 'used' }),
    ]),
    created('kube_resourcequota'),
  ],
});
