/**
 * A log of 100 MB: `ctl logs` beside `docker logs` of the same container, with a pod of a real cluster on an
 * engine of its own. The log passes the node agent and the API server, which are one process here.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { V1Pod } from '@kubernetes/client-node';
import { Cluster, executable } from '../../e2e/harness/cluster.ts';
import { Host } from '../../e2e/harness/host.ts';
import { helloImage } from '../../e2e/harness/images.ts';
import { programOf } from '../../e2e/harness/processes.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { median, type Row } from '../report.ts';
import { usageOf } from '../usage.ts';
import { type Times, timesOf } from './times.ts';

export const largeLogName = 'logs of 100 MB';

const megabytes = 100;
const line = 'a line of a log, as programs write them, with a number';

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web' },
  spec: {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'web',
        image: helloImage,
        command: ['sh', '-c', `yes "${line}" | head -c ${megabytes}000000; exec sleep 1d`],
      },
    ],
  },
};

interface LogTimes extends Times {
  /** Processor time in milliseconds of the client and of the servers that the log passes. */
  readonly all: number;
}

/** Returns the rows of the log, with medians of `runs` runs in which the two clients take turns. */
export async function largeLogRows(runs: number): Promise<readonly Row[]> {
  const cleanups: (() => Promise<void>)[] = [];
  try {
    const host = await Host.start({ after: (fn) => cleanups.push(fn) });
    const cluster = await Cluster.start(host, { host, flags: ['--container-log-max-size=1Gi'] });
    return await compare(host, cluster, runs);
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}

async function compare(host: Host, cluster: Cluster, runs: number): Promise<readonly Row[]> {
  const manifest = join(host.directory, 'pod.json');
  await writeFile(manifest, JSON.stringify(pod));
  await cluster.kubectl('apply', '-f', manifest);
  const container = await waitFor('the container', async () => {
    const { status } = await cluster.kubectl.json<V1Pod>('get', 'pod', 'web');
    return status?.containerStatuses?.[0]?.containerID?.replace('docker://', '') ?? false;
  });
  const docker = ['-H', `unix://${host.dockerSocket}`, 'logs', container];
  const top = () => host.docker('top', container);
  await waitFor('the whole log', async () => !/head|yes/.test(await top()), { timeoutMs: 120_000 });
  const engines = host.processes().filter((pid) => programOf(pid) === 'dockerd');
  const servers = [cluster.pid, ...engines];
  const environment = { PATH: process.env.PATH ?? '', HOME: host.directory, KUBECONFIG: cluster.kubeconfig };
  const measure = async (program: string, args: readonly string[]): Promise<LogTimes> => {
    const used = () => servers.reduce((sum, pid) => sum + usageOf(pid).cpu * 1000, 0);
    const before = used();
    const times = await timesOf(program, args, environment);
    return { ...times, all: times.processor + used() - before };
  };
  const ctl: LogTimes[] = [];
  const theirs: LogTimes[] = [];
  for (let run = 0; run <= runs; run++) {
    const ours = await measure(executable, ['ctl', 'logs', 'web']);
    const dockers = await measure('docker', docker);
    if (run === 0) continue;
    ctl.push(ours);
    theirs.push(dockers);
  }
  const row = (what: string, part: keyof LogTimes): Row => {
    const value = median(ctl.map((times) => times[part]));
    const floor = median(theirs.map((times) => times[part]));
    const target = { target: '≤ docker', met: value <= floor };
    return {
      what: `ctl ${largeLogName}, ${what}`,
      value,
      unit: 'ms',
      floor: { what: 'docker', value: floor },
      ...target,
    };
  };
  return [row('elapsed', 'elapsed'), row('processor', 'processor'), row('processor with servers', 'all')];
}
