/** Common parts of the two kinds of metrics.k8s.io (k8s.io/metrics/pkg/apis/metrics/v1beta1). */
import * as v from 'valibot';
import { objectMetaSchema, struct } from '../../../apimachinery/schema.ts';

const text = v.description<string, string>;

export const usageSchema = v.pipe(
  struct({
    cpu: v.pipe(v.string(), text('Processors, over the window, such as 250000000n for a quarter of one.')),
    memory: v.pipe(v.string(), text('Bytes of the working set: what could not be had back at once.')),
  }),
  v.description('What was used.'),
);

export type Usage = v.InferOutput<typeof usageSchema>;

export const measuredFields = <Kind extends string>(kind: Kind) => ({
  apiVersion: v.pipe(v.literal('metrics.k8s.io/v1beta1'), v.description('metrics.k8s.io/v1beta1.')),
  kind: v.pipe(v.literal(kind), v.description(`The kind of the object: ${kind}.`)),
  metadata: objectMetaSchema,
  timestamp: v.pipe(v.string(), text('When it was read.')),
  window: v.pipe(v.string(), text('The time before it over which the use of processors was measured.')),
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
