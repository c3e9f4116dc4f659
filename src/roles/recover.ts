/** `minik8s recover`: makes a cluster of one master after the loss of the other masters. */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { defineCommand } from 'citty';
import { finishRecovery, ownStatus, type RecoveryOptions, recover } from '../backup/recovery.ts';
import { stopSignal } from '../base/abort.ts';
import { sleep, systemClock } from '../base/clock.ts';
import { UsageError } from '../base/usage-error.ts';
import { otherMembersOf, readOwnMember } from '../masters/member-folder.ts';
import { answers, type PeerTls, peerTlsOf } from '../masters/members.ts';
import { extractAsset } from '../os/assets.ts';
import { systemExec } from '../os/exec.ts';
import { flagHeadings } from '../settings/subjects.ts';
import { confirmed } from './confirmation.ts';
import { openDataDirectory } from './data-directory.ts';
import { etcdBinaryIn } from './master/inside-etcd.ts';
import { requireRoot } from './preflight.ts';
import { dataDirFlag, dataDirIn } from './settings/data-dir.ts';

const say = (text: string) => process.stdout.write(`${text}\n`);

export const command = defineCommand({
  meta: { description: 'make a cluster of this master alone, if the majority of the masters is lost' },
  ...{ examples: ['recover --from-this-master # on the master whose data are the newest'] },
  args: {
    ...dataDirFlag,
    'from-this-master': {
      type: 'boolean',
      ...{
        description: 'take the data of this master',
        usual: 'refuse',
        group: flagHeadings['from-this-master'],
      },
    },
    yes: {
      type: 'boolean',
      alias: 'y',
      ...{ description: 'do not ask', usual: 'ask', group: flagHeadings.yes },
    },
  },
  async run({ args }) {
    if (args['from-this-master'] !== true)
      throw new UsageError(
        'minik8s recover: give --from-this-master, on the master whose data are the newest, while minik8s is stopped there',
      );
    requireRoot();
    const dataDir = dataDirIn(args);
    // Checked before the lock, which would create the directory.
    if (!existsSync(dataDir)) throw new Error(`there is no ${dataDir}: name the --data-dir of the master`);
    const directory = await openDataDirectory(dataDir);
    try {
      await recoverFrom(dataDir, args.yes === true);
    } finally {
      await directory.release();
    }
  },
});

async function recoverFrom(dataDir: string, isAgreed: boolean): Promise<void> {
  const etcdDir = join(dataDir, 'etcd');
  if (await finishRecovery(etcdDir, systemClock.now())) return announce();
  await requireRecoverable(dataDir, etcdDir);
  const etcdBinary = etcdBinaryIn(dataDir);
  await extractAsset('etcd.zst', etcdBinary, 0o755);
  const options: RecoveryOptions = {
    ...{ etcdDir, etcdBinary, exec: systemExec, clock: systemClock },
    signal: stopSignal(),
  };
  await describe(options);
  if (!isAgreed && !(await isWanted())) throw new Error('nothing was changed');
  await recover(options);
  announce();
}

function announce(): void {
  say('this master is the only one now; its former data are kept in the folder etcd, as *.before-recover-*');
  say('start minik8s here, run minik8s token create --master, and its line on each of the other machines');
}

const isWanted = () =>
  confirmed(
    'Make a cluster of this master alone?',
    'recover asks for confirmation, but standard input is not a terminal; give --yes to go on',
  );

/** Rejects with one line if this master cannot continue alone, or if a recovery is not needed. */
async function requireRecoverable(dataDir: string, etcdDir: string): Promise<void> {
  const own = await readOwnMember(etcdDir);
  if (own === undefined)
    throw new Error(
      `${dataDir} does not belong to one of several masters: start minik8s, or restore a backup`,
    );
  if (!existsSync(join(dataDir, 'pki/ca.key')))
    throw new Error(
      `the master in ${dataDir} has never been ready: run this on another one, or restore a backup`,
    );
  const tls = await peerTlsOf(etcdDir, own, systemClock);
  for (const other of otherMembersOf(own)) {
    if (await goesOn(other.peerUrl, tls))
      throw new Error(
        `the master ${other.name} answers at ${other.peerUrl}: start minik8s here, or stop that one first if the two are no majority`,
      );
  }
}

/** The etcd of a master that was killed ends by itself within this time, in milliseconds. */
const [endMs, retryMs] = [10_000, 500];

/** Resolves to true if an etcd answers at the URL and still does after a while. */
async function goesOn(url: string, tls: PeerTls): Promise<boolean> {
  const deadline = systemClock.now() + endMs;
  while (await answers(url, tls)) {
    if (systemClock.now() >= deadline) return true;
    await sleep(systemClock, retryMs);
  }
  return false;
}

/** Prints what is lost. */
async function describe(options: RecoveryOptions): Promise<void> {
  const { etcdDir } = options;
  const { revision, keys } = await ownStatus(options);
  const { mtime } = await stat(join(etcdDir, 'data/member/snap/db'));
  const own = await readOwnMember(etcdDir);
  const others = own
    ? otherMembersOf(own)
        .map(({ name, peerUrl }) => `${name} (${peerUrl})`)
        .sort()
    : [];
  say(`this master has ${keys} keys at revision ${revision}, written last at ${mtime.toISOString()}`);
  say('lost: writes that the other masters have acknowledged, and this one has not received');
  say(`leaving the cluster: ${others.join(', ')}; never start them with their present data`);
}
