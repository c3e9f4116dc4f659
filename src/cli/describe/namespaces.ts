/** Namespaces, quotas and limits. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';
import type { Describer, Found } from './describer.ts';
import { amountText, conditionLines, headLines, sorted, stringsAt } from './lines.ts';

export const namespace: Describer = {
  withoutEvents: true,
  needs(object) {
    const { name } = metadataOf(object);
    return {
      quotas: { apiVersion: 'v1', kind: 'ResourceQuota', namespace: name },
      limits: { apiVersion: 'v1', kind: 'LimitRange', namespace: name },
    };
  },
  lines: (object, related) => [
    ...headLines(object, { namespaced: false }),
    `Status:\t${textAt(object, 'status', 'phase')}`,
    ...conditionLines(object, [
      ['Type', 'type'],
      ['Status', 'status'],
      ['LastTransitionTime', 'lastTransitionTime'],
      ['Reason', 'reason'],
      ['Message', 'message'],
    ]),
    '',
    ...quotaLines(related('quotas')),
    '',
    ...limitLines(related('limits')),
  ],
};

function quotaLines({ items, refused }: Found): string[] {
  if (refused) return [`Resource Quotas:\t${refused}`];
  if (items.length === 0) return ['No resource quota.'];
  const byName = [...items].sort((a, b) => (metadataOf(a).name < metadataOf(b).name ? -1 : 1));
  return [
    'Resource Quotas',
    ...byName.flatMap((quota) => [
      `  Name:\t${metadataOf(quota).name}`,
      ...scopeLines(quota, '  ', '  * '),
      '  Resource\tUsed\tHard',
      '  --------\t---\t---',
      ...usageLines(quota, '  '),
    ]),
  ];
}

function limitLines({ items, refused }: Found): string[] {
  if (refused) return [`Resource Limits:\t${refused}`];
  if (items.length === 0) return ['No LimitRange resource.'];
  return [
    'Resource Limits',
    ` ${limitTitles}`,
    ` ${limitRules}`,
    ...items.flatMap((range) => rangeLines(range).map((line) => ` ${line}`)),
  ];
}

export const resourceQuota: Describer = {
  withoutEvents: true,
  lines: (object) => [
    `Name:\t${metadataOf(object).name}`,
    `Namespace:\t${metadataOf(object).namespace}`,
    ...scopeLines(object, '', ' * '),
    'Resource\tUsed\tHard',
    '--------\t----\t----',
    ...usageLines(object, ''),
  ],
};

function scopeLines(quota: JsonObject, indent: string, bullet: string): string[] {
  const scopes = sorted(stringsAt(quota, 'spec', 'scopes'));
  if (scopes.length === 0) return [];
  const texts = scopes.flatMap((scope) => scopeTexts[scope] ?? []);
  return [`${indent}Scopes:\t${scopes.join(', ')}`, ...texts.map((text) => `${bullet}${text}`)];
}

const scopeTexts: Readonly<Record<string, string>> = {
  Terminating: 'Counts pods with an active deadline.',
  NotTerminating: 'Counts pods without an active deadline.',
  BestEffort: 'Counts pods without any request or limit.',
  NotBestEffort: 'Counts pods with a request or a limit.',
};

function usageLines(quota: JsonObject, indent: string): string[] {
  const hard = recordAt(quota, 'status', 'hard');
  const used = recordAt(quota, 'status', 'used');
  return sorted(Object.keys(hard)).map(
    (name) => `${indent}${name}\t${amountText(used[name])}\t${amountText(hard[name])}`,
  );
}

const limitTitles = 'Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio';
const limitRules = '----\t--------\t---\t---\t---------------\t-------------\t-----------------------';

export const limitRange: Describer = {
  withoutEvents: true,
  lines: (object) => [
    `Name:\t${metadataOf(object).name}`,
    `Namespace:\t${metadataOf(object).namespace}`,
    limitTitles,
    limitRules,
    ...rangeLines(object),
  ],
};

const columns = ['min', 'max', 'defaultRequest', 'default', 'maxLimitRequestRatio'];

const rangeLines = (range: JsonObject): string[] =>
  recordsAt(range, 'spec', 'limits').flatMap((limit) => {
    const names = sorted(new Set(columns.flatMap((column) => Object.keys(recordAt(limit, column)))));
    return names.map((name) => {
      const amounts = columns.map((column) => {
        const amount = valueAt(limit, column, name);
        return amount === undefined ? '-' : amountText(amount);
      });
      return [textAt(limit, 'type'), name, ...amounts].join('\t');
    });
  });
