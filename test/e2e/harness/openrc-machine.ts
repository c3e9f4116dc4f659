/**
 * A host whose programs run in a Debian 12 with OpenRC instead of systemd: its own root, processes, host name
 * and Docker engine, which OpenRC starts. Changes of the root are lost with the host.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ExecOptions, systemExec } from '../../../src/os/exec.ts';
import { letGo, makeDirectory } from './belongings.ts';
import { end, type Host } from './host.ts';
import { waitFor } from './wait-for.ts';

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'minik8s');
const packages = [
  ...['openrc', 'sysvinit-core', 'procps', 'iproute2', 'nftables', 'iptables', 'mount', 'docker.io'],
  ...['ca-certificates'],
];

/** The engine, under the name of Debian's script, which sets limits that a container does not allow. */
const dockerScript = `#!/sbin/openrc-run
supervisor=supervise-daemon
command=/usr/sbin/dockerd
output_log=/var/log/docker.log
error_log=/var/log/docker.log
stop_post() { rm -f /run/docker.pid; }
`;

/** Returns the root, which is made if this version of it is not in the cache: about a minute. */
async function openrcRoot(): Promise<string> {
  const version = createHash('sha256')
    .update(readFileSync(import.meta.filename))
    .digest('hex')
    .slice(0, 12);
  const root = join(cache, `openrc-${version}`);
  if (existsSync(root)) return root;
  mkdirSync(cache, { recursive: true });
  const draft = makeDirectory('openrc-new-', cache);
  const made = join(draft, 'root');
  const words = ['--quiet', '--variant=apt', `--include=${packages.join(',')}`];
  await systemExec('mmdebstrap', [...words, '--aptopt=Apt::Install-Recommends "false"', 'bookworm', made], {
    lengthy: true,
  });
  writeFileSync(join(made, 'etc/init.d/docker'), dockerScript);
  if (!existsSync(root)) renameSync(made, root);
  rmSync(draft, { recursive: true, force: true });
  letGo({ kind: 'directory', path: draft });
  return root;
}

/** Boots the machine: mounts the root, and starts only the services of its own runlevel. */
const boot = (lower: string, directory: string) => `
  set -e
  hostname openrc
  mount --make-rprivate /
  mkdir -p ${directory}/upper ${directory}/work ${directory}/root ${directory}/docker ${directory}/containerd
  root=${directory}/root
  mount -t overlay overlay -o lowerdir=${lower},upperdir=${directory}/upper,workdir=${directory}/work $root
  mkdir -p $root/var/lib/docker $root/var/lib/containerd
  mount --bind ${directory}/docker $root/var/lib/docker
  mount --bind ${directory}/containerd $root/var/lib/containerd
  mount --bind ${directory} $root/mnt
  mount -t proc proc $root/proc
  mount -t tmpfs tmpfs $root/run
  mount --rbind /sys $root/sys
  mount --rbind /dev $root/dev
  mkdir $root/run/lock
  cd $root
  pivot_root . srv
  umount --lazy /srv
  rm -f /etc/runlevels/*/*
  export PATH=/usr/sbin:/usr/bin:/sbin:/bin
  openrc sysinit >/dev/null
  openrc default >/dev/null
  echo booted
  while :; do sleep 3600; done
`;

export class OpenrcMachine {
  readonly host: Host;
  #first = '';
  #holder: ChildProcess | undefined;

  private constructor(host: Host) {
    this.host = host;
  }

  /** Starts on a host that was created without an engine; the machine ends before the host does. */
  static async start(host: Host): Promise<OpenrcMachine> {
    const machine = new OpenrcMachine(host);
    host.after(() => end(machine.#holder, 'SIGKILL'));
    const spaces = ['--mount', '--pid', '--fork', '--kill-child', '--uts', '--ipc'];
    const script = boot(await openrcRoot(), join(host.directory, 'openrc'));
    const [program, args] = host.command('unshare', [...spaces, 'bash', '-c', script]);
    const holder = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    machine.#holder = holder;
    let output = '';
    holder.stdout.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    await waitFor('OpenRC to start', () => {
      if (holder.exitCode !== null) throw new Error('OpenRC could not be started, see above');
      return output.includes('booted');
    });
    machine.#first = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8').trim();
    return machine;
  }

  /** Directory of this machine that is /mnt there. */
  get shared(): string {
    return join(this.host.directory, 'openrc');
  }

  /** Resolves to the output of a script of bash; rejects if it fails. */
  async run(script: string, options: ExecOptions = {}): Promise<string> {
    const place = ['--target', this.#first, '--mount', '--pid', '--uts', '--ipc', '--net', '--root'];
    const { stdout } = await systemExec(
      'nsenter',
      [...place, 'bash', '-euo', 'pipefail', '-c', `cd /root; ${script}`],
      {
        timeoutMs: 120_000,
        env: { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root' },
        ...options,
      },
    );
    return stdout;
  }
}
