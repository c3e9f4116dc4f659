/** Carries out `minik8s upgrade --nodes` on the other masters, one by one, by orders in their Leases. */
import { randomUUID } from 'node:crypto';
import { masterLabel } from '../../api/coordination/v1/master-lease.ts';
import { type UpgradeOrder, upgradeAnnotation } from '../../api/core/v1/node/upgrade.ts';
import { sleep } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { type ClusterOptions, ctl, lateText, ownAddresses, pollMs, readJson, reportMs } from './cluster.ts';
import {
  type LeaseFacts,
  type MastersPlan,
  masterFailure,
  masterProgress,
  planMasters,
} from './masters-plan.ts';

const namespace = ['-n', 'kube-system'];

/** Reads the masters and resolves to the plan. */
export async function readMastersPlan(options: ClusterOptions): Promise<MastersPlan> {
  const { version } = options.executable;
  return planMasters(await readLeases(options), { version, own: ownAddresses() });
}

export const describeMastersPlan = ({ upgrades, current, byHand }: MastersPlan): readonly string[] => [
  ...byHand.map(({ name, why }) => `master ${name}: ${why}`),
  ...current.map((name) => `master ${name}: has this version`),
  ...upgrades.map((name) => `master ${name}: upgrade`),
];

/** Upgrades the masters of the plan. Stops at the first failure, with an error that says how to go on. */
export async function upgradeMasters(options: ClusterOptions, { upgrades }: MastersPlan): Promise<void> {
  const { executable, say } = options;
  for (const [index, name] of upgrades.entries()) {
    say(`master ${name}: upgrading to ${executable.version}`);
    try {
      await upgradeMaster(options, name);
    } catch (error) {
      const [done, left] = [upgrades.slice(0, index), upgrades.slice(index + 1)];
      throw new Error(masterFailure({ name, error: errorMessage(error) }, done, left), { cause: error });
    }
    say(`master ${name}: serves with ${executable.version}`);
  }
}

async function upgradeMaster(options: ClusterOptions, name: string): Promise<void> {
  const { executable, timeoutMs, clock, signal } = options;
  const { version, sha256 } = executable;
  const order: UpgradeOrder = { id: randomUUID(), version, sha256, timeoutSeconds: timeoutMs / 1000 };
  const text = `${upgradeAnnotation}=${JSON.stringify(order)}`;
  await ctl(options, ['annotate', 'lease', name, ...namespace, '--overwrite', text]);
  // After the same time the master gives up and goes back to the earlier version; its report arrives before
  // this end.
  const end = clock.monotonic() + 2 * timeoutMs + reportMs;
  for (;;) {
    const leases = await readLeases(options).catch(() => []);
    const lease = leases.find(({ metadata }) => metadata.name === name);
    const progress = masterProgress(lease, order);
    if (progress === 'done') return;
    if (progress !== 'waiting') throw new Error(progress.error);
    if (clock.monotonic() > end) throw new Error(lateText(`serve with ${version}`, timeoutMs));
    await sleep(clock, pollMs, signal);
  }
}

async function readLeases(options: ClusterOptions): Promise<readonly LeaseFacts[]> {
  const asked = ['leases', ...namespace, '-l', masterLabel];
  return (await readJson<{ readonly items: readonly LeaseFacts[] }>(options, asked)).items;
}
