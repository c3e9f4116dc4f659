/** `minik8s reset`: takes away everything minik8s made on this machine, and only that. */
import { readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { defineCommand } from 'citty';
import { systemClock } from '../base/clock.ts';
import { systemExec } from '../base/exec.ts';
import { UsageError } from '../base/usage-error.ts';
import { DockerRuntime } from '../kubelet/runtime/docker.ts';
import { cleanupNetwork } from '../network/pod-network.ts';
import { removeServiceRules } from '../proxy/proxier.ts';
import { holderOf } from './data-directory.ts';
import { requireDocker, requireRoot } from './preflight.ts';
import { readSettings, settingArgs } from './settings.ts';
import { ownerOf } from './worker.ts';

const names = ['data-dir', 'docker-socket'] as const;
const configFile = '/etc/minik8s/master.yaml';
/** What lies in a data directory; anything else in it is not ours and stays. */
const contents = ['pki', 'etcd', 'bin', 'kubelet', 'admin.conf', 'minik8s.pid', 'up.log'];

export const command = defineCommand({
  meta: { description: 'remove everything minik8s made on this machine' },
  args: {
    ...settingArgs(names, configFile),
    yes: { type: 'boolean', alias: 'y', description: 'do not ask' },
  },
  async run({ args }) {
    const settings = readSettings(names, { flags: args, environment: process.env, configFile });
    requireRoot();
    const path = settings['data-dir'];
    const holder = holderOf(path);
    if (holder !== undefined)
      throw new Error(`minik8s runs as process ${holder}; stop it first (kill ${holder})`);
    if (!args.yes && !(await confirmed(path))) throw new Error('nothing was removed');
    await requireDocker(settings['docker-socket']);
    await removeContainers(path, settings['docker-socket']);
    await removeServiceRules(systemExec);
    await cleanupNetwork(systemExec);
    await unmountBelow(path);
    await removeContents(path);
  },
});

async function confirmed(path: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UsageError('reset asks before it removes anything; give --yes to go ahead');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await terminal.question(
      `Remove the cluster in ${path}, its pods and all its data? [y/N] `,
    );
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

/** The pods' containers before their sandboxes, whose namespaces they use. */
async function removeContainers(dataDir: string, socketPath: string): Promise<void> {
  const runtime = new DockerRuntime({
    socketPath,
    owner: ownerOf(dataDir),
    pauseImage: '',
    initPath: '',
    clock: systemClock,
    exec: systemExec,
  });
  const all = await runtime.list();
  for (const kind of ['container', 'sandbox'] as const) {
    const ids = all.filter((object) => object.kind === kind).map(({ id }) => id);
    await Promise.all(ids.map((id) => runtime.remove(id)));
  }
  process.stdout.write(`removed ${all.length} containers\n`);
}

/** Volumes in memory are mounts; removing a directory would empty what is mounted there and then fail. */
async function unmountBelow(path: string): Promise<void> {
  const mounts = (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  for (const mount of mounts.filter((target) => target.startsWith(`${path}/`)).reverse()) {
    await systemExec('umount', [mount]);
  }
}

async function removeContents(path: string): Promise<void> {
  for (const name of contents) await rm(join(path, name), { recursive: true, force: true });
  let left: readonly string[];
  try {
    left = await readdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (left.length === 0) await rmdir(path);
  else process.stdout.write(`left in ${path}, as it is not minik8s': ${left.join(', ')}\n`);
}
