/** Common parts of the two kinds of metrics.k8s.io (k8s.io/metrics/pkg/apis/metrics/v1beta1). */
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';
import type { TypeRules } from '../../../apimachinery/type-rules.ts';
import type { NodeMetricsUsage } from './types.gen.ts';

type Fields = DescribedTypes[string];

/** Fields of what was used. */
export const usageFields: Fields = {
  'cpu!:string': 'Processors, over the window, such as 250000000n for a quarter of one.',
  'memory!:string': 'Bytes of the working set: what could not be had back at once.',
};

export type Usage = NodeMetricsUsage;

export const measuredFields = (kind: string): Fields => ({
  'apiVersion:string': 'metrics.k8s.io/v1beta1.',
  'kind:string': `The kind of the object: ${kind}.`,
  'metadata:meta.v1.ObjectMeta': '',
  'timestamp!:string': 'When it was read.',
  'window!:string': 'The time before it over which the use of processors was measured.',
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
  description: 'Measured over it.',
  cell: ({ window }: { readonly window: string }) => window,
} as const;

/** Formats usage; `cpu` is in billionths of a CPU, `memory` in bytes. */
export const usageOf = ({ cpu, memory }: { readonly cpu: number; readonly memory: number }): Usage => ({
  cpu: `${Math.round(cpu)}n`,
  memory: `${Math.ceil(memory / 1024)}Ki`,
});
