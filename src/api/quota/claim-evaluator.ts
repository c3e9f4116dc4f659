/** Quota of claims and their storage, in total and by StorageClass (upstream: pvcEvaluator). Pure. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import {
  compareQuantities,
  type Quantity,
  roundUpToUnits,
  tryParseQuantity,
} from '../../apimachinery/quantity.ts';
import type { PersistentVolumeClaim } from '../core/v1/types.gen.ts';
import { className } from '../core/v1/volume/columns.ts';
import type { Evaluator } from './evaluator.ts';
import { one, plainEvaluator } from './plain-evaluator.ts';

const count = 'count/persistentvolumeclaims';
const [claims, storage] = ['persistentvolumeclaims', 'requests.storage'];
const ofClass = '.storageclass.storage.k8s.io/';

const endings = [claims, storage].map((name) => `${ofClass}${name}`);

export const claimEvaluator: Evaluator = {
  ...plainEvaluator,
  counts: (name) =>
    name === count || name === claims || name === storage || endings.some((ending) => name.endsWith(ending)),
  handles: (_, subresource) => subresource === '',
  usage: (object) => {
    const claim = object as KubeObject & PersistentVolumeClaim;
    const usage = new Map<string, Quantity>([
      [count, one],
      [claims, one],
    ]);
    const storageClass = className(claim);
    if (storageClass) usage.set(`${storageClass}${ofClass}${claims}`, one);
    const size = sizeOf(claim);
    if (!size) return usage;
    usage.set(storage, size);
    if (storageClass) usage.set(`${storageClass}${ofClass}${storage}`, size);
    return usage;
  },
};

/**
 * Returns the size in whole bytes. Storage that a failed expansion has allocated counts until it is released.
 */
function sizeOf({ spec, status }: PersistentVolumeClaim): Quantity | undefined {
  const asked = tryParseQuantity(spec.resources.requests?.storage ?? '');
  if (!asked) return undefined;
  const allocated = tryParseQuantity(status?.allocatedResources?.storage ?? '');
  return roundUpToUnits(allocated && compareQuantities(allocated, asked) > 0 ? allocated : asked);
}
