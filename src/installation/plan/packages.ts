/** Packages of the supported package managers, by what they contain. */

export const packageManagers = ['apt', 'dnf'] as const;
export type PackageManager = (typeof packageManagers)[number];

/** Programs that a node runs. The Docker engine is detected by its socket, not by a program. */
export const nodePrograms = ['ip', 'mount', 'nft', 'iptables', 'unshare'] as const;
export type NodeProgram = (typeof nodePrograms)[number];

const packageOf: Readonly<Record<NodeProgram, Readonly<Record<PackageManager, string>>>> = {
  ip: { apt: 'iproute2', dnf: 'iproute' },
  mount: { apt: 'mount', dnf: 'util-linux' },
  nft: { apt: 'nftables', dnf: 'nftables' },
  iptables: { apt: 'iptables', dnf: 'iptables-nft' },
  unshare: { apt: 'util-linux', dnf: 'util-linux' },
};

/**
 * Packages of the Docker engine. Debian's docker.io only recommends apparmor, but the engine starts no
 * container without its parser on a kernel that has AppArmor switched on; and only recommends
 * ca-certificates, without which no image can be pulled.
 */
const dockerPackages: Readonly<Record<PackageManager, readonly string[]>> = {
  apt: ['docker.io', 'apparmor', 'ca-certificates'],
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

/** Program with arguments that the manager needs before and for the installation of packages. */
export const installCommands: Readonly<
  Record<PackageManager, (packages: readonly string[]) => readonly (readonly [string, ...string[]])[]>
> = {
  apt: (packages) => [
    ['apt-get', 'update'],
    ['apt-get', 'install', '--yes', '--no-install-recommends', ...packages],
  ],
  dnf: (packages) => [['dnf', 'install', '--assumeyes', ...packages]],
};
