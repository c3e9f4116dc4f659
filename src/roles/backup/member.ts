/** The member of etcd that a master on this machine runs. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { openRpc } from '../../storage/etcd.ts';
import { socketAddress } from '../../storage/etcd-process.ts';
import type { MemberRpc } from '../../storage/etcd-rpc.ts';

/** Timeout of the first answer in milliseconds. */
const answerMs = 5_000;

export interface BackedUpMember extends Pick<MemberRpc, 'snapshot'> {
  close(): void;
}

interface RunningMember extends BackedUpMember {
  readonly socket: string;
}

/** Connects to the embedded etcd of a data directory. Rejects with advice if none answers. */
export async function runningMember(dataDir: string): Promise<RunningMember> {
  const etcd = join(dataDir, 'etcd');
  const directory = await open(etcd).catch(() => {
    throw new Error(
      `there is no embedded etcd in ${dataDir}: give the --data-dir of the master; ${external}`,
    );
  });
  const socket = socketAddress(etcd, directory.fd);
  const rpc = await openRpc({
    endpoints: [`unix:${socket}`],
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  });
  const close = () => {
    rpc.close();
    void directory.close();
  };
  const [member] = rpc.members;
  try {
    if (!member) throw new Error('no endpoint');
    await member.status(answerMs);
  } catch (cause) {
    close();
    throw new Error(
      `the etcd of ${dataDir} does not answer: start minik8s, and run this again; ${external}`,
      {
        cause,
      },
    );
  }
  return { snapshot: () => member.snapshot(), socket, close };
}

const external = 'an external etcd has tools of its own';
