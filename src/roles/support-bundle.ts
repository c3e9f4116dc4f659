/** `minik8s support-bundle`: one archive of diagnostic data, without secrets. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { answerWithin } from '../base/answer-within.ts';
import type { Clock } from '../base/clock.ts';
import { errorMessage } from '../base/log.ts';
import { UsageError } from '../base/usage-error.ts';
import type { Cluster } from '../cli/connection/cluster.ts';
import { processIo } from '../cli/ctl.ts';
import { noFeatures } from '../cli/ctl-features.ts';
import type { FlagTable } from '../cli/flags/flags.ts';
import type { CtlIo, Verb } from '../cli/verb.ts';
import { type AnyCommand, toCommand } from '../cli/verb-command.ts';
import { systemExec } from '../os/exec.ts';
import { replaceFile } from '../os/replace-file.ts';
import { kubernetesFields } from './kubernetes-fields.ts';
import { machineFlags } from './settings/machine-flags.ts';
import { nodeConfigFile } from './settings/node-config.ts';
import { settingTable } from './settings/setting-table.ts';
import { type BundlePart, makeBundle } from './support/bundle.ts';
import { clusterParts, secretsOf } from './support/cluster-parts.ts';
import { machineParts } from './support/machine-parts.ts';
import { SecretFilter } from './support/without-secrets.ts';

/** Timeout of the reading of all Secrets, in milliseconds. */
const secretsMs = 30_000;

/** Rejects if the Secrets cannot be read in time. */
async function secretsWithin(clock: Clock, cluster: Cluster): Promise<string[]> {
  const secrets = await answerWithin(clock, secretsMs, secretsOf(cluster));
  if (secrets !== undefined) return secrets;
  throw new Error(`the API server gave no answer within ${secretsMs / 1000} s`);
}

const flagTable = {
  output: {
    type: 'string',
    short: 'o',
    hint: 'FILE',
    about: 'archive to write',
    usual: 'minik8s-support-TIME.tar.gz',
  },
  ...machineFlags,
} as const satisfies FlagTable;

/** Returns the path. Throws UsageError if its directory does not exist, before anything is collected. */
function writable(file: string): string {
  const directory = dirname(resolve(file));
  if (!existsSync(directory))
    throw new UsageError(`-o ${file}: there is no directory ${directory}; create it, or name another file`);
  return file;
}

const supportBundle: Verb = {
  about: 'collect diagnostic data in one archive, without secrets',
  flags: flagTable,
  examples: ['support-bundle # write an archive into this directory'],
  async run({ flags, io, cluster }) {
    if (flags.words.length > 0)
      throw new UsageError('minik8s support-bundle takes no words: -o FILE names the archive');
    const time = new Date(io.clock.now()).toISOString().replace(/[-:]|\.\d+/g, '');
    const folder = `minik8s-support-${time}`;
    const file = writable(flags.text('output') ?? `${folder}.tar.gz`);
    const dataDir = flags.text('data-dir') ?? settingTable['data-dir'].default;
    let secrets: string[] = [];
    let ofCluster: (filter: SecretFilter) => BundlePart[];
    try {
      secrets = await secretsWithin(io.clock, cluster());
      ofCluster = (filter) => clusterParts(cluster(), filter, io.clock);
    } catch (error) {
      // If the Secrets cannot be read, nothing of the cluster is included: their values could not be removed
      // from it.
      const reason = `the cluster's Secrets cannot be read, so nothing of it is here: ${errorMessage(error)}`;
      ofCluster = () => [{ name: 'cluster', read: () => Promise.reject(new Error(reason)) }];
    }
    const filter = new SecretFilter([...secrets, io.env.MINIK8S_TOKEN ?? '']);
    const parts = [
      ...machineParts({
        exec: systemExec,
        dataDir,
        dockerSocket: flags.text('docker-socket') ?? settingTable['docker-socket'].default,
        configFiles: [join('/etc/minik8s/master.yaml'), nodeConfigFile],
        now: io.clock.now(),
      }),
      ...ofCluster(filter),
    ];
    const { archive, missing } = await makeBundle(parts, { clock: io.clock, filter, folder });
    await replaceFile(file, archive, { mode: 0o600 });
    for (const line of missing) io.err(`not in the archive: ${line}\n`);
    io.out(`${file}\n`);
  },
};

export const supportBundleCommand = (io: CtlIo): AnyCommand => toCommand(supportBundle, io, 'support-bundle');

/** Returns the command for this process. Call it once. */
export const processCommand = (): AnyCommand =>
  supportBundleCommand(processIo({ kubernetesFields, features: noFeatures }));
