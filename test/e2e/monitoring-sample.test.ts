/** samples/monitoring and docs/monitoring.md, by the commands that they contain. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemExec } from '../../src/os/exec.ts';
import { unlessPrometheus } from '../fixtures/prometheus.ts';
import { commandsOf } from '../fixtures/sample-readme.ts';
import { Cluster } from './harness/cluster.ts';
import { Host } from './harness/host.ts';
import { helloImage } from './harness/images.ts';
import { carryOut, root } from './harness/readme-commands.ts';

test('monitoring works by the commands of docs/monitoring.md', {
  skip: unlessPrometheus,
}, async (context) => {
  await systemExec(join(root, 'bin/make-prometheus'), [], { timeoutMs: 120_000 });
  const host = await Host.start(context, { images: [helloImage, 'minik8s/prometheus:3'] });
  const cluster = await Cluster.start(context, { host });
  const { HOME = '/root', XDG_CACHE_HOME = join(HOME, '.cache') } = process.env;
  // Uses the Prometheus that was built before, and the host's own folder instead of the guide's.
  const env = { KUBECONFIG: cluster.kubeconfig, HOME: host.directory, XDG_CACHE_HOME };
  const place = { host, env };
  for (const file of ['samples/monitoring/README.md', 'docs/monitoring.md'])
    await context.test(file, () =>
      carryOut(
        place,
        commandsOf(readFileSync(join(root, file), 'utf8')).filter(
          ({ command }) => !command.startsWith('export '),
        ),
      ),
    );
});
