import type { KubeObject } from '../../../apimachinery/meta.ts';
import { templateWarnings } from '../../core/v1/pod/warnings.ts';
import type { JobSpec } from './types.gen.ts';

const maxCompletions = 100_000;
const maxParallel = 10_000;

/**
 * Returns a function for the warnings of Jobs, or of objects that create Jobs: for a new object, and for a
 * changed one. `path` is the path of the Job's spec.
 */
export function specWarnings<T extends KubeObject>(specOf: (object: T) => JobSpec, path: string) {
  const ofTemplate = templateWarnings((object: T) => specOf(object).template, `${path}.template`);
  return (object: T, old: T | undefined): string[] => {
    const { completionMode, completions = 0, parallelism = 0 } = specOf(object);
    const isLarge = completionMode === 'Indexed' && completions > maxCompletions && parallelism > maxParallel;
    const same = old && object.metadata.generation === old.metadata.generation;
    return [...(isLarge && !same ? [`${path}: ${tooLarge}`] : []), ...ofTemplate(object, old)];
  };
}

/** Upstream's text, which tools compare. */
const tooLarge =
  'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
