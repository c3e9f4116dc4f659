/**
 * Lifecycle hooks that are stored with a container, so that it ends correctly when its pod is no longer
 * known.
 */
import type { Container } from '../../../api/core/v1/types.gen.ts';
import type { PreStop } from '../../runtime/container-config.ts';

/** Returns the preStop hook, with the ports that its handler may refer to by name. */
export function preStopOf({
  lifecycle,
  ports = [],
}: Pick<Container, 'lifecycle' | 'ports'>): PreStop | undefined {
  const handler = lifecycle?.preStop;
  return handler && { handler, ports: ports.filter(({ name }) => name) };
}
