/**
 * Starts on damaged data. A real start creates one cluster. Each case damages a copy of its data, reads
 * the line with which the start ends, and runs the commands of that line.
 */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { systemExec } from '../../src/os/exec.ts';
import { createAuthority } from '../../src/pki/x509.ts';
import { eventually } from '../fixtures/eventually.ts';
import { executable } from './harness/cluster.ts';
import { endOf } from './harness/end-of.ts';
import { Host } from './harness/host.ts';
import { Role } from './harness/role.ts';

const log = 'etcd/data/member/wal/0000000000000000-0000000000000000.wal';
const database = 'etcd/data/member/snap/db';

/** Writes bytes into a file, and keeps the others. */
async function overwrite(path: string, at: number, bytes: Buffer): Promise<void> {
  await using file = await open(path, 'r+');
  await file.write(bytes, 0, bytes.length, at);
}

interface Damage {
  readonly what: string;
  readonly damage: (directory: string) => Promise<void> | void;
  readonly says: RegExp;
  /** Source of the mended data: the database, the latest backup, or the authority of the backup. */
  readonly mending: 'database' | 'backup' | 'authority';
}

const damages: readonly Damage[] = [
  {
    what: 'a write-ahead log that was cut',
    damage: (directory) => truncateSync(join(directory, log), 30_000),
    says: /the write-ahead log ends at entry \d+, and the database at entry \d+/,
    mending: 'database',
  },
  {
    what: 'an empty write-ahead log',
    damage: (directory) => truncateSync(join(directory, log), 0),
    says: /the file member\/wal\/\S+ of the write-ahead log is empty/,
    mending: 'database',
  },
  {
    what: 'a byte of the write-ahead log that was changed',
    damage: (directory) => overwrite(join(directory, log), 20_000, Buffer.from('\0\xff\0\xff', 'latin1')),
    says: /crc mismatch|the write-ahead log ends at entry/,
    mending: 'database',
  },
  {
    what: 'a write-ahead log of garbage, which ends etcd by an error of its runtime',
    damage: (directory) =>
      writeFileSync(join(directory, log), Buffer.alloc(3000, Buffer.from([0xc3, 0xbf, 0]))),
    says: /runtime error: invalid memory address/,
    mending: 'database',
  },
  {
    what: 'a database of garbage',
    damage: (directory) => writeFileSync(join(directory, database), Buffer.alloc(100_000, 'garbage')),
    says: /\(invalid database\)/,
    mending: 'backup',
  },
  {
    what: 'a database that was cut',
    damage: (directory) => truncateSync(join(directory, database), 100_000),
    // etcd reports a wrong page, or no page.
    says: /Page expected to be|unexpected fault address/,
    mending: 'backup',
  },
  {
    what: 'pages of the database that were zeroed',
    damage: (directory) => overwrite(join(directory, database), 8192, Buffer.alloc(20 * 4096)),
    says: /Page expected to be/,
    mending: 'backup',
  },
  {
    what: 'a missing folder of the member',
    damage: (directory) => rmSync(join(directory, 'etcd/data/member'), { recursive: true }),
    says: /all of them are missing/,
    mending: 'backup',
  },
  {
    what: 'missing data of a master that has run',
    damage: (directory) => rmSync(join(directory, 'etcd'), { recursive: true }),
    says: /there are none, but a master has run here/,
    mending: 'backup',
  },
  {
    what: 'an empty key of the authority',
    damage: (directory) => writeFileSync(join(directory, 'pki/ca.key'), ''),
    says: /ca\.key is not the key of the authority in .*ca\.crt/,
    mending: 'authority',
  },
  {
    what: 'a certificate of the authority that is garbage',
    damage: (directory) => writeFileSync(join(directory, 'pki/ca.crt'), 'garbage'),
    says: /ca\.key is not the key of the authority in .*ca\.crt/,
    mending: 'authority',
  },
  {
    what: 'a missing folder of the authority',
    damage: (directory) => rmSync(join(directory, 'pki'), { recursive: true }),
    says: /\/pki is missing, but a master has run here/,
    mending: 'authority',
  },
];

test('a start on damaged data names the damaged part and the command that repairs it', async (context) => {
  const host = await Host.start(context, { docker: false });
  const at = (name: string) => join(host.directory, name);
  const [base, backups] = [at('base'), at('backups')];
  const flagsOf = (directory: string) => ['--data-dir', directory, '--backup-dir', backups];
  const minik8s = (...args: string[]) => systemExec(...host.command(executable, args), { lengthy: true });
  const ctl = (directory: string, ...args: string[]) =>
    minik8s('ctl', '--kubeconfig', join(directory, 'admin.conf'), ...args);
  const createConfigMap = (directory: string, name: string) => {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
    const args = ['ctl', '--kubeconfig', join(directory, 'admin.conf'), 'apply', '-f', '-'];
    return systemExec(...host.command(executable, args), { input });
  };
  const ready = /minik8s is ready/;

  const first = new Role(host, ['master', ...flagsOf(base)]);
  await first.start(ready);
  await createConfigMap(base, 'in-the-backup');
  // A copy is recognized by the version in the database, which etcd writes some seconds after its start, and
  // which is on the disk once a backup was made. Until then etcd assumes version 3.5, which writes none.
  const socket = join(base, 'etcd/client:0');
  await eventually(systemClock, 'etcd has written its version', async () => {
    const status = ['--silent', '--unix-socket', socket, '--data', '{}', 'http://etcd/v3/maintenance/status'];
    const { stdout } = await systemExec('curl', status);
    return /"storageVersion":"3\.(?!5\.)\d/.test(stdout);
  });
  await minik8s('backup', 'create', '--data-dir', base, '--dir', backups);
  await createConfigMap(base, 'after-it');
  assert.equal(await first.end('SIGTERM'), 0);
  const [backup = ''] = readdirSync(backups);

  const copyOf = async (name: string) => {
    const directory = at(name);
    await systemExec('cp', ['-a', '--sparse=always', base, directory]);
    return directory;
  };
  /** Runs a command of the advice. The directory of the backups is named by a flag in this test. */
  const run = (command: string, ...more: string[]) => minik8s(...command.split(' ').slice(1), ...more);

  for (const [index, { what, damage, says, mending }] of damages.entries())
    await context.test(what, async () => {
      const directory = await copyOf(`case-${index}`);
      await damage(directory);
      const { code, stdout, stderr } = await endOf(
        host.command(executable, ['master', ...flagsOf(directory)]),
      );
      assert.equal(code, 1);
      assert.equal(stdout, '');
      const last = stderr.trimEnd().split('\n').at(-1) ?? '';
      assert.match(last, /^error: /);
      assert.match(last, says);
      assert.doesNotMatch(stderr, /goroutine|^panic|^ +at /m);
      const commands =
        last.match(/minik8s backup (?:create|restore)(?: --[a-z-]+(?: \/[^\s,]+)?)+(?: \/[^\s,]+)?/g) ?? [];
      if (mending === 'database') {
        const [create = '', restore = ''] = commands;
        const own = at(`backups-${index}`);
        const made = (await run(create, '--dir', own)).stdout.split(':')[0] ?? '';
        await run(restore, made);
      } else {
        assert.equal(commands.length, 1, last);
        assert.match(commands[0] ?? '', new RegExp(` ${join(backups, backup)}$`));
        await run(commands[0] ?? '');
      }
      const mended = new Role(host, ['master', ...flagsOf(directory)]);
      await mended.start(ready);
      const names = (await ctl(directory, 'get', 'configmaps', '-o', 'name')).stdout;
      assert.match(names, /^configmap\/in-the-backup$/m);
      assert.equal(/^configmap\/after-it$/m.test(names), mending !== 'backup');
      assert.equal(await mended.end('SIGTERM'), 0);
      rmSync(directory, { recursive: true });
    });

  await context.test(
    'a start repairs a torn last record of the log, as a power failure leaves it',
    async () => {
      const directory = await copyOf('torn');
      await tearLastRecord(join(directory, log));
      const role = new Role(host, ['master', ...flagsOf(directory)]);
      await role.start(ready);
      assert.ok(existsSync(join(directory, `${log}.broken`)), 'etcd has repaired its log');
      assert.match((await ctl(directory, 'get', 'configmap', 'after-it', '-o', 'name')).stdout, /after-it/);
      assert.equal(await role.end('SIGTERM'), 0);
    },
  );

  await context.test('a start replaces a broken lock file and other files', async () => {
    const directory = await copyOf('others');
    for (const name of ['minik8s.pid', 'etcd/format', 'pki/apiserver.key', 'pki/admin.crt', 'admin.conf'])
      writeFileSync(join(directory, name), 'garbage');
    const role = new Role(host, ['master', ...flagsOf(directory)]);
    await role.start(ready);
    assert.match((await ctl(directory, 'get', 'configmap', 'after-it', '-o', 'name')).stdout, /after-it/);
    assert.equal(await role.end('SIGTERM'), 0);
  });

  await context.test(
    'without a backup, the line names the command reset and the data that it loses',
    async () => {
      const directory = await copyOf('none');
      writeFileSync(join(directory, database), '');
      const flags = ['--data-dir', directory, '--backup-dir', at('none-there')];
      const { code, stderr } = await endOf(host.command(executable, ['master', ...flags]));
      assert.equal(code, 1);
      assert.match(
        stderr,
        /^error: [^\n]*the database \S+ is empty\): there is no backup in \S+none-there: [^\n]*minik8s reset --data-dir \S+ removes the cluster with all its objects[^\n]*\n$/,
      );
    },
  );

  await context.test('data of a newer version are rejected', async () => {
    const directory = await copyOf('newer');
    const path = join(directory, database);
    const content = readFileSync(path, 'latin1');
    writeFileSync(path, content.replaceAll('3.7.0', '3.8.0'), 'latin1');
    const { code, stderr } = await endOf(host.command(executable, ['master', ...flagsOf(directory)]));
    assert.equal(code, 1);
    assert.match(stderr, /^error: [^\n]* were written by a newer minik8s [^\n]*: start that version again/m);
    rmSync(directory, { recursive: true });
  });

  await context.test('a start by a user other than the owner fails with the remedy', async () => {
    const other = ['--reuid=65534', '--regid=65534', '--clear-groups', executable];
    const { code, stderr } = await endOf(host.command('setpriv', [...other, 'master', ...flagsOf(base)]));
    assert.equal(code, 1);
    assert.match(stderr, /^error: [^\n]*EACCES[^\n]*; run minik8s as its owner \(sudo\)[^\n]*\n$/);
  });

  for (const [what, days, says] of [
    ['before', [400, 4050], /before the cluster's authority was made \(\d{4}-\S+Z\): .*set it \(timedatectl/],
    ['after', [-4050, -400], /the cluster's authority was valid until \d{4}-\S+Z: .*set the clock/],
  ] as const)
    await context.test(
      `a start reports a clock ${what} the time of the authority, with both times`,
      async () => {
        const directory = await copyOf(`clock-${what}`);
        const [from, to] = days.map((count) => systemClock.now() + count * 24 * 3_600_000);
        const { key, certificate } = await createAuthority('minik8s', from ?? 0, to ?? 0);
        writeFileSync(join(directory, 'pki/ca.key'), key);
        writeFileSync(join(directory, 'pki/ca.crt'), certificate);
        const role = new Role(host, ['master', ...flagsOf(directory)]);
        await role.start(ready);
        const line = role.log.split('\n').find((each) => says.test(each)) ?? assert.fail(role.log);
        assert.match(line, / ERROR the clock of this machine says \d{4}-\S+Z/);
        assert.equal(await role.end('SIGTERM'), 0);
        rmSync(directory, { recursive: true });
      },
    );

  await context.test('a start reports a file in the place of the data of etcd', async () => {
    const directory = await copyOf('no-directory');
    rmSync(join(directory, 'etcd'), { recursive: true });
    writeFileSync(join(directory, 'etcd'), '');
    const { code, stderr } = await endOf(host.command(executable, ['master', ...flagsOf(directory)]));
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^error: the data of etcd in \S+ are damaged \(it is not a directory: remove it \(rm '\S+\/etcd'\)\): [^\n]*minik8s backup restore --replace [^\n]*\n$/,
    );
  });

  await context.test('a start reports a directory in the place of a file, with the remedy', async () => {
    const directory = await copyOf('directories');
    for (const [name, says] of [
      ['minik8s.pid', /remove the directory that is in the place of the lock/],
      ['pki/ca.key', /ca\.key is a directory: remove it/],
      ['admin.conf', /admin\.conf is a directory: move it away/],
      ['etcd/etcd.log', /etcd\.log is not a file: remove it/],
      ['pki/front-proxy/trusted.pem', /trusted\.pem is a directory, in the place of a file: move it away/],
    ] as const) {
      const path = join(directory, name);
      rmSync(path);
      mkdirSync(path);
      const { code, stderr } = await endOf(host.command(executable, ['master', ...flagsOf(directory)]));
      assert.equal(code, 1);
      assert.match(stderr.trimEnd().split('\n').at(-1) ?? '', /^error: [^\n]+$/);
      assert.match(stderr, says);
      rmSync(path, { recursive: true });
      copyFileSync(join(base, name), path);
    }
  });
});

/**
 * Appends the length of a record, without its content: as if only the first of two sectors had reached
 * the disk. Records begin at multiples of 8 bytes, and the rest of the file is preallocated zeros.
 */
async function tearLastRecord(path: string): Promise<void> {
  await using file = await open(path, 'r+');
  const content = await file.readFile();
  const end = content.findLastIndex((byte) => byte !== 0) + 1;
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(1000n);
  await file.write(length, 0, 8, Math.ceil(end / 8) * 8);
}
