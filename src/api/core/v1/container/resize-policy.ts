/** The effect of a resize on a container (upstream: validateResizePolicy). */
import {
  duplicateCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import type { ContainerResizePolicy } from '../types.gen.ts';

export const restartToResize = 'RestartContainer';
const policies = ['NotRequired', restartToResize];
const resources = ['cpu', 'memory'];

export function validateResizePolicy(
  list: readonly ContainerResizePolicy[],
  podRestartPolicy: string,
  path: string,
): StatusCause[] {
  const seen = new Set<string>();
  return list.flatMap(({ resourceName, restartPolicy }, index) => {
    const causes = seen.has(resourceName) ? [duplicateCause(`${path}[${index}]`, resourceName)] : [];
    seen.add(resourceName);
    causes.push(...oneOf(resourceName, resources, path), ...oneOf(restartPolicy, policies, path));
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      const why = "must be 'NotRequired' when `restartPolicy` is 'Never'";
      causes.push(invalidCause(path, restartPolicy, why));
    }
    return causes;
  });
}

function oneOf(value: string | undefined, known: readonly string[], path: string): StatusCause[] {
  if (!value) return [requiredCause(path)];
  return known.includes(value) ? [] : [notSupportedCause(path, value, known)];
}
