/** Conditions as samples: one for each status that a condition can have, 1 for the one that it has. Pure. */
import type { Labels, Sample } from '../../base/exposition.ts';
import { gauges, type ObjectFamily } from './family.ts';

export interface Told {
  readonly type?: string | undefined;
  readonly status?: string | undefined;
  readonly reason?: string | undefined;
}

const statuses = ['True', 'False', 'Unknown'];

/** `labels` come before the one that is called `label`, which says the status in small letters. */
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
  conditionsOf: (object: T) => readonly Told[] | undefined,
): ObjectFamily<T> =>
  gauges(name, help, (object) =>
    (conditionsOf(object) ?? []).flatMap(({ type = '', status }) =>
      statusSamples(status, 'status', { condition: type }),
    ),
  );

/** The status of the one condition of that type, once the object has it. */
export const statusOf = <T>(
  name: string,
  help: string,
  type: string,
  conditionsOf: (object: T) => readonly Told[] | undefined,
): ObjectFamily<T> =>
  gauges(name, help, (object) =>
    (conditionsOf(object) ?? [])
      .filter((condition) => condition.type === type)
      .flatMap(({ status }) => statusSamples(status, 'condition')),
  );
