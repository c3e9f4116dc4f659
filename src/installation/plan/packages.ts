/** Packages of the supported package managers, by what they contain. */

export const packageManagers = ['apt', 'dnf'] as const;
export type PackageManager = (typeof packageManagers)[number];

/**
 * Programs that a node needs. The Docker engine is detected by its socket, not by a program; it starts no
 * container without apparmor_parser on a kernel with AppArmor enabled.
 */
export const nodePrograms = ['ip', 'mount', 'nft', 'iptables', 'unshare', 'apparmor_parser'] as const;
export type NodeProgram = (typeof nodePrograms)[number];

const packageOf: Readonly<Record<NodeProgram, Readonly<Record<PackageManager, string>>>> = {
  ip: { apt: 'iproute2', dnf: 'iproute' },
  mount: { apt: 'mount', dnf: 'util-linux' },
  nft: { apt: 'nftables', dnf: 'nftables' },
  iptables: { apt: 'iptables', dnf: 'iptables-nft' },
  unshare: { apt: 'util-linux', dnf: 'util-linux' },
  apparmor_parser: { apt: 'apparmor', dnf: 'apparmor-parser' },
};

/** Packages of the Docker engine. Debian's only recommends ca-certificates, which pulling images needs. */
const dockerPackages: Readonly<Record<PackageManager, readonly string[]>> = {
  apt: ['docker.io', 'ca-certificates'],
  dnf: ['moby-engine'],
};

/** Returns the packages that contain the programs, and those of the Docker engine if it is wanted too. */
export function packagesFor(
  manager: PackageManager,
  programs: readonly NodeProgram[],
  withDocker: boolean,
): readonly string[] {
  const names = programs.map((program) => packageOf[program][manager]);
  return [...new Set([...(withDocker ? dockerPackages[manager] : []), ...names])];
}

/** Options with which apt waits for another process, such as the daily upgrade. */
const aptWaits = ['-o', 'DPkg::Lock::Timeout=300'] as const;

/** Program with arguments that the manager needs before and for the installation of packages. */
export const installCommands: Readonly<
  Record<PackageManager, (packages: readonly string[]) => readonly (readonly [string, ...string[]])[]>
> = {
  apt: (packages) => [
    ['apt-get', ...aptWaits, 'update'],
    ['apt-get', ...aptWaits, 'install', '--yes', '--no-remove', '--no-install-recommends', ...packages],
  ],
  dnf: (packages) => [['dnf', 'install', '--assumeyes', ...packages]],
};
