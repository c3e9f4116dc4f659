/** The init containers of a pod, which are not run yet: as much of them as its status and its requests need. */
import { isRecord } from '../../../apimachinery/equality.ts';
import type { Container, PodSpec } from './types.gen.ts';

export type InitContainer = Pick<Container, 'name' | 'image'> &
  Partial<Pick<Container, 'resources'>> & {
    /** Always: it runs beside the other containers. */
    readonly restartPolicy?: string;
  };

export function initContainersOf(spec: PodSpec): readonly InitContainer[] {
  const { initContainers } = spec as { readonly initContainers?: unknown };
  if (!Array.isArray(initContainers)) return [];
  return initContainers
    .filter(isRecord)
    .map((container) => ({ ...container, name: text(container.name), image: text(container.image) }));
}

export const isSidecar = ({ restartPolicy }: InitContainer) => restartPolicy === 'Always';

const text = (value: unknown) => (typeof value === 'string' ? value : '');
