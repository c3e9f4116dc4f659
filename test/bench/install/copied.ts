/** A machine that has only Docker: the time from the copy of the file until its node is Ready. */
import { systemExec } from '../../../src/os/exec.ts';
import { BareMachine } from '../../e2e/harness/bare-machine.ts';
import { executable } from '../../e2e/harness/cluster.ts';
import { Hosts } from '../../e2e/harness/hosts.ts';
import { etcdAlone } from '../etcd-alone.ts';
import { type Benchmark, median, type Row, timed } from '../report.ts';

const rounds = 3;

/** Copies the file, starts it on an empty directory, and ends when its node is Ready. */
const first = `cp ${executable} /var/tmp/minik8s
setsid /var/tmp/minik8s up >/var/log/minik8s.log 2>&1 </dev/null &
until grep -q '^minik8s is ready' /var/log/minik8s.log; do sleep 0.01; done`;
const check = 'minik8s ctl wait --for=condition=Ready node --all --timeout=0s';
/** Removes everything of the first start. */
const undo = `pid=$(cut -d' ' -f1 /var/lib/minik8s/minik8s.pid)
kill $pid
while [ -e /proc/$pid ]; do sleep 0.05; done
rm -rf /var/lib/minik8s/* /var/tmp/minik8s /var/log/minik8s.log /etc/minik8s`;

async function run(): Promise<readonly Row[]> {
  const cleanups: (() => Promise<void>)[] = [];
  try {
    const hosts = await Hosts.start({ after: (fn) => cleanups.push(fn) }, 1, { docker: false });
    const machine = await BareMachine.start('bench', hosts.at(0));
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      times.push(...(await timed(1, () => machine.run(first))));
      await machine.run(check);
      await machine.run(undo);
    }
    const copy = await timed(rounds, () => machine.run(`cp ${executable} /var/tmp/copy; rm /var/tmp/copy`));
    const etcd = await timed(rounds, etcdAlone);
    const version = await timed(rounds, () => systemExec(executable, ['version']));
    const floor = median(copy) + median(etcd) + median(version);
    return [
      {
        what: 'copy of the file → node Ready, on a machine with Docker',
        value: median(times),
        unit: 'ms',
        floor: { what: 'sum of the copy, the start of etcd alone, and minik8s version', value: floor },
        target: '< 5000',
        met: median(times) < 5000,
      },
    ];
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
}

export const copied: Benchmark = { name: 'copied', run };
