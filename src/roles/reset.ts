/** `minik8s reset`: removes everything minik8s made on this machine, and nothing else. */
import { existsSync } from 'node:fs';
import { defineCommand } from 'citty';
import { systemClock } from '../base/clock.ts';
import { removePluginSocket } from '../kubelet/devices/device-plugins.ts';
import { systemExec } from '../os/exec.ts';
import { flagHeadings } from '../settings/subjects.ts';
import { confirmed } from './confirmation.ts';
import { holderOf } from './data-directory.ts';
import { removeHeldPorts } from './master/held-ports.ts';
import { requireDocker, requireRoot } from './preflight.ts';
import { entriesOf, hasOnlyStarted, isMasterAlone, removeContents } from './reset/data-contents.ts';
import { leaveMasters } from './reset/leave-masters.ts';
import type { ConfigFile } from './settings/config-file.ts';
import { isNodeSpelling, nodeConfigFile } from './settings/node-config.ts';
import { type Settings, settingRows, settingTable } from './settings/setting-table.ts';
import { readSettings, settingArgs } from './settings/settings.ts';
import { removeNodeTraces } from './worker/node-traces.ts';
import { claimNode } from './worker/one-node.ts';
import { workerRuntime } from './worker/worker-options.ts';

const rows = settingRows('reset');
const masterConfigFile = '/etc/minik8s/master.yaml';

export const command = defineCommand({
  meta: { description: 'remove everything minik8s made on this machine' },
  ...{
    examples: [
      'reset # ask, and remove the pods, the network and the data',
      'reset --yes --keep-data # do not ask, and keep the data',
    ],
  },
  args: {
    ...settingArgs(rows, `${masterConfigFile} or ${nodeConfigFile}`),
    yes: {
      type: 'boolean',
      alias: 'y',
      ...{ description: 'do not ask', group: flagHeadings.yes, usual: 'ask' },
    },
    force: {
      type: 'boolean',
      ...{
        description: 'remove a master although it cannot leave the other masters',
        group: flagHeadings.yes,
        usual: 'refuse',
      },
    },
    'keep-data': {
      type: 'boolean',
      ...{
        description: 'keep the data directory',
        group: flagHeadings['keep-data'],
        usual: 'remove it',
      },
    },
  },
  async run({ args }) {
    const configFile = existsSync(masterConfigFile) ? masterConfigFile : nodeConfigFile;
    const settings = readSettings(rows, {
      command: configFile === nodeConfigFile ? 'minik8s node' : 'minik8s master',
      flags: args,
      environment: process.env,
      configFile,
      translate: ownSettings,
    });
    requireRoot();
    const path = settings['data-dir'];
    requireStopped(path);
    const keepsFiles = args['keep-data'] === true;
    if (!args.yes && !(await isWanted(path, keepsFiles))) throw new Error('nothing was removed');
    if (!keepsFiles && !args.force) await leave(path);
    const files = async () => {
      if (!keepsFiles) await removeFiles(path);
    };
    const entries = await entriesOf(path);
    if (isMasterAlone(entries)) await files();
    else if (hasOnlyStarted(entries)) await whileNoNodeRuns(files);
    else await removeNode(settings, keepsFiles, files);
    await removeHeldPorts(systemExec);
  },
});

function requireStopped(path: string): void {
  const holder = holderOf(path);
  if (holder !== undefined)
    throw new Error(`minik8s runs as process ${holder}; stop it first (minik8s stop)`);
}

/** Leaves the other masters, if there are any. */
async function leave(path: string): Promise<void> {
  if (await leaveMasters(path, systemClock, '--force'))
    process.stdout.write('this master has left the other masters\n');
}

/** Does work while no node can start on this machine. Rejects if one runs. */
async function whileNoNodeRuns(work: () => Promise<void>): Promise<void> {
  const release = await claimNode();
  await work();
  await release();
}

type ResetSettings = Settings<keyof typeof rows>;

/** Removes the traces of a node, then does the rest while no other node can start. */
async function removeNode(
  settings: ResetSettings,
  keepsFiles: boolean,
  rest: () => Promise<void>,
): Promise<void> {
  const dockerSocket = settings['docker-socket'];
  await requireDocker(dockerSocket);
  // A running node's links and rules have the same names as those that are removed here.
  const release = await claimNode();
  const runtime = workerRuntime(settings, { clock: systemClock, exec: systemExec });
  const dataDir = settings['data-dir'];
  const count = await removeNodeTraces({ runtime, exec: systemExec, dataDir, dockerSocket, keepsFiles });
  process.stdout.write(`removed ${count} containers\n`);
  const plugins = settings['device-plugin-dir'];
  if (plugins !== undefined) await removePluginSocket(plugins);
  await rest();
  await release();
}

async function removeFiles(path: string): Promise<void> {
  const left = await removeContents(path, systemExec);
  if (left.length > 0)
    process.stdout.write(`left in ${path}, because minik8s did not create it: ${left.join(', ')}\n`);
}

/** Drops the keys of a master or a node that reset does not use. Unknown keys remain, and are rejected. */
const ownSettings = (file: ConfigFile): ConfigFile =>
  Object.fromEntries(Object.entries(file).filter(([key]) => !isOthers(key)));

const isOthers = (key: string) =>
  !Object.hasOwn(rows, key) && (Object.hasOwn(settingTable, key) || isNodeSpelling(key));
function isWanted(path: string, keepsFiles: boolean): Promise<boolean> {
  const question = keepsFiles
    ? `Remove the pods of the cluster in ${path}, and keep its data?`
    : `Remove the cluster in ${path}, its pods and all its data?`;
  return confirmed(
    question,
    'reset asks for confirmation, but standard input is not a terminal; give --yes to remove everything',
  );
}
