/** `minik8s backup`: backups of a cluster whose etcd is the embedded one of this machine. */
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { defineCommand } from 'citty';
import { createBackup } from '../backup/create.ts';
import { BackupError, readFileName } from '../backup/manifest.ts';
import { readPassphrase } from '../backup/passphrase.ts';
import { restoreBackup } from '../backup/restore.ts';
import { verifyBackup } from '../backup/verify.ts';
import { systemClock } from '../base/clock.ts';
import { silentLogger } from '../base/log.ts';
import { systemRandom } from '../base/random.ts';
import { configFileOf } from '../installation/plan/role.ts';
import { extractAsset } from '../os/assets.ts';
import { systemExec } from '../os/exec.ts';
import { flagHeadings } from '../settings/subjects.ts';
import { decodeObject } from '../storage/codec.ts';
import { runningMember } from './backup/member.ts';
import { openDataDirectory } from './data-directory.ts';
import { etcdBinaryIn } from './master/storage.ts';
import { requireRoot } from './preflight.ts';
import { settingTable } from './settings/setting-table.ts';
import { readSettings, settingArgs } from './settings/settings.ts';

const defaultDirectory = settingTable['backup-dir'].default;
const group = { group: flagHeadings.dir };

const directoryFlag = {
  dir: {
    type: 'string',
    valueHint: 'DIRECTORY',
    ...{ description: 'directory of the backups', usual: defaultDirectory, ...group },
  },
} as const;

const passphraseFlag = {
  'passphrase-file': {
    type: 'string',
    valueHint: 'FILE',
    ...{ description: 'file whose first line is the passphrase', usual: 'none', ...group },
  },
} as const;

const rows = { 'data-dir': settingTable['data-dir'] } as const;
const dataFlags = settingArgs(rows, configFileOf.master);

const say = (text: string) => process.stdout.write(`${text}\n`);

type Args = Readonly<Record<string, unknown>>;

const textIn = (args: Args, name: string): string | undefined =>
  typeof args[name] === 'string' ? args[name] : undefined;

/** Returns the data directory: the other keys of the master's file are not read. */
function dataDirOf(args: Args): string {
  const settings = readSettings(rows, {
    command: 'minik8s master',
    flags: args,
    environment: process.env,
    configFile: configFileOf.master,
    translate: (file) => Object.fromEntries(Object.entries(file).filter(([key]) => Object.hasOwn(rows, key))),
  });
  return settings['data-dir'];
}

async function passphraseOf(args: Args): Promise<string | undefined> {
  const path = textIn(args, 'passphrase-file');
  return path === undefined ? undefined : readPassphrase(path, '--passphrase-file');
}

/** Extracts the etcd inside, which checks and restores databases. */
async function etcdIn(directory: string): Promise<string> {
  const binary = etcdBinaryIn(directory);
  await extractAsset('etcd', binary, 0o755);
  return binary;
}

const create = defineCommand({
  meta: { description: 'create a backup of the cluster: its objects, authority, keys and configuration' },
  args: { ...dataFlags, ...directoryFlag, ...passphraseFlag },
  async run({ args }) {
    requireRoot();
    const dataDir = dataDirOf(args);
    const passphrase = await passphraseOf(args);
    const member = await runningMember(dataDir);
    try {
      const { path, size, manifest } = await createBackup({
        dataDir,
        configFiles: [configFileOf.master],
        directory: textIn(args, 'dir') ?? defaultDirectory,
        passphrase,
        member,
        etcdBinary: await etcdIn(dataDir),
        exec: systemExec,
        now: systemClock.now(),
      });
      say(`${path}: ${manifest.keys} keys at revision ${manifest.revision}, ${megabytes(size)}`);
      if (passphrase === undefined)
        process.stderr.write(
          'Warning: the backup holds the keys of the cluster and is not encrypted: keep it as safe as them, or give --passphrase-file\n',
        );
    } finally {
      member.close();
    }
  },
});

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

const list = defineCommand({
  meta: { description: 'list the backups of a directory' },
  args: directoryFlag,
  async run({ args }) {
    const directory = args.dir ?? defaultDirectory;
    const found = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const backups = found.sort().flatMap((name) => {
      const about = readFileName(name);
      return about ? [{ path: join(directory, name), ...about }] : [];
    });
    if (backups.length === 0) {
      process.stderr.write(`no backups in ${directory}\n`);
      return;
    }
    const row = (cells: readonly string[]) =>
      say(
        cells
          .map((cell, index) => cell.padEnd([22, 10, 11][index] ?? 0))
          .join('')
          .trimEnd(),
      );
    row(['CREATED', 'SIZE', 'ENCRYPTED', 'FILE']);
    for (const { path, created, isEncrypted } of backups)
      row([created, megabytes((await stat(path)).size), isEncrypted ? 'yes' : 'no', path]);
  },
});

const fileWord = { file: { type: 'positional', required: true, description: 'file of the backup' } } as const;

const verify = defineCommand({
  meta: { description: 'verify a backup: restore it into an etcd of its own, and read every object' },
  args: { ...fileWord, ...dataFlags, ...passphraseFlag },
  async run({ args }) {
    const path = await existing(args.file);
    const { manifest, keys, bytes } = await verifyBackup({
      path,
      passphrase: await passphraseOf(args),
      etcdBinary: await etcdIn(dataDirOf(args)),
      exec: systemExec,
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
      check: (key, value) => {
        if (key.startsWith('/registry/')) decodeObject(value);
      },
      signal: new AbortController().signal,
    });
    say(
      `${path} is whole: ${keys} keys (${megabytes(bytes)}) at revision ${manifest.revision}, ` +
        `made at ${manifest.created} on ${manifest.host} by minik8s ${manifest.minik8s}`,
    );
  },
});

const restore = defineCommand({
  meta: { description: 'restore a backup into the data directory of this machine; minik8s must not run' },
  args: {
    ...fileWord,
    ...dataFlags,
    ...passphraseFlag,
    replace: {
      type: 'boolean',
      ...{ description: 'move a cluster that is there already aside', usual: 'refuse', ...group },
    },
  },
  async run({ args }) {
    requireRoot();
    const path = await existing(args.file);
    const dataDir = dataDirOf(args);
    const directory = await openDataDirectory(dataDir);
    try {
      const { manifest, movedTo, configWritten, configKept } = await restoreBackup({
        path,
        passphrase: await passphraseOf(args),
        dataDir,
        configDirectory: '/etc/minik8s',
        replaces: args.replace === true,
        etcdBinary: await etcdIn(dataDir),
        exec: systemExec,
        now: systemClock.now(),
      });
      say(`restored into ${dataDir}: ${manifest.keys} keys, as they were at ${manifest.created}`);
      for (const moved of movedTo) say(`moved aside: ${moved}`);
      for (const file of configWritten) say(`written: ${file}`);
      for (const file of configKept) say(`kept: ${file}, which exists already`);
      say('start minik8s as before; nodes find the master at its former address, or join again');
    } finally {
      await directory.release();
    }
  },
});

async function existing(file: string): Promise<string> {
  const path = resolve(file);
  const isFile = await stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
  if (!isFile) throw new BackupError(`there is no file ${path}; minik8s backup list shows the backups`);
  return path;
}

export const command = defineCommand({
  meta: { description: 'create, list, verify and restore backups of a cluster' },
  subCommands: { create, list, verify, restore },
});
