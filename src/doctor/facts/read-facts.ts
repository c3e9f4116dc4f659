/** Reads the facts of this machine. Each subject is read on its own: one that fails is unknown. */
import { errorMessage } from '../../base/log.ts';
import type { Fact } from '../finding.ts';
import type { KnownFacts, MachineFacts } from '../machine.ts';
import { readAddresses } from './addresses.ts';
import { readCertificates } from './certificates.ts';
import { readCgroup } from './cgroup.ts';
import { readClock } from './clock.ts';
import { readDisk } from './disk.ts';
import { readDns } from './dns.ts';
import { readDocker } from './docker.ts';
import { readEtcd } from './etcd.ts';
import { readOwnFiles } from './files.ts';
import { readFirewall } from './firewall.ts';
import { readKernel } from './kernel.ts';
import { readParameters } from './kernel-parameters.ts';
import { readLinks } from './links.ts';
import { readPorts } from './ports.ts';
import { readServed } from './served.ts';
import type { Sources } from './sources.ts';

const readers: {
  readonly [K in keyof MachineFacts]: (sources: Sources) => Promise<MachineFacts[K] | undefined>;
} = {
  kernel: readKernel,
  cgroup: readCgroup,
  parameters: readParameters,
  docker: readDocker,
  firewall: readFirewall,
  ports: readPorts,
  served: readServed,
  links: readLinks,
  addresses: readAddresses,
  dns: readDns,
  clock: readClock,
  disk: readDisk,
  etcd: readEtcd,
  certificates: readCertificates,
  files: readOwnFiles,
};

/** Resolves to the facts; never rejects. A subject that this machine does not have is absent. */
export async function readFacts(sources: Sources): Promise<KnownFacts> {
  const found = await Promise.all(
    Object.entries(readers).map(async ([subject, read]) => [subject, await factOf(() => read(sources))]),
  );
  return Object.fromEntries(found.filter(([, fact]) => fact !== undefined));
}

async function factOf(read: () => Promise<unknown>): Promise<Fact<unknown> | undefined> {
  try {
    const value = await read();
    return value === undefined ? undefined : { value };
  } catch (error) {
    return { unknown: `${errorMessage(error)}${process.getuid?.() === 0 ? '' : rootNeeded}` };
  }
}

const rootNeeded = '; run it as root (sudo minik8s doctor)';
