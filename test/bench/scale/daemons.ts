/** A DaemonSet over a thousand nodes. */
import { type DaemonSet, daemonSetResource } from '../../../src/api/apps/v1/daemon-set.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import type { Benchmark } from '../report.ts';
import { simulatedCluster, template, untilReady } from './simulated-cluster.ts';

const nodes = 1_000;
const labels = { app: 'agent' };
const daemonSet = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent', namespace: 'default' },
  spec: { selector: { matchLabels: labels }, template: template(labels) },
} as unknown as Draft<DaemonSet>;

export const daemons: Benchmark = {
  name: 'daemons',
  async run() {
    const cluster = await simulatedCluster(nodes);
    const { made, ready, cpu } = await untilReady(cluster, nodes, () =>
      cluster.client.resource(daemonSetResource).create(daemonSet),
    );
    await cluster.stop();
    const what = `a DaemonSet over ${nodes} simulated nodes:`;
    return [
      { what: `${what} every pod made`, value: made, unit: 'ms', target: '< 10,000', met: made < 10_000 },
      { what: `${what} every pod ready`, value: ready, unit: 'ms' },
      { what: `${what} processor time of all`, value: cpu, unit: 'ms' },
    ];
  },
};
