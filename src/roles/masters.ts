/** `minik8s masters`: the members of the embedded etcd, seen from the master of this machine. */
import { join } from 'node:path';
import { defineCommand } from 'citty';
import { systemClock } from '../base/clock.ts';
import { UsageError } from '../base/usage-error.ts';
import { TableWriter } from '../cli/printers/table-writer.ts';
import { readOwnMember } from '../masters/member-folder.ts';
import { knownMembers, onceHealthy, peerTlsOf } from '../masters/members.ts';
import { type KnownMember, planRemoval } from '../masters/plan/member-changes.ts';
import { type MembersRpc, openMembers } from '../storage/etcd-members.ts';
import { runningMember } from './backup/member.ts';
import { requireRoot } from './preflight.ts';
import { dataDirFlag, dataDirIn } from './settings/data-dir.ts';

const say = (text: string) => process.stdout.write(`${text}\n`);

/** Calls `work` with the members of the etcd that runs on this machine. */
async function withMembers(
  dataDir: string,
  work: (members: readonly KnownMember[], rpc: MembersRpc) => Promise<void>,
): Promise<void> {
  requireRoot();
  const running = await runningMember(dataDir);
  const rpc = openMembers(running.socket, systemClock);
  try {
    const membership = await rpc.list().catch((cause) => {
      throw new Error(
        'no majority of the masters answers: start the others; if they are lost, stop this one and run minik8s recover --from-this-master',
        { cause },
      );
    });
    const etcdDir = join(dataDir, 'etcd');
    const own = await readOwnMember(etcdDir);
    const tls = own && (await peerTlsOf(etcdDir, own, systemClock));
    await work(await knownMembers(membership, tls), rpc);
  } finally {
    rpc.close();
    running.close();
  }
}

const list = defineCommand({
  meta: { description: 'list the masters of the cluster, and whether their etcd answers' },
  ...{ examples: ['masters list # see which masters there are and which answer'] },
  args: dataDirFlag,
  async run({ args }) {
    await withMembers(dataDirIn(args), async (members) => {
      const heading = ['NAME', 'ID', 'STATE', 'ANSWERS', 'ADDRESS'];
      const lines = members.map(({ name, id, isLearner, answers, peerUrl }) => [
        ...[name || '<not started>', id, isLearner ? 'joining' : 'voter'],
        ...[answers ? 'yes' : 'no', peerUrl],
      ]);
      process.stdout.write(new TableWriter().format(lines, heading));
    });
  },
});

const remove = defineCommand({
  meta: { description: 'remove a master that is lost, or will not come back, from the cluster' },
  ...{ examples: ['masters remove m2 # remove a lost master'], forms: ['NAME'] },
  args: {
    ...dataDirFlag,
    name: { type: 'positional', required: false, description: 'name or id of the master' },
  },
  async run({ args }) {
    const { name } = args;
    if (typeof name !== 'string' || args._.length > 1)
      throw new UsageError(
        'minik8s masters remove: give the name of one master; minik8s masters list shows them',
      );
    await withMembers(dataDirIn(args), async (members, rpc) => {
      const plan = planRemoval(members, name);
      if (plan.kind === 'refuse') throw new Error(plan.why);
      await onceHealthy(systemClock, () => rpc.remove(plan.id));
      say(`master ${name} removed; its machine joins again with the line of minik8s token create --master`);
    });
  },
});

export const command = defineCommand({
  meta: { description: 'list and remove the masters of a cluster with an embedded etcd' },
  ...{ examples: ['masters list # see which masters there are and which answer'] },
  subCommands: { list, remove },
});
