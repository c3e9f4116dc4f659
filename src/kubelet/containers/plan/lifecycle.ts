/** What a container carries of its lifecycle hooks, so that it ends as it should when nobody knows its pod any more. */
import type { Container } from '../../../api/core/v1/types.gen.ts';
import type { PreStop } from '../../runtime/runtime.ts';

/** With the ports that its handler may name. */
export function preStopOf({
  lifecycle,
  ports = [],
}: Pick<Container, 'lifecycle' | 'ports'>): PreStop | undefined {
  const handler = lifecycle?.preStop;
  return handler && { handler, ports: ports.filter(({ name }) => name) };
}
