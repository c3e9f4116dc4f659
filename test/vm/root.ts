/**
 * The disk from which virtual machines of tests boot: a Debian with systemd and Docker, made once by
 * mmdebstrap, as an image with its kernel and a small initial RAM disk beside it. MINIK8S_VM_SUITE chooses
 * the release: `bookworm` (Debian 12, the default) or `trixie` (Debian 13).
 */
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { systemExec } from '../../src/os/exec.ts';
import { letGo, makeDirectory } from '../e2e/harness/belongings.ts';

export interface MachineRoot {
  /** Image of the root's file system (raw, ext4); machines only read it. */
  readonly image: string;
  readonly kernel: string;
  readonly initrd: string;
}

const suites = ['bookworm', 'trixie'];
const { MINIK8S_VM_SUITE: suite = 'bookworm' } = process.env;

const guest = join(import.meta.dirname, 'guest');
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'minik8s');
/** Size of a machine's disk; a part that was never written takes no room. */
const diskSize = '16G';

const packages = [
  ...['systemd', 'systemd-sysv', 'dbus', 'udev', 'kmod', 'linux-image-cloud-amd64', 'e2fsprogs', 'procps'],
  ...[
    'docker.io',
    'iptables',
    'nftables',
    'iproute2',
    'conntrack',
    'mount',
    'ca-certificates',
    'curl',
    'iputils-ping',
  ],
  // Debian 13 has Docker's command line in a package of its own, which docker.io only recommends.
  ...(suite === 'trixie' ? ['docker-cli'] : []),
  // The parser of AppArmor's profiles, without which the engine starts no container while AppArmor is on.
  'apparmor',
  // An NFS server, which starts only where a test starts it, and the program that mounts its directories.
  'nfs-kernel-server',
];

/** Units that a server without a terminal does not need; each costs up to a second of emulated time. */
const masked = [
  ...[
    'apt-daily.timer',
    'apt-daily-upgrade.timer',
    'dpkg-db-backup.timer',
    'e2scrub_all.timer',
    'fstrim.timer',
  ],
  ...['systemd-tmpfiles-clean.timer', 'e2scrub_reap.service', 'getty.target', 'serial-getty@.service'],
  ...['systemd-logind.service', 'systemd-user-sessions.service', 'systemd-pstore.service'],
  ...['systemd-update-utmp.service', 'systemd-update-utmp-runlevel.service', 'systemd-random-seed.service'],
  ...['systemd-ask-password-console.path', 'systemd-ask-password-wall.path', 'systemd-sysusers.service'],
  // A unit that loads all profiles of the distribution, which are many in Debian 13.
  'apparmor.service',
  ...['modprobe@drm.service', 'modprobe@efi_pstore.service', 'modprobe@dm_mod.service'],
  ...[
    'sys-kernel-debug.mount',
    'sys-kernel-tracing.mount',
    'proc-sys-fs-binfmt_misc.automount',
    'systemd-binfmt.service',
  ],
];

/** Modules that udev would load for the emulated processor. */
const unloaded = ['kvm', 'kvm_amd', 'powernow_k8', 'aesni_intel', 'ghash_clmulni_intel', 'crc32_pclmul'];

/** Modules of the initial RAM disk: systemd finds the disk, the cards and the agent's port. */
const early = ['virtio_pci', 'virtio_blk', 'virtio_net', 'virtio_console'];

/** Returns the root, which is made if this version of it is not in the cache: about a minute. */
export async function machineRoot(): Promise<MachineRoot> {
  if (!suites.includes(suite)) throw new Error(`MINIK8S_VM_SUITE is ${suite}: use ${suites.join(' or ')}`);
  const directory = join(cache, `vm-${suite}-${inputsHash()}`);
  if (!existsSync(directory)) await make(directory);
  return rootIn(directory);
}

const rootIn = (directory: string): MachineRoot => ({
  image: join(directory, 'root.img'),
  kernel: join(directory, 'vmlinuz'),
  initrd: join(directory, 'initrd'),
});

function inputsHash(): string {
  const hash = createHash('sha256');
  for (const file of [import.meta.filename, ...globSync(join(guest, '*')).sort()])
    hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 12);
}

/** Makes it beside its place, so that an interrupted run leaves nothing that looks complete. */
async function make(directory: string): Promise<void> {
  mkdirSync(cache, { recursive: true });
  const draft = makeDirectory('vm-new-', cache);
  const root = join(draft, 'root');
  const { image, kernel, initrd } = rootIn(draft);
  await bootstrap(root);
  configure(root);
  await compileAgent(root);
  copyFileSync(globSync(join(root, 'boot/vmlinuz-*'))[0] ?? '', kernel);
  await makeInitrd(root, initrd);
  rmSync(join(root, 'boot'), { recursive: true });
  mkdirSync(join(root, 'boot'));
  const initialized = 'lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0';
  await systemExec('mke2fs', ['-q', '-t', 'ext4', '-d', root, '-E', initialized, image, diskSize]);
  rmSync(root, { recursive: true });
  if (!existsSync(directory)) renameSync(draft, directory);
  rmSync(draft, { recursive: true, force: true });
  letGo({ kind: 'directory', path: draft });
}

async function bootstrap(root: string): Promise<void> {
  const excluded = ['man', 'doc', 'locale', 'info'].map(
    (name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`,
  );
  await systemExec('setpriv', [
    ...['--pdeathsig', 'TERM', 'nice', '-n', '10', 'mmdebstrap', '--quiet', '--variant=apt'],
    ...[`--include=${packages.join(',')}`, '--aptopt=Apt::Install-Recommends "false"', ...excluded],
    // The initial RAM disk of Debian is not used, and takes long to make.
    '--essential-hook=mkdir -p "$1/etc/initramfs-tools" && echo update_initramfs=no >"$1/etc/initramfs-tools/update-initramfs.conf"',
    '--dpkgopt=force-confold',
    ...[suite, root],
  ]);
}

function configure(root: string): void {
  const write = (path: string, text: string) => writeFileSync(join(root, path), text);
  write('etc/hostname', 'vm\n');
  write('etc/hosts', '127.0.0.1\tlocalhost\n::1\tlocalhost\n');
  // With an ID every start of a new machine is not a first boot, which would enable all units anew.
  write('etc/machine-id', `${'0'.repeat(31)}1\n`);
  write('etc/modprobe.d/vm.conf', unloaded.map((name) => `install ${name} /bin/false\n`).join(''));
  const units = join(root, 'etc/systemd/system');
  const link = (target: string, path: string) => {
    rmSync(path, { force: true });
    symlinkSync(target, path);
  };
  for (const unit of masked) link('/dev/null', join(units, unit));
  for (const wanted of globSync(join(units, '*.wants/{nfs,rpc}*'))) rmSync(wanted);
  mkdirSync(join(root, 'usr/lib/vm'));
  copyFileSync(join(guest, 'network.sh'), join(root, 'usr/lib/vm/network.sh'));
  for (const unit of ['vm-network.service', 'vm-agent.service']) {
    copyFileSync(join(guest, unit), join(units, unit));
    link(`../${unit}`, join(units, 'multi-user.target.wants', unit));
  }
}

async function compileAgent(root: string): Promise<void> {
  const source = join(guest, 'agent.c');
  await systemExec('gcc', ['-static', '-Os', '-s', '-o', join(root, 'usr/lib/vm/agent'), source]);
}

/** Makes an initial RAM disk that loads modules, mounts the disk and starts systemd, with busybox alone. */
async function makeInitrd(root: string, initrd: string): Promise<void> {
  const content = makeDirectory('minik8s-vm-initrd-', tmpdir());
  for (const name of ['bin', 'dev', 'lib', 'root']) mkdirSync(join(content, name));
  copyFileSync('/bin/busybox', join(content, 'bin/busybox'));
  const version = basename(globSync(join(root, 'usr/lib/modules/*'))[0] ?? '');
  const init = join(content, 'init');
  writeFileSync(init, '#!/bin/busybox sh\n');
  const modules = new Set<string>();
  for (const name of early) {
    const { stdout } = await systemExec('chroot', [root, 'modprobe', '-S', version, '--show-depends', name]);
    for (const [, path = ''] of stdout.matchAll(/^insmod (\S+)/gm)) modules.add(path);
  }
  for (const path of modules) {
    // Debian 13 compresses modules, which busybox does not load.
    const name = basename(path, '.xz');
    const command = name === basename(path) ? 'cat "$1" >"$2"' : 'xz -dc "$1" >"$2"';
    await systemExec('sh', ['-c', command, 'sh', join(root, path), join(content, 'lib', name)]);
    appendFileSync(init, `busybox insmod /lib/${name}\n`);
  }
  appendFileSync(init, 'busybox mount -t devtmpfs dev /dev\nbusybox mount -t ext4 -o rw /dev/vda /root\n');
  appendFileSync(init, 'busybox mount --move /dev /root/dev\nexec busybox switch_root /root /sbin/init\n');
  chmodSync(init, 0o755);
  await systemExec('sh', ['-c', 'cd "$1" && find . | busybox cpio -o -H newc >"$2"', 'sh', content, initrd]);
  rmSync(content, { recursive: true });
  letGo({ kind: 'directory', path: content });
}
