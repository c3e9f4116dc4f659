/** Ports of containers: names, host ports in items of their own, and ports that Prometheus scrapes. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { Fields } from './fields.ts';
import { asName } from './workflows.ts';

/** Name of a port that Prometheus scrapes without an annotation (docs/monitoring.md). */
const metricsPort = 'metrics';

/**
 * Returns the ports of a container in Kubernetes' form; an item with only a hostPort belongs to the port
 * before it.
 */
export function containerPorts(container: Fields): JsonObject[] {
  const ports: JsonObject[] = [];
  for (const fields of container.items('ports')) {
    const last = ports.at(-1);
    if (!fields.has('containerPort') && fields.has('hostPort') && last && last.hostPort === undefined) {
      last.hostPort = fields.take('hostPort');
      fields.take('protocol');
      fields.note('hostPort', `becomes that of the port ${last.containerPort}`);
      continue;
    }
    const name = nameOf(fields, ports);
    ports.push({ ...(name !== undefined && { name }), ...fields.others() });
  }
  return ports;
}

function nameOf(fields: Fields, before: readonly JsonObject[]): string | undefined {
  const given = fields.text('name') || undefined;
  const metrics = fields.text('metrics');
  const name = given === undefined ? undefined : asName(given);
  if (name !== given) fields.note('name', `${given} becomes ${name}`, 'usual');
  if (metrics === undefined || metrics === '') return name;
  const isFree = !before.some((port) => port.name === metricsPort);
  if (!isFree || (name !== undefined && name !== metricsPort)) {
    fields.note(
      'metrics',
      'left out: annotate the pod with prometheus.io/scrape, prometheus.io/port and prometheus.io/path',
    );
    return name;
  }
  fields.note('metrics', `becomes the name ${metricsPort}, by which Prometheus finds the port`);
  return metricsPort;
}
