/** `minik8s reset`: removes everything minik8s made on this machine, and nothing else. */
import { existsSync } from 'node:fs';
import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { defineCommand } from 'citty';
import { restoringMark } from '../backup/restore.ts';
import { isScratch } from '../backup/scratch.ts';
import { systemClock } from '../base/clock.ts';
import { UsageError } from '../base/usage-error.ts';
import { removePluginSocket } from '../kubelet/devices/device-plugins.ts';
import { systemExec } from '../os/exec.ts';
import { removeTree } from '../os/remove-tree.ts';
import { isDraft } from '../os/replace-file.ts';
import { flagHeadings } from '../settings/subjects.ts';
import { holderOf } from './data-directory.ts';
import { requireDocker, requireRoot } from './preflight.ts';
import { isNodeSpelling, nodeConfigFile } from './settings/node-config.ts';
import { settingRows, settingTable } from './settings/setting-table.ts';
import { type ConfigFile, readSettings, settingArgs } from './settings/settings.ts';
import { removeNodeTraces } from './worker/node-traces.ts';
import { claimNode } from './worker/one-node.ts';
import { workerRuntime } from './worker/worker-options.ts';

const rows = settingRows('reset');
const masterConfigFile = '/etc/minik8s/master.yaml';
/** Entries of a data directory that minik8s creates; other entries are kept. */
const contents = [
  'pki',
  'etcd',
  'bin',
  'kubelet',
  'node',
  'admin.conf',
  'minik8s.pid',
  'up.log',
  restoringMark,
];

export const command = defineCommand({
  meta: { description: 'remove everything minik8s made on this machine' },
  args: {
    ...settingArgs(rows, `${masterConfigFile} or ${nodeConfigFile}`),
    yes: {
      type: 'boolean',
      alias: 'y',
      ...{ description: 'do not ask', group: flagHeadings.yes, usual: 'ask' },
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
    const holder = holderOf(path);
    if (holder !== undefined)
      throw new Error(`minik8s runs as process ${holder}; stop it first (kill ${holder})`);
    const keepsFiles = args['keep-data'] === true;
    if (!args.yes && !(await confirmed(path, keepsFiles))) throw new Error('nothing was removed');
    await requireDocker(settings['docker-socket']);
    // A running node's links and rules have the same names as those that are removed here.
    const release = await claimNode();
    const runtime = workerRuntime(settings, { clock: systemClock, exec: systemExec });
    const count = await removeNodeTraces({
      runtime,
      exec: systemExec,
      dataDir: path,
      dockerSocket: settings['docker-socket'],
      keepsFiles,
    });
    process.stdout.write(`removed ${count} containers\n`);
    const plugins = settings['device-plugin-dir'];
    if (plugins !== undefined) await removePluginSocket(plugins);
    if (!keepsFiles) await removeContents(path);
    await release();
  },
});

/**
 * The file of a master or a node has keys that reset does not use; unknown keys are rejected all the same.
 */
const ownSettings = (file: ConfigFile): ConfigFile =>
  Object.fromEntries(Object.entries(file).filter(([key]) => !isOthers(key)));

const isOthers = (key: string) =>
  !Object.hasOwn(rows, key) && (Object.hasOwn(settingTable, key) || isNodeSpelling(key));

async function confirmed(path: string, keepsFiles: boolean): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UsageError(
      'reset asks for confirmation, but standard input is not a terminal; give --yes to remove everything',
    );
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const what = keepsFiles
      ? `Remove the pods of the cluster in ${path}, and keep its data?`
      : `Remove the cluster in ${path}, its pods and all its data?`;
    const answer = await terminal.question(`${what} [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

/** Returns true for data that a restoration has moved aside: they hold keys. */
const isAside = (name: string) => /^(pki|etcd)\.before-restore-\d+$/.test(name);

async function removeContents(path: string): Promise<void> {
  let found: readonly string[];
  try {
    found = await readdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const ours = (name: string) => contents.includes(name) || isDraft(name) || isScratch(name) || isAside(name);
  for (const name of found.filter(ours)) await removeTree(join(path, name), systemExec);
  const left = found.filter((name) => !ours(name));
  if (left.length === 0) await removeDirectory(path);
  else process.stdout.write(`left in ${path}, because minik8s did not create it: ${left.join(', ')}\n`);
}

/** A directory that is a mount point cannot be removed; it is left empty. */
async function removeDirectory(path: string): Promise<void> {
  await rmdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EBUSY') throw error;
  });
}
