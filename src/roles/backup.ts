/** `minik8s backup`: backups of a cluster whose etcd is the embedded one of this machine. */
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { defineCommand } from 'citty';
import { createBackup } from '../backup/create.ts';
import { readFileName } from '../backup/manifest.ts';
import { readPassphrase } from '../backup/passphrase.ts';
import { restoreBackup } from '../backup/restore.ts';
import { isBucketLocation } from '../backup/s3/location.ts';
import { verifyBackup } from '../backup/verify.ts';
import { stopSignal } from '../base/abort.ts';
import { systemClock } from '../base/clock.ts';
import { errorMessage, silentLogger } from '../base/log.ts';
import { systemRandom } from '../base/random.ts';
import { UsageError } from '../base/usage-error.ts';
import { configFileOf } from '../installation/plan/role.ts';
import { type OwnMember, otherMembersOf, readOwnMember } from '../masters/member-folder.ts';
import { extractAsset } from '../os/assets.ts';
import { systemExec } from '../os/exec.ts';
import { flagHeadings } from '../settings/subjects.ts';
import { decodeObject } from '../storage/codec.ts';
import { formerAddresses } from './backup/former-addresses.ts';
import { runningMember } from './backup/member.ts';
import { openBackup, openStore } from './backup/place.ts';
import { stoppedMember } from './backup/stopped-member.ts';
import { openDataDirectory } from './data-directory.ts';
import { requireOwnData } from './data-owner.ts';
import { etcdBinaryIn } from './master/inside-etcd.ts';
import { requireRoot } from './preflight.ts';
import { bucketSettings } from './settings/backup-settings.ts';
import { backupPlace } from './settings/backup-values.ts';
import { settingTable } from './settings/setting-table.ts';
import { readSettings, settingArgs } from './settings/settings.ts';

const group = { group: flagHeadings.dir };

const directoryFlag = {
  dir: {
    type: 'string',
    valueHint: 'DIRECTORY',
    ...{
      description: 'directory of the backups, or s3://BUCKET/PREFIX',
      usual: settingTable['backup-dir'].default,
      ...group,
    },
  },
} as const;

const passphraseFlag = {
  'passphrase-file': {
    type: 'string',
    valueHint: 'FILE',
    ...{ description: 'file whose first line is the passphrase', usual: 'none', ...group },
  },
} as const;

/** Settings of the master that the commands read from its file; some are flags here too. */
const rows = {
  'data-dir': settingTable['data-dir'],
  'backup-dir': settingTable['backup-dir'],
  'backup-passphrase-file': settingTable['backup-passphrase-file'],
  'node-ip': settingTable['node-ip'],
  'bind-address': settingTable['bind-address'],
  ...bucketSettings,
} as const;
const dataFlags = settingArgs({ 'data-dir': rows['data-dir'], ...bucketSettings }, configFileOf.master);

const say = (text: string) => process.stdout.write(`${text}\n`);

type Args = Readonly<Record<string, unknown>>;

const textIn = (args: Args, name: string): string | undefined =>
  typeof args[name] === 'string' ? args[name] : undefined;

/** Returns the settings, and the path of their configuration file. Other keys of the file are ignored. */
function settingsOf(args: Args) {
  const named = textIn(args, 'config') ?? process.env.MINIK8S_CONFIG;
  const settings = readSettings(rows, {
    command: 'minik8s master',
    flags: args,
    environment: process.env,
    configFile: configFileOf.master,
    translate: (file) => Object.fromEntries(Object.entries(file).filter(([key]) => Object.hasOwn(rows, key))),
  });
  return { settings, configFile: named ?? configFileOf.master };
}

type BackupSettings = ReturnType<typeof settingsOf>['settings'];

/** Returns the options with which the place of the backups is opened. */
const placeOptions = (settings: BackupSettings) => ({
  ...{ settings, environment: process.env, clock: systemClock, random: systemRandom },
});

/** Returns the store that --dir names, or --backup-dir of the master. */
const storeOf = (args: Args, settings: BackupSettings) =>
  openStore(backupPlaceIn(args) ?? settings['backup-dir'], placeOptions(settings));

function backupPlaceIn(args: Args): string | undefined {
  const dir = textIn(args, 'dir');
  if (dir === undefined || !isBucketLocation(dir)) return dir;
  try {
    return backupPlace(dir);
  } catch (error) {
    throw new UsageError(`--dir: ${JSON.stringify(dir)}: ${errorMessage(error)}`);
  }
}

async function passphraseOf(args: Args, settings?: BackupSettings): Promise<string | undefined> {
  const path = textIn(args, 'passphrase-file');
  if (path !== undefined) return readPassphrase(path, '--passphrase-file');
  const own = settings?.['backup-passphrase-file'];
  return own === undefined ? undefined : readPassphrase(own, '--backup-passphrase-file');
}

/** Extracts the embedded etcd, which checks and restores databases. */
async function etcdIn(directory: string): Promise<string> {
  const binary = etcdBinaryIn(directory);
  await extractAsset('etcd.zst', binary, 0o755);
  return binary;
}

const create = defineCommand({
  meta: { description: 'create a backup of the cluster: objects, certificate authority, configuration' },
  ...{
    examples: [
      'backup create # write a backup into the usual directory',
      'backup create --dir s3://backups/minik8s --passphrase-file ./passphrase # write an encrypted one to S3',
    ],
  },
  args: {
    ...dataFlags,
    ...directoryFlag,
    ...passphraseFlag,
    'from-database': {
      type: 'boolean',
      ...{
        description: 'read the database of a master that does not start',
        usual: 'ask its etcd',
        ...group,
      },
    },
  },
  async run({ args }) {
    requireRoot();
    const { settings, configFile } = settingsOf(args);
    const dataDir = settings['data-dir'];
    const passphrase = await passphraseOf(args, settings);
    const store = await storeOf(args, settings);
    const member = await (args['from-database'] === true ? stoppedMember : runningMember)(dataDir);
    try {
      const { path, size, manifest } = await createBackup({
        dataDir,
        configFile,
        store,
        passphrase,
        member,
        etcdBinary: await etcdIn(dataDir),
        exec: systemExec,
        now: systemClock.now(),
        random: systemRandom,
        signal: stopSignal(),
      });
      say(`${path}: ${manifest.keys} keys at revision ${manifest.revision}, ${sizeText(size)}`);
      if (passphrase === undefined)
        process.stderr.write(
          'Warning: the backup holds the keys of the cluster and is not encrypted: protect it as well as the keys, or give --passphrase-file\n',
        );
    } finally {
      member.close();
    }
  },
});

const sizeText = (bytes: number) =>
  bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

const list = defineCommand({
  meta: { description: 'list the backups of a directory or bucket' },
  ...{ examples: ['backup list # list the backups with their sizes'] },
  args: { ...dataFlags, ...directoryFlag },
  async run({ args }) {
    const store = await storeOf(args, settingsOf(args).settings);
    const found = await store.list(stopSignal());
    const backups = found
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap(({ name, size }) => {
        const about = readFileName(name);
        return about ? [{ path: store.pathOf(name), size, ...about }] : [];
      });
    if (backups.length === 0) {
      process.stderr.write(`no backups in ${store.path}\n`);
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
    for (const { path, size, created, isEncrypted } of backups)
      row([created, sizeText(size), isEncrypted ? 'yes' : 'no', path]);
  },
});

const fileWord = {
  file: { type: 'positional', required: true, description: 'file of the backup, or s3://BUCKET/KEY' },
} as const;

const verify = defineCommand({
  meta: { description: 'verify a backup: restore it into an etcd of its own, and read every object' },
  ...{
    examples: ['backup verify /var/backups/minik8s/FILE # check that a backup can be restored'],
    forms: ['FILE'],
  },
  args: { ...fileWord, ...dataFlags, ...passphraseFlag },
  async run({ args }) {
    const { settings } = settingsOf(args);
    const signal = stopSignal();
    const { source, directory } = await openBackup(oneWord(args), placeOptions(settings), signal);
    const { manifest, keys, bytes } = await verifyBackup({
      source,
      workIn: directory ?? settings['data-dir'],
      otherwiseIn: settings['data-dir'],
      passphrase: await passphraseOf(args),
      etcdBinary: await etcdIn(settings['data-dir']),
      exec: systemExec,
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
      check: (key, value) => {
        if (key.startsWith('/registry/')) decodeObject(value);
      },
      signal,
    });
    say(
      `${source.path} is whole: ${keys} keys (${sizeText(bytes)}) at revision ${manifest.revision}, ` +
        `made at ${manifest.created} on ${manifest.host} by minik8s ${manifest.minik8s}`,
    );
  },
});

const restore = defineCommand({
  meta: { description: 'restore a backup into the data directory of this machine; minik8s must not run' },
  ...{
    examples: ['backup restore /var/backups/minik8s/FILE --replace # replace the cluster of this machine'],
    forms: ['FILE'],
  },
  args: {
    ...fileWord,
    ...dataFlags,
    ...passphraseFlag,
    replace: {
      type: 'boolean',
      ...{ description: 'move an existing cluster aside', usual: 'refuse', ...group },
    },
    'only-pki': {
      type: 'boolean',
      ...{ description: 'restore the certificate authority and its keys alone', usual: 'all', ...group },
    },
  },
  async run({ args }) {
    requireRoot();
    const { settings } = settingsOf(args);
    const signal = stopSignal();
    const { source } = await openBackup(oneWord(args), placeOptions(settings), signal);
    const dataDir = settings['data-dir'];
    const directory = await openDataDirectory(dataDir);
    try {
      requireOwnData(dataDir, 'master');
      const member = await readOwnMember(join(dataDir, 'etcd'));
      const { manifest, movedTo, configWritten, configKept } = await restoreBackup({
        source,
        passphrase: await passphraseOf(args),
        dataDir,
        configDirectory: '/etc/minik8s',
        replaces: args.replace === true,
        onlyPki: args['only-pki'] === true,
        etcdBinary: await etcdIn(dataDir),
        exec: systemExec,
        now: systemClock.now(),
        signal,
      });
      const what = args['only-pki'] === true ? 'the authority with its keys' : `${manifest.keys} keys`;
      say(`restored into ${dataDir}: ${what}, as they were at ${manifest.created}`);
      for (const moved of movedTo) say(`moved aside: ${moved}`);
      for (const file of configWritten) say(`written: ${file}`);
      for (const file of configKept) say(`kept: ${file}, which exists already`);
      warnOfOtherPlace(args, dataDir);
      if (args['only-pki'] !== true) warnOfFormerAddresses(args);
      warnOfOthers(member);
      say('start minik8s as before; nodes must join again if the address of the master has changed');
    } finally {
      await directory.release();
    }
  },
});

/**
 * Warns if this machine was one of several masters: the other masters would continue with the former cluster.
 */
function warnOfOthers(member: OwnMember | undefined): void {
  const others = member ? otherMembersOf(member).map(({ name }) => name) : [];
  if (others.length > 0)
    process.stderr.write(
      `Warning: the restored cluster has one master: stop ${others.join(', ')}, and let them join again with the line of minik8s token create --master\n`,
    );
}

/** Warns if the configuration, which may have just been restored, names another data directory. */
function warnOfOtherPlace(args: Args, dataDir: string): void {
  const configured = settingsOf({ ...args, 'data-dir': undefined }).settings['data-dir'];
  if (configured !== dataDir)
    process.stderr.write(
      `Warning: the configuration names the data directory ${configured}, but the backup is in ${dataDir}: start minik8s with --data-dir ${dataDir}, or correct data-dir in the file\n`,
    );
}

/** Warns if the configuration, which may have just been restored, has addresses of the lost machine. */
function warnOfFormerAddresses(args: Args): void {
  const { settings, configFile } = settingsOf(args);
  const own = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);
  for (const line of formerAddresses(settings, own, configFile)) process.stderr.write(`Warning: ${line}\n`);
}

/** Returns the backup that the command line names. Throws UsageError if it names several. */
function oneWord({ file, _ }: { readonly file: string; readonly _: readonly string[] }): string {
  if (_.length > 1)
    throw new UsageError(`give one backup, not ${_.length}; minik8s backup list shows them, the newest last`);
  return file;
}

export const command = defineCommand({
  meta: { description: 'create, list, verify and restore backups of a cluster' },
  ...{
    examples: ['backup create # write a backup into the usual directory', 'backup list # list the backups'],
  },
  subCommands: { create, list, verify, restore },
});
