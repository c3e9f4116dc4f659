/** Samples of conditions: one for each possible status, with the value 1 for the current status. Pure. */
import type { Labels, Sample } from '../../base/metrics/exposition.ts';
import { gauges, type ObjectFamily } from './family.ts';

export interface AnyCondition {
  readonly type?: string | undefined;
  readonly status?: string | undefined;
  readonly reason?: string | undefined;
}

const statuses = ['True', 'False', 'Unknown'];

/** Returns the samples; `labels` come before the label named `label`, which has the status in lower case. */
export const statusSamples = (
  held: string | undefined,
  label: string,
  labels: Labels = {},
): readonly Sample[] =>
  statuses.map((status) => ({
    labels: { ...labels, [label]: status.toLowerCase() },
    value: Number(status === held),
  }));

/** All conditions of the object, by type and status. */
export const conditions = <T>(
  name: string,
  help: string,
  conditionsOf: (object: T) => readonly AnyCondition[] | undefined,
): ObjectFamily<T> =>
  gauges(name, help, (object) =>
    (conditionsOf(object) ?? []).flatMap(({ type = '', status }) =>
      statusSamples(status, 'status', { condition: type }),
    ),
  );

/** Status of the condition of one type, once the object has it. */
export const statusOf = <T>(
  name: string,
  help: string,
  type: string,
  conditionsOf: (object: T) => readonly AnyCondition[] | undefined,
): ObjectFamily<T> =>
  gauges(name, help, (object) =>
    (conditionsOf(object) ?? [])
      .filter((condition) => condition.type === type)
      .flatMap(({ status }) => statusSamples(status, 'condition')),
  );
