/** Rules of paths on the node's machine, in volumes of pods and of the cluster. */
import { invalidCause, requiredCause } from '../../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import type { Volume } from '../types.gen.ts';

export function validateHostPath({ hostPath }: Pick<Volume, 'hostPath'>, path: string): StatusCause[] {
  if (!hostPath) return [];
  if (!hostPath.path) return [requiredCause(`${path}.path`)];
  return backsteps(hostPath.path, `${path}.path`);
}

export const backsteps = (value: string, path: string) =>
  value.split('/').includes('..') ? [invalidCause(path, value, "must not contain '..'")] : [];
