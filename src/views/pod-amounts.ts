/** Total requests and limits of a pod. Pure. */
import { type Amounts, addTo, raiseTo, readAmounts } from '../apimachinery/amounts.ts';
import type { JsonObject } from '../apimachinery/equality.ts';
import { recordAt, recordsAt, textAt } from '../apimachinery/fields.ts';
import type { Quantity } from '../apimachinery/quantity.ts';

type Part = 'requests' | 'limits';

const amountsAt = (value: unknown, ...path: readonly string[]): Map<string, Quantity> =>
  readAmounts(recordAt(value, ...path) as Readonly<Record<string, string>>);

/**
 * Returns the amounts of a pod: those of its containers and sidecars together, or of the init container that
 * takes most, with the pod's overhead.
 */
export function podAmounts(pod: JsonObject, part: Part): Amounts {
  const total = new Map<string, Quantity>();
  for (const container of recordsAt(pod, 'spec', 'containers'))
    addTo(total, containerAmounts(pod, container, part));
  const sidecars = new Map<string, Quantity>();
  const most = new Map<string, Quantity>();
  for (const container of recordsAt(pod, 'spec', 'initContainers')) {
    const own = amountsAt(container, 'resources', part);
    if (container.restartPolicy === 'Always') {
      addTo(total, own);
      addTo(sidecars, own);
      raiseTo(most, sidecars);
    } else {
      addTo(own, sidecars);
      raiseTo(most, own);
    }
  }
  raiseTo(total, most);
  addOverhead(total, amountsAt(pod, 'spec', 'overhead'), part);
  return total;
}

/** Limits get the overhead only where there is a limit. */
function addOverhead(total: Map<string, Quantity>, overhead: Amounts, part: Part): void {
  const counted = [...overhead].filter(([name]) => part === 'requests' || (total.get(name)?.nano ?? 0n) > 0n);
  addTo(total, new Map(counted));
}

/** Returns a container's amounts; during a resize the larger of the wanted and the actual requests. */
function containerAmounts(pod: JsonObject, container: JsonObject, part: Part): Amounts {
  const wanted = amountsAt(container, 'resources', part);
  if (part === 'limits') return wanted;
  const status = recordsAt(pod, 'status', 'containerStatuses').find(({ name }) => name === container.name);
  const actual = amountsAt(status, 'resources', part);
  if (actual.size > 0 && textAt(pod, 'status', 'resize') === 'Infeasible') return actual;
  raiseTo(wanted, actual);
  return wanted;
}
