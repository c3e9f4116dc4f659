/** Which containers must be replaced when a pod changes: name and image, as in Kubernetes (HashContainer). */
import type { Container } from '../../../api/core/v1/types.gen.ts';

/** FNV-1a of the parts of a container that cannot change under a running process. */
export function specHash(container: Pick<Container, 'name' | 'image'>): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(`${container.name}\0${container.image}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, '0');
}
