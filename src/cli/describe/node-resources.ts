/** The pods of a node, and the resources that they request from it. Pure. */
import { ageSince } from '../../apimachinery/age.ts';
import { type Amounts, addTo, readAmounts } from '../../apimachinery/amounts.ts';
import type { JsonObject } from '../../apimachinery/equality.ts';
import { formatQuantity, type Quantity } from '../../apimachinery/quantity.ts';
import { podAmounts } from '../../views/pod-amounts.ts';
import { metadataOf, recordAt } from '../objects/objects.ts';
import type { Found } from './describer.ts';
import { sorted } from './lines.ts';

export function nodeResourceLines(node: JsonObject, { items, refused }: Found, now: number): string[] {
  if (refused) return [`Pods:\t${refused}`];
  const capacity = recordAt(node, 'status', 'capacity');
  const allocatable = recordAt(node, 'status', 'allocatable');
  const whole = readAmounts(
    (Object.keys(allocatable).length > 0 ? allocatable : capacity) as Readonly<Record<string, string>>,
  );
  const pods = items.map((pod) => ({
    pod,
    requests: podAmounts(pod, 'requests'),
    limits: podAmounts(pod, 'limits'),
  }));
  const requests = new Map<string, Quantity>();
  const limits = new Map<string, Quantity>();
  for (const one of pods) {
    addTo(requests, one.requests);
    addTo(limits, one.limits);
  }
  return [
    `Non-terminated Pods:\t(${items.length} in total)`,
    '  Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge',
    '  ---------\t----\t\t------------\t----------\t---------------\t-------------\t---',
    ...pods.map((one) => podLine(one, whole, now)),
    'Allocated resources:',
    '  (Total limits may be over 100 percent, i.e., overcommitted.)',
    '  Resource\tRequests\tLimits',
    '  --------\t--------\t------',
    ...resourceNames(whole).map(
      (name) => `  ${name}\t${totalText(requests, whole, name)}\t${totalText(limits, whole, name)}`,
    ),
  ];
}

interface PodAmounts {
  readonly pod: JsonObject;
  readonly requests: Amounts;
  readonly limits: Amounts;
}

function podLine({ pod, requests, limits }: PodAmounts, whole: Amounts, now: number): string {
  const { namespace, name, creationTimestamp } = metadataOf(pod);
  const amounts = (['cpu', 'memory'] as const).flatMap((resource) =>
    [requests, limits].map((of) => shareText(of, whole, resource)),
  );
  return `  ${namespace}\t${name}\t\t${amounts.join('\t')}\t${ageSince(creationTimestamp, now)}`;
}

const amountText = (amounts: Amounts, name: string) => {
  const amount = amounts.get(name);
  return amount ? formatQuantity(amount) : '0';
};

/** Returns an amount with its share of the node, such as `100m (5%)`. */
function shareText(amounts: Amounts, whole: Amounts, name: string): string {
  const all = whole.get(name)?.nano ?? 0n;
  const share = all === 0n ? 0n : ((amounts.get(name)?.nano ?? 0n) * 100n) / all;
  return `${amountText(amounts, name)} (${share}%)`;
}

const standard = ['cpu', 'memory', 'ephemeral-storage'];
const hugePages = 'hugepages-';

const isExtended = (name: string) =>
  !standard.includes(name) && !name.startsWith(hugePages) && !['pods', 'storage'].includes(name);

/** Returns the resources in kubectl's order: standard ones, huge pages, then devices and others. */
const resourceNames = (whole: Amounts): string[] => {
  const names = sorted(whole.keys());
  return [...standard, ...names.filter((name) => name.startsWith(hugePages)), ...names.filter(isExtended)];
};

/**
 * Returns the total of a resource, with its share of the node unless it is an extended resource such as a
 * device.
 */
const totalText = (amounts: Amounts, whole: Amounts, name: string): string =>
  isExtended(name) ? amountText(amounts, name) : shareText(amounts, whole, name);
