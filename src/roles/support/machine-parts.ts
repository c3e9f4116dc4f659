/** Parts of a support bundle about the machine on which it is made. */
import { open, readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { version } from '../../base/version.ts';
import { dockerClient } from '../../docker/client.ts';
import type { Exec } from '../../os/exec.ts';
import { ifThere } from '../../os/if-there.ts';
import { holderOf } from '../data-directory.ts';
import { readRunRecord, recordName } from '../running/run-record.ts';
import type { BundlePart } from './bundle.ts';
import { leftOut } from './without-secrets.ts';

export interface MachineOptions {
  readonly exec: Exec;
  readonly dataDir: string;
  readonly dockerSocket: string;
  /** Paths of configuration files; files that do not exist are listed as missing. */
  readonly configFiles: readonly string[];
  readonly now: number;
}

/** Programs by the file that receives their output. */
const programs: Readonly<Record<string, readonly [string, ...string[]]>> = {
  disk: ['df', '-h'],
  inodes: ['df', '-i'],
  addresses: ['ip', 'address'],
  routes: ['ip', 'route', 'show', 'table', 'all'],
  iptables: ['iptables-save'],
  nft: ['nft', 'list', 'ruleset'],
  journal: ['journalctl', '--no-pager', '--lines=5000', '--unit=minik8s*'],
};

/** Maximum size of a log, in bytes. */
const endOfLog = 2 * 2 ** 20;

export function machineParts({
  exec,
  dataDir,
  dockerSocket,
  configFiles,
  now,
}: MachineOptions): BundlePart[] {
  const docker = dockerClient(dockerSocket);
  const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;
  const inDataDir = (name: string, read: (file: string) => Promise<string>) => {
    const file = join(dataDir, name);
    return required(file, read(file));
  };
  return [
    {
      name: 'about.txt',
      read: async () =>
        `minik8s ${version()}\nmade ${new Date(now).toISOString()}\nkernel ${release()}\nnode ${process.version}\n`,
    },
    { name: 'minik8s/command-line.txt', read: () => commandLine(dataDir) },
    { name: 'minik8s/run.json', read: () => inDataDir(recordName, (file) => readFile(file, 'utf8')) },
    { name: 'minik8s/minik8s.log', read: () => ownLog(dataDir) },
    { name: 'minik8s/etcd.log', read: () => inDataDir('etcd/etcd.log', endOf) },
    ...configFiles.map((file) => ({
      name: `minik8s/${file.split('/').at(-1)}`,
      read: () => required(file, readFile(file, 'utf8')),
    })),
    ...Object.entries(programs).map(([name, [file, ...args]]) => ({
      name: `machine/${name}.txt`,
      read: async (signal: AbortSignal) => (await exec(file, args, { signal })).stdout,
    })),
    ...['meminfo', 'loadavg', 'mounts', 'pressure/memory'].map((name) => ({
      name: `machine/${name.replace('/', '-')}.txt`,
      read: () => readFile(join('/proc', name), 'utf8'),
    })),
    { name: 'docker/info.json', read: async () => json(await docker.info()) },
    { name: 'docker/version.json', read: async () => json(await docker.version()) },
    {
      name: 'docker/containers.json',
      read: async () => {
        const containers = await docker.listContainers({ all: true });
        // One of minik8s' own labels contains the command of a lifecycle hook.
        return json(
          containers.map(({ Labels, Command, ...rest }) => ({
            ...rest,
            Labels: Object.keys(Labels),
            Command: leftOut,
          })),
        );
      },
    },
  ];
}

async function commandLine(dataDir: string): Promise<string> {
  const holder = holderOf(dataDir);
  if (holder === undefined) throw new Error(`minik8s does not run in ${dataDir}`);
  const words = (await readFile(`/proc/${holder}/cmdline`, 'utf8')).split('\0');
  return `${words.join(' ').trim()}\n`;
}

/**
 * Resolves to the end of the log of the last run, after the end of the file before the last rotation. A log
 * in the journal is a part of its own.
 */
async function ownLog(dataDir: string): Promise<string> {
  const record = await readRunRecord(dataDir);
  // bin/quickstart writes its log there.
  const log = record?.log ?? { kind: 'file', path: join(dataDir, 'up.log') };
  if (log.kind === 'journal') return `the log is in the journal of ${log.unit}\n`;
  if (log.kind === 'elsewhere') throw new Error(`the log goes to ${log.what}`);
  const former = await ifThere(endOf(`${log.path}.1`));
  return `${former ?? ''}${await required(log.path, endOf(log.path))}`;
}

/** Resolves to the text of a file that is being read; rejects with its name if it does not exist. */
async function required(file: string, reading: Promise<string>): Promise<string> {
  const text = await ifThere(reading);
  if (text === undefined) throw new Error(`${file} does not exist`);
  return text;
}

async function endOf(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(Math.min(size, endOfLog));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, size - bytes.length);
    const text = bytes.subarray(0, bytesRead).toString();
    // The rest of a cut line may be the rest of a secret.
    return size > endOfLog ? text.slice(text.indexOf('\n') + 1) : text;
  } finally {
    await handle.close();
  }
}
