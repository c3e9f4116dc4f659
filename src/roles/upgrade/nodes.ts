/** Carries out `minik8s upgrade --nodes`: one node after the other, through the API. */
import { randomUUID } from 'node:crypto';
import { type UpgradeOrder, upgradeAnnotation } from '../../api/core/v1/node/upgrade.ts';
import { sleep } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { type ClusterOptions, ctl, lateText, pollMs, readJson, reportMs } from './cluster.ts';
import {
  failureText,
  isCordoned,
  type NodeFacts,
  type NodesPlan,
  planNodes,
  progressOf,
} from './nodes-plan.ts';

export interface NodesOptions extends ClusterOptions {
  readonly drains: boolean;
}

/** Architectures as Kubernetes names them, by Node's names. */
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Reads the cluster and resolves to the plan. */
export async function readNodesPlan(options: NodesOptions): Promise<NodesPlan> {
  const { version } = options.executable;
  const { items } = await readJson<{ readonly items: readonly NodeFacts[] }>(options, ['nodes']);
  const slice = await readJson<{ readonly subsets?: readonly Subset[] }>(options, [
    'endpoints',
    'kubernetes',
  ]);
  const masters = (slice.subsets ?? []).flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip));
  const architecture = architectures[process.arch] ?? process.arch;
  return planNodes(items, { version, architecture, masters });
}

interface Subset {
  readonly addresses?: readonly { readonly ip: string }[];
}

export function describeNodesPlan({ upgrades, current, byHand }: NodesPlan): readonly string[] {
  return [
    ...current.map((name) => `node ${name}: has this version`),
    ...byHand.map(({ name, why }) => `node ${name}: left out, it ${why}`),
    ...upgrades.map((name) => `node ${name}: upgrade`),
  ];
}

/** Upgrades the nodes of the plan. Stops at the first failure, with an error that says how to go on. */
export async function upgradeNodes(options: NodesOptions, { upgrades }: NodesPlan): Promise<void> {
  for (const [index, name] of upgrades.entries()) {
    options.say(`node ${name}: upgrading to ${options.executable.version}`);
    const state = { isCordoned: false };
    try {
      await upgradeNode(options, name, state);
    } catch (error) {
      const failed = { name, error: errorMessage(error), ...state };
      throw new Error(failureText(failed, upgrades.slice(0, index), upgrades.slice(index + 1)), {
        cause: error,
      });
    }
    options.say(`node ${name}: Ready with ${options.executable.version}`);
  }
}

async function upgradeNode(
  options: NodesOptions,
  name: string,
  state: { isCordoned: boolean },
): Promise<void> {
  const { executable, timeoutMs, drains } = options;
  const before = await readNode(options, name);
  if (before === undefined) throw new Error('its Node is gone');
  if (drains && !isCordoned(before)) {
    state.isCordoned = true;
    const limits = ['--ignore-daemonsets', '--delete-emptydir-data', `--timeout=${timeoutMs / 1000}s`];
    await ctl(options, ['drain', name, ...limits]);
  }
  const { version, sha256 } = executable;
  const order: UpgradeOrder = { id: randomUUID(), version, sha256, timeoutSeconds: timeoutMs / 1000 };
  const text = `${upgradeAnnotation}=${JSON.stringify(order)}`;
  await ctl(options, ['annotate', 'node', name, '--overwrite', text]);
  await untilDone(options, name, order);
  if (state.isCordoned) await ctl(options, ['uncordon', name]);
}

/** Rejects if the node reports a failure, or is not Ready with the version in time. */
async function untilDone(options: NodesOptions, name: string, order: UpgradeOrder): Promise<void> {
  const { timeoutMs, clock, signal } = options;
  // After the same time the node gives up and goes back to the earlier version; its report arrives before
  // this end.
  const end = clock.monotonic() + 2 * timeoutMs + reportMs;
  for (;;) {
    // The API server restarts with the node if both are of one process.
    const progress = progressOf(await readNode(options, name).catch(() => undefined), order);
    if (progress === 'done') return;
    if (progress !== 'waiting') throw new Error(progress.error);
    if (clock.monotonic() > end) throw new Error(lateText(`become Ready with ${order.version}`, timeoutMs));
    await sleep(clock, pollMs, signal);
  }
}

async function readNode(options: NodesOptions, name: string): Promise<NodeFacts | undefined> {
  const { items } = await readJson<{ readonly items: readonly NodeFacts[] }>(options, ['nodes']);
  return items.find(({ metadata }) => metadata.name === name);
}
