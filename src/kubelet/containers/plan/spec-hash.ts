/**
 * Determines which containers must be replaced when a pod changes: those with another name or image, as in
 * Kubernetes (HashContainer).
 */
import type { Container } from '../../../api/core/v1/types.gen.ts';

/** Returns the FNV-1a hash of the fields of a container that cannot change under a running process. */
export function specHash(container: Pick<Container, 'name' | 'image'>): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(`${container.name}\0${container.image}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, '0');
}
