/** `ctl describe` with and without its last line, in a namespace of 200 pods, in the server's process. */
import { ctlFor } from '../../fixtures/ctl.ts';
import { startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { type Benchmark, median, type Row, timed } from '../report.ts';

const runs = Number(process.env.BENCH_RUNS ?? 15);
const pods = '/api/v1/namespaces/default/pods';
const pod = (name: string) => ({
  metadata: { name, labels: { app: 'web' } },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'x:1' }] },
});
const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };

export const describedObjects: Benchmark = {
  name: 'described',
  run: async () => {
    const server = await startHttpsTestServer({});
    try {
      for (let number = 0; number < 200; number++) await server.call('POST', pods, pod(`web-${number}`));
      await server.call('PATCH', `${pods}/web-1/status`, { status: ready }, merge);
      const config = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
      const [withCause, without] = [ctlFor(config), ctlFor(config, { calledAs: 'kubectl' })];
      const rows: Row[] = [];
      for (const [what, name] of [
        ['a pod in its desired state', 'web-1'],
        ['a pod that is not in its desired state', 'web-2'],
      ] as const) {
        const args = ['describe', `pod/${name}`];
        const times: { plain: number[]; whole: number[] } = { plain: [], whole: [] };
        // The two alternate, so that other load of the machine affects both.
        for (let run = 0; run < runs; run++) {
          times.plain.push(...(await timed(1, () => without(args))));
          times.whole.push(...(await timed(1, () => withCause(args))));
        }
        const [floor, value] = [median(times.plain), median(times.whole)];
        const target = { target: '< 2× floor', met: value < 2 * floor };
        rows.push({
          ...{ what: `describe ${what}`, value, unit: 'ms' },
          floor: { what: 'without Why', value: floor },
          ...target,
        });
      }
      return rows;
    } finally {
      await server.stop();
    }
  },
};
