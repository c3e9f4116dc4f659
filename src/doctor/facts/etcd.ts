/** Reads the metrics of the embedded etcd. */
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '../../base/log.ts';
import { readEtcdMetrics } from '../../storage/etcd-metrics.ts';
import { socketAddress } from '../../storage/etcd-process.ts';
import type { EtcdFacts } from '../checks/etcd.ts';
import type { Sources } from './sources.ts';

/** Resolves to undefined if the data directory has no etcd. */
export async function readEtcd({ situation }: Sources): Promise<EtcdFacts | undefined> {
  const path = join(situation.dataDir, 'etcd');
  if (!existsSync(path)) return undefined;
  await using directory = await open(path);
  try {
    return { page: { text: await readEtcdMetrics(socketAddress(path, directory.fd)) } };
  } catch (error) {
    return { page: { problem: errorMessage(error) } };
  }
}
