/** `minik8s upgrade`: replaces the installed file by another version, here and on the nodes. */
import { resolve } from 'node:path';
import { defineCommand } from 'citty';
import { stopSignal } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { UsageError } from '../base/usage-error.ts';
import { executablePath } from '../installation/plan/install-plan.ts';
import type { Installed } from '../installation/plan/installed.ts';
import { type Executable, hasControlPlane } from '../installation/plan/upgrade-plan.ts';
import { examine, keptPath } from '../installation/upgrade.ts';
import { systemExec } from '../os/exec.ts';
import { duration } from '../settings/duration.ts';
import { flagHeadings } from '../settings/subjects.ts';
import { claimInstallation } from './install/one-installation.ts';
import { addSystemPrograms } from './install/system-programs.ts';
import { requireRoot } from './preflight.ts';
import { confirm, type HereOptions, requireInstalled, upgradeHere } from './upgrade/here.ts';
import { describeMastersPlan, readMastersPlan, upgradeMasters } from './upgrade/masters.ts';
import { describeNodesPlan, type NodesOptions, readNodesPlan, upgradeNodes } from './upgrade/nodes.ts';
import { lowerStoredData } from './upgrade/stored-data.ts';

const shown = (name: keyof typeof flagHeadings, description: string, usual: string) => ({
  description,
  usual,
  group: flagHeadings[name],
});

const usualTimeout = '5m';

const args = {
  file: {
    type: 'string',
    valueHint: 'FILE',
    ...shown('file', 'file of minik8s to install', 'the installed one'),
  },
  back: { type: 'boolean', ...shown('back', 'install the file that was installed before', 'install --file') },
  sha256: {
    type: 'string',
    valueHint: 'DIGEST',
    ...shown('sha256', 'SHA-256 digest that the file must have', 'any'),
  },
  'allow-downgrade': {
    type: 'boolean',
    ...shown('allow-downgrade', 'install an older version too', 'refuse'),
  },
  backup: { type: 'boolean', default: true, ...shown('backup', 'create a backup first', 'on') },
  timeout: {
    type: 'string',
    valueHint: 'DURATION',
    ...shown('timeout', 'time for the service, and for each node, to be ready', usualTimeout),
  },
  'data-format': {
    type: 'string',
    valueHint: 'FORMAT',
    ...shown('data-format', 'only convert the data of a stopped master back to this format', 'none'),
  },
  nodes: {
    type: 'boolean',
    ...shown(
      'nodes',
      'upgrade the other masters and the nodes after this machine, one by one',
      'only this one',
    ),
  },
  drain: {
    type: 'boolean',
    ...shown('drain', 'drain each node before its upgrade', 'its pods keep running'),
  },
  'dry-run': { type: 'boolean', ...shown('dry-run', 'print what would be done, and do nothing', 'do it') },
  yes: { type: 'boolean', alias: 'y', ...shown('yes', 'do not ask', 'ask') },
} as const;

const say = (text: string) => process.stdout.write(`${text}\n`);

export const command = defineCommand({
  meta: { description: 'install another version of minik8s, and restart the service with it' },
  ...{
    examples: [
      'upgrade --file ./minik8s # install that file, and restart the service',
      'upgrade --file ./minik8s --sha256 DIGEST # install it only if it has this digest',
      'upgrade --back # go back to the previous version',
    ],
  },
  args,
  async run({ args: given }) {
    requireRoot();
    addSystemPrograms(process.env);
    const signal = stopSignal();
    if (given['data-format'] !== undefined)
      return lowerStoredData(formatOf(given['data-format']), (line) => say(line), signal);
    await upgrade(optionsOf(given), { nodes: given.nodes === true, drains: given.drain === true }, signal);
  },
});

interface Given {
  readonly file?: string | undefined;
  readonly back?: boolean | undefined;
  readonly sha256?: string | undefined;
  readonly 'allow-downgrade'?: boolean | undefined;
  readonly backup?: boolean | undefined;
  readonly timeout?: string | undefined;
  readonly 'dry-run'?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

type Options = Omit<HereOptions, 'path'> & { readonly path: string | undefined };

const optionsOf = (given: Given): Options => ({
  path: pathOf(given.file, given.back === true),
  digest: given.sha256,
  allowsDowngrade: given.back === true || given['allow-downgrade'] === true,
  backsUp: given.backup !== false,
  timeoutMs: timeoutOf(given.timeout ?? usualTimeout),
  dryRun: given['dry-run'] === true,
  yes: given.yes === true,
});

interface Nodes {
  readonly nodes: boolean;
  readonly drains: boolean;
}

/** Upgrades this machine if a file is given, and then the nodes if that is requested. */
async function upgrade(options: Options, wanted: Nodes, signal: AbortSignal): Promise<void> {
  const { path } = options;
  requireValidFlags(path, wanted);
  // Only until this machine is upgraded: other machines have locks of their own.
  const release = path === undefined ? undefined : await claimInstallation();
  let installed: Installed;
  let executable: Executable;
  try {
    installed = await requireInstalled();
    if (wanted.nodes && !hasControlPlane(installed.role))
      throw new UsageError('--nodes: this machine is a node; run it on a master');
    executable =
      path === undefined
        ? await examine(systemExec, executablePath)
        : await upgradeHere(installed, { ...options, path });
  } finally {
    await release?.();
  }
  if (!wanted.nodes) return;
  const { timeoutMs } = options;
  const kubeconfig = `${installed.dataDir}/admin.conf`;
  const context = { exec: systemExec, clock: systemClock, signal, say };
  await upgradeAll(options, { ...context, kubeconfig, executable, timeoutMs, drains: wanted.drains });
}

/** Throws UsageError for flags that do not fit together. */
function requireValidFlags(path: string | undefined, { nodes, drains }: Nodes): void {
  if (drains && !nodes) throw new UsageError('--drain needs --nodes');
  if (path === undefined && !nodes)
    throw new UsageError(
      'give the file of the new version (--file FILE), or --back for the previous version',
    );
}

/** Upgrades the other masters, and then the nodes: a node is never ahead of a master. */
async function upgradeAll({ path, dryRun, yes }: Options, cluster: NodesOptions): Promise<void> {
  const masters = await readMastersPlan(cluster);
  for (const line of describeMastersPlan(masters)) say(line);
  const first = await readNodesPlan(cluster);
  for (const line of describeNodesPlan(first)) say(line);
  if (dryRun || masters.upgrades.length + first.upgrades.length === 0) return;
  const [unreached] = masters.byHand;
  if (unreached)
    throw new Error(
      `masters come before nodes, and ${unreached.name} cannot be upgraded from here: ${unreached.why}`,
    );
  if (path === undefined && !yes) await confirm();
  await upgradeMasters(cluster, masters);
  // The nodes on the machines of these masters have the version now.
  await upgradeNodes(cluster, masters.upgrades.length > 0 ? await readNodesPlan(cluster) : first);
}

function formatOf(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new UsageError(`--data-format: expected a number, not "${text}"`);
}

function timeoutOf(text: string): number {
  try {
    return duration('1s', '1h')(text);
  } catch (error) {
    throw new UsageError(`--timeout: ${(error as Error).message}`);
  }
}

function pathOf(file: string | undefined, back: boolean): string | undefined {
  if (back && file !== undefined) throw new UsageError('--back and --file exclude each other: give one');
  if (back) return keptPath;
  return file === undefined ? undefined : resolve(file);
}
