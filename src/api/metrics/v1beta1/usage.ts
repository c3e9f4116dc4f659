/** Common parts of the two kinds of metrics.k8s.io (k8s.io/metrics/pkg/apis/metrics/v1beta1). */
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';
import type { TypeRules } from '../../../apimachinery/type-rules.ts';
import type { NodeMetricsUsage } from './types.gen.ts';

type Fields = DescribedTypes[string];

/** Fields of a usage. */
export const usageFields: Fields = {
  'cpu!:string': 'CPU over the window, such as 250000000n for a quarter of a CPU.',
  'memory!:string': 'Bytes of the working set: memory that cannot be reclaimed at once.',
};

export type Usage = NodeMetricsUsage;

export const measuredFields = (kind: string): Fields => ({
  'apiVersion:string': 'metrics.k8s.io/v1beta1.',
  'kind:string': `The kind of the object: ${kind}.`,
  'metadata:meta.v1.ObjectMeta': '',
  'timestamp!:string': 'Time of the measurement.',
  'window!:string': 'Time before the timestamp over which the use of CPU was measured.',
});

export const measuredRules = (kind: string): TypeRules => ({
  choices: { apiVersion: ['metrics.k8s.io/v1beta1'], kind: [kind] },
});

export const measured = {
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  shortNames: [],
  categories: [],
  strategy: { countsGenerations: false },
  hasStatus: false,
  isMeasured: true,
  selectableFields: {},
  deleteAnswers: 'status',
} as const;

export const windowColumn = {
  name: 'Window',
  type: 'string',
  description: 'Window of the measurement.',
  cell: ({ window }: { readonly window: string }) => window,
} as const;

/** Formats usage; `cpu` is in billionths of a CPU, `memory` in bytes. */
export const usageOf = ({ cpu, memory }: { readonly cpu: number; readonly memory: number }): Usage => ({
  cpu: `${Math.round(cpu)}n`,
  memory: `${Math.ceil(memory / 1024)}Ki`,
});
